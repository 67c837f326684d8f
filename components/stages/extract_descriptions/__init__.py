"""extract_descriptions: cut the description of the image out of a post's caption; drop posts without one.

Source: PCV §4.3.1: the text after the hashtag, up to an end mark, without emoticons, hashtags, links and mentions, with corrected
punctuation. ``docs/posts-to-descriptions.md`` lists the differences from the published rules and every reason for a drop.
Not in scope: duplicates (``dedup``), offensive words (``posts_report`` counts them), lower case and stop words (features).
"""

from __future__ import annotations

from pathlib import Path

from components.core.errors import HearsightError
from components.core.params import Settings, did_you_mean

RULE_SETTINGS = {
    "too_long": ("max_characters",),
    "too_short": ("min_words",),
    "no_description": ("min_describing",),
    "not_portuguese": ("language", "min_language"),
}
"""Rule of the ledger → the settings of ``Params`` that set its threshold; the other rules have none."""

LISTS = Path(__file__).parent / "data"


class Params(Settings):
    """Settings of extract_descriptions."""

    language: str = "pt"
    """ISO 639-1: selects ``data/descriptions.<language>.yaml``; descriptions must be in this language. PCV §4: Portuguese."""
    min_words: int = 3
    """Descriptions must have more words than this. PCV's code: 3."""
    min_language: float = 0.05
    """Probability of the language below which a piece of text may be foreign. Ours."""
    min_describing: float = 0.5
    """Least probability that a caption has segments that describe an image. Ours; PCV's code refuses no text: 0."""
    max_characters: int = 10_000
    """Characters a caption may have at most. Ours: Instagram's have 2,200, those of most Mastodon servers 500."""

    def check(self, where: str) -> None:
        """Require a language that there are lists for."""
        known = sorted(file.name.split(".")[1] for file in LISTS.glob("descriptions.*.yaml"))
        if self.language not in known:
            what = f"no lists for language '{self.language}'"
            raise HearsightError(what, where=f"{where}.language", hint=did_you_mean(self.language, known))
