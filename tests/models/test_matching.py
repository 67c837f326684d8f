"""Identities are the transitive closure of shared values, and the mask is eq. 2's."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from components.models.matching import match_identities, positives_mask

VALUES = st.one_of(st.none(), st.integers(0, 6), st.sampled_from(["a", "b", "ö", ""]))
TABLES = st.integers(1, 3).flatmap(lambda width: st.lists(st.tuples(*[VALUES] * width), max_size=14))


def closure(rows: list[tuple[object, ...]]) -> list[list[bool]]:
    """By hand: rows that share a value match, and then whatever matches over another row, until nothing changes."""
    size = len(rows)
    result = [
        [i == j or any(a is not None and a == b for a, b in zip(rows[i], rows[j], strict=True)) for j in range(size)]
        for i in range(size)
    ]
    for middle in range(size):
        for i in range(size):
            for j in range(size):
                result[i][j] |= result[i][middle] and result[middle][j]
    return result


@given(TABLES)
def test_rows_match_exactly_when_a_chain_of_shared_values_joins_them(rows: list[tuple[object, ...]]) -> None:
    columns = [list(column) for column in zip(*rows, strict=True)] or [[]]
    result = match_identities(*columns)
    wanted = closure(rows)
    assert (~positives_mask(result, result)).tolist() == wanted
    assert result.tolist() == [row.index(True) for row in wanted], "the number of the first row of each"


def test_shared_texts_and_shared_images_form_one_component() -> None:
    images, texts, groups = ["p", "p", "q", "r", "s"], ["one", "two", "two", "three", "four"], torch.tensor([0, 1, 2, 3, 3])
    assert match_identities(images, texts).tolist() == [0, 0, 0, 3, 4]
    assert match_identities(images, texts, groups).tolist() == [0, 0, 0, 3, 3]
    assert match_identities(groups).tolist() == [0, 1, 2, 3, 3] and match_identities([]).tolist() == []


def test_the_mask_is_symmetric_with_an_empty_diagonal_and_may_be_a_rectangle() -> None:
    group = torch.tensor([3, 1, 3, 2])
    mask = positives_mask(group, group)
    assert torch.equal(mask, mask.T) and not mask.diagonal().any()
    assert torch.equal(positives_mask(group[:2], group), mask[:2])


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ((), "at least one column"),
        ((["a"], ["a", "b"]), "columns of 1, 2 rows"),
        ((torch.zeros(2),), "one-dimensional and integer"),
        ((torch.zeros(2, 2, dtype=torch.long),), "one-dimensional and integer"),
    ],
)
def test_invalid_columns_are_refused(columns: tuple[object, ...], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        match_identities(*columns)  # type: ignore[arg-type]
