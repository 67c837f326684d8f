"""Polarity of English texts."""

from __future__ import annotations

from components.language.polarity import EnglishPolarity


def test_names_have_no_polarity() -> None:
    polarity = EnglishPolarity().compute
    assert polarity("A man in Happy Valley") == polarity("A man in Green Valley") == 0
    assert polarity("A happy man") > 0 and polarity("Happy people") > 0 and polarity("A HAPPY man") > polarity("A happy man")
    assert polarity("A house. Happy people") > 0
