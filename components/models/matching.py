"""Which pairs match (CSC, eq. 2): identities such that two inputs match when theirs are equal.

The paper's equivalence is transitive: if two utterances show the same picture and one of them has the same text as a third, all
three match, whatever lies between. So the classes are the connected components of the whole data set, found once, and a batch
needs no more than one integer an item. What makes two rows alike (the picture, the caption's text, a near-duplicate group) is
the caller's choice of columns. Not in scope: deciding what is a near duplicate (``components/stages/dedup``).
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence

import torch
from torch import Tensor


def match_identities(*columns: Sequence[Hashable] | Tensor) -> Tensor:
    """The component of each row, where rows that share a value in any column are connected.

    A round costs a few passes over the rows and halves the depth of the trees that are left, or better: about log N rounds.

    Args:
        columns: one or more of N values each: a one-dimensional tensor of integers, or any values that compare equal when
            they are. None connects a row to nothing.

    Returns:
        N integers (int64): the number of the component's first row, so that equal numbers match and the order is settled.

    Raises:
        ValueError: no column, columns of several lengths, or a tensor that is no row of integers.
    """
    if not columns:
        raise ValueError("identities need at least one column of what makes two rows match")
    lengths = [len(column) for column in columns]
    if len(set(lengths)) > 1:
        raise ValueError(f"columns of {', '.join(map(str, lengths))} rows; identities need as many in each")
    shared = [codes for codes in map(_codes, columns) if codes[1]]
    parent = torch.arange(lengths[0], device=shared[0][0].device if shared else None)
    # Trees whose parents never have larger numbers (Shiloach and Vishkin's components, as FastSV runs them): each round hooks
    # the parent of every row below the least grandparent seen through a column, hooks the row itself, and halves the paths.
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
    """M of eq. 2 as a boolean N × M: True where x_i and y_j do **not** match.

    Args:
        first, second: N and M identities; a batch's own are the same tensor twice, a device's share and the whole a rectangle.
    """
    return first[:, None] != second[None, :]


def _codes(column: Sequence[Hashable] | Tensor) -> tuple[Tensor, int]:
    """A column as numbers 0 … count - 1 of its values; count is 0 where no value stands twice, which connects nothing."""
    if isinstance(column, Tensor):
        if column.dim() != 1 or column.is_floating_point() or column.is_complex():
            raise ValueError(f"a column of {column.dtype} and shape {tuple(column.shape)}; identities read one row of integers")
        values, codes = torch.unique(column, return_inverse=True)
        count = len(values)
    else:
        known: dict[Hashable, int] = {}
        # A number of its own for each None: they take the place of values that no other row has.
        numbers = [known.setdefault(object() if value is None else value, len(known)) for value in column]
        codes, count = torch.tensor(numbers, dtype=torch.long), len(known)
    return codes, count if count < len(codes) else 0
