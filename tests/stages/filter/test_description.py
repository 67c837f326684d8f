"""The rule ``description`` drops what scores below its threshold, and nothing where it is off or a language has no weights."""

from __future__ import annotations

import pytest

from components.stages.filter import Params
from components.stages.filter.cascade import RULES
from components.stages.filter.rules import Subject
from components.web.html.context import Context
from tests.support.filter.subjects import PAPER, passes, subject

DESCRIPTION = "A man in a red coat is standing on the beach with his dog."
OTHERS = [
    "Click here to read more about our services",
    "Best Hotels in Europe for Families and Business Travellers",
    "Follow us on Facebook and share this page",
    "10 Reasons Why You Should Visit Our Store Today!",
]


def score(what: Subject, params: Params = PAPER) -> float:
    """The score that the rule finds."""
    return float(RULES["description"].test(what, params).value)


@pytest.mark.parametrize("text", [DESCRIPTION, *OTHERS])
def test_a_text_stays_exactly_where_its_score_reaches_the_threshold(text: str) -> None:
    what = subject(text, parsed=True)
    found = score(what)
    assert 0 < found <= 1
    assert passes("description", what, min_description=found)
    assert not passes("description", what, min_description=found + 0.0001)


@pytest.mark.parametrize("text", OTHERS)
def test_without_a_threshold_or_in_a_language_without_weights_every_text_stays(text: str) -> None:
    what = subject(text, parsed=True)
    assert not passes("description", what, min_description=0.99)
    assert passes("description", what, min_description=0.0)
    assert passes("description", what, min_description=0.99, language="pt")


@pytest.mark.parametrize("text", OTHERS)
@pytest.mark.parametrize("context", [None, Context()])
def test_a_description_scores_above_a_headline_and_a_button_with_and_without_a_page(text: str, context: Context | None) -> None:
    assert score(subject(DESCRIPTION, parsed=True, context=context)) > score(subject(text, parsed=True, context=context))


def test_a_text_that_its_page_repeats_scores_below_the_same_text_alone() -> None:
    alone = score(subject(DESCRIPTION, parsed=True, context=Context()))
    assert score(subject(DESCRIPTION, parsed=True, context=Context(heading=DESCRIPTION, heading_kind="h1"))) < alone
    assert score(subject(DESCRIPTION, parsed=True, context=Context(link_text=DESCRIPTION))) < alone
