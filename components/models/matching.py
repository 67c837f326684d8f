"""Matching pairs (CSC, eq. 2): integers per row that are equal when two inputs match.

The paper's equivalence is transitive: if two utterances show the same image and one of them has the same text as a third, all
three match. So the classes are the connected components of the whole data set, computed once, and a batch needs one integer an
item. The caller chooses the columns (the image, the caption's text, a near-duplicate group). Detecting near duplicates is not
in scope (``components/stages/dedup``).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import torch
from torch import Tensor


def match_identities(*columns: Sequence[Hashable] | Tensor) -> Tensor:
    """Return the component of each row, where rows with an equal value in any column are connected.

    A round takes a few passes over the rows and at least halves the depth of the remaining trees: about log N rounds.

    Args:
        columns: one or more of N values each: a one-dimensional integer tensor, or any hashable values. None connects a row to
            nothing.

    Returns:
        N integers (int64): the index of the component's first row, so that the numbering is deterministic.

    Raises:
        ValueError: there is no column, lengths differ, or a tensor is not one-dimensional and integer.
    """
    if not columns:
        raise ValueError("identities need at least one column to match by")
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        raise ValueError(f"columns of {', '.join(map(str, lengths))} rows; all must have the same length")
    shared = [codes for codes in map(_codes, columns) if codes[1]]
    parent = torch.arange(lengths[0], device=shared[0][0].device if shared else None)
    # Connected components by Shiloach and Vishkin in the variant FastSV: parents never have larger indices; each round links
    # a row and its parent to the least grandparent among rows with an equal value, and halves the paths.
    while True:
        grand = parent[parent]
        hooked = torch.minimum(parent, grand)
        for codes, count in shared:
            least = grand.new_full((count,), len(parent)).scatter_reduce_(0, codes, grand, "amin")[codes]
            hooked.scatter_reduce_(0, parent, least, "amin")
            hooked = torch.minimum(hooked, least)
        if torch.equal(hooked, parent):
            return parent
        parent = hooked


def positives_mask(first: Tensor, second: Tensor) -> Tensor:
    """Return M of eq. 2 as a boolean N × M: True where x_i and y_j do **not** match.

    Args:
        first, second: N and M identities; for one batch the same tensor twice.
    """
    return first[:, None] != second[None, :]


def _codes(column: Sequence[Hashable] | Tensor) -> tuple[Tensor, int]:
    """Return a column as codes 0 … count - 1 of its values; count is 0 if no value repeats, so that nothing is connected."""
    if isinstance(column, Tensor):
        if column.dim() != 1 or column.is_floating_point() or column.is_complex():
            raise ValueError(
                f"a column of {column.dtype} and shape {tuple(column.shape)}; it must be one-dimensional and integer"
            )
        values, codes = torch.unique(column, return_inverse=True)
        count = len(values)
    else:
        code_of: dict[Hashable, int] = {}
        # Each None has a code of its own, like a value that no other row has.
        row_codes = [code_of.setdefault(object() if value is None else value, len(code_of)) for value in column]
        codes, count = torch.tensor(row_codes, dtype=torch.long), len(code_of)
    return codes, count if count < len(codes) else 0
