"""Captions as they are written and as they are said, by language and class: ``<language>.txt``, ``_heldout``, ``_second`` and
``_written``.

The held-out ones were written after the rules, before they were run.
"""

from __future__ import annotations

import pytest

from components.speech.text_normalization import NormalisedText, languages, normalise_for_speech
from tests.support.speech.normalization_cases import CASES


@pytest.mark.long
@pytest.mark.parametrize(
    ("language", "written", "expected"), [pytest.param(c[0], c[2], c[3], id=f"{c[0]}-{c[1]}-{n}") for n, c in enumerate(CASES)]
)
def test_a_caption_is_spoken_with_numbers_and_abbreviations_as_words(language: str, written: str, expected: str) -> None:
    result = normalise_for_speech(written, language, max_characters=1000)
    assert (result.text if isinstance(result, NormalisedText) else f"!{result.rule}") == expected


@pytest.mark.parametrize("language", languages())
def test_each_language_has_its_cases(language: str) -> None:
    assert sum(case[0] == language for case in CASES) >= 100


def test_changed_texts_have_steps_and_unchanged_ones_none() -> None:
    for language, _, written, results in CASES:
        result = normalise_for_speech(written, language, max_characters=1000)
        if isinstance(result, NormalisedText):
            assert bool(result.steps) == (written != results), written
