"""Labels before a sentence, names in brackets and a politician's party are removed, and the rest stays a whole sentence."""

from __future__ import annotations

import pytest

from tests.stages.hypernymize.rewriting import rewritten


@pytest.mark.parametrize(
    ("alt", "caption"),
    [
        ("SYDNEY, Australia - People walk on the beach", "people walk on the beach"),
        ("OSLO: Boats lie in the harbour", "boats lie in the harbour"),
        ("Gala 2014 | Singers stand on the stage", "singers stand on the stage"),
        ("The fund (WFX) gives money to schools", "the fund gives money to schools"),
        ("Ann Lee (7) and Bob Ray (9) run on the beach", "people run on the beach"),
        ("A senator, R-Ohio, speaks to voters", "a senator speaks to voters"),
        ("Mary Miller, R-Ky., and a dog", "person and a dog"),
        ("From left; Ann Lee walks a dog", "person walks a dog"),  # which of several people
        ("Left to right: Ann Lee and Bob Ray walk a dog", "people walk a dog"),
    ],
)
def test_names_beside_a_sentence_go_without_a_hypernym(alt: str, caption: str) -> None:
    result = rewritten(alt)
    assert (result.caption, result.shortcoming) == (caption, None)


@pytest.mark.parametrize("alt", ["A note: The dog sleeps on a chair", "A dog (with a red ball) on a beach", "A half-open door"])
def test_a_label_or_bracket_of_common_words_stays(alt: str) -> None:
    assert rewritten(alt).caption == alt.lower()
