"""Descriptions agree with the gold cases, letter by letter, as often as docs/quality.md says."""

from __future__ import annotations

import pytest

from components.tools.trial import PostTrial
from tests.gold.posts.judging import FILES, cases, judge
from tests.support import PROJECT

LEAST = 0.98
LEAST_TAUGHT = 0.9
"""Of cases written for training, with many forms of appeals."""


@pytest.mark.long
@pytest.mark.parametrize("name", FILES)
def test_extracted_descriptions_equal_the_gold_ones(name: str) -> None:
    judged = judge(PostTrial(PROJECT, "portuguese"), name)
    wrong = [(each.case["caption"], each.case["description"], each.result["description"]) for each in judged if not each.exact]
    assert len(wrong) <= (1 - (LEAST_TAUGHT if name == "taught" else LEAST)) * len(judged), wrong


@pytest.mark.parametrize("name", FILES)
def test_the_cases_are_well_formed_and_unique(name: str) -> None:
    result = cases(name)
    assert len({case["caption"] for case in result}) == len(result)
    assert all(isinstance(case["caption"], str) and isinstance(case["description"], str | None) for case in result)


def test_there_are_enough_cases_of_both_kinds() -> None:
    result = cases("seen")
    assert len(result) >= 200 and sum(case["description"] is None for case in result) >= 20
