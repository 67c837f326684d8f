"""Dates by their form: the spans found, and no others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.stages.hypernymize.dates import find_dates


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("on September 5 , 2003 in town", ["September 5 , 2003"]),
        ("on the 5th of May 2014", ["5th of May 2014"]),
        ("on Friday , March 9", ["Friday , March 9"]),
        ("on Sept. 5", ["Sept. 5"]),
        ("on Sat . April 23", ["Sat . April 23"]),
        ("a dog in the sun . He sat", []),
        ("5 May 1990 and 1960s", ["5 May 1990", "1960s"]),
        ("at 5:30pm or 9 am", ["5:30pm", "9 am"]),
        ("on 12/05/2014 and 2014-05-12", ["12/05/2014", "2014-05-12"]),
        ("in April 1961 , in 1977", ["April 1961", "1977"]),
        ("summer 2019 , last week , yesterday", ["summer 2019", "last week", "yesterday"]),
        ("she may go for a march with 5 dogs", []),
        ("in May a boat", []),
        ("5 km with 12 plates at 80 degrees", []),
        ("a summer dress in the sun", []),
    ],
)
def test_dates_are_recognised_by_their_form(text: str, expected: list[str]) -> None:
    words = text.split()
    assert [" ".join(words[start:end]) for start, end in find_dates(words)] == expected


WORDS = """
    May 5 5th of , 2014 on Friday March the 1960s am last week 12:30 a
"""


@given(st.lists(st.sampled_from(WORDS.split()) | st.text(max_size=6)))
def test_spans_never_overlap_and_lie_inside(words: list[str]) -> None:
    last = 0
    for start, end in find_dates(words):
        assert last <= start < end <= len(words)
        last = end
