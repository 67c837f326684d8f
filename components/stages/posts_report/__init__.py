"""Analyse a set of described posts: losses, growth, clusters, topics, words, and words that co-occur with groups of people.

Sources: PCV §4.3 (figure 6), §5.1 to §5.3 (figures 8 to 18), §6.2.8 (table 3), §6.5.4 (figures 20 and 21, table 4). All counts
come from the ledgers and records of earlier stages. Each figure is also a table and a text.
Not in scope: scores of models (``report``), the datasheet (``release``).
"""

from __future__ import annotations

from importlib.util import find_spec
from pathlib import Path

from components.core.errors import HearsightError
from components.core.params import Settings

PAGE = "analysis.html"


class Params(Settings):
    """Settings of posts_report."""

    language: str = "pt"
    """ISO 639-1 code of the descriptions: whose stop words, lists of offensive words and of groups are taken. PCV: Portuguese."""
    seed: int = 1
    """Seed of the sheets' samples, the topics and the word clouds. Ours."""
    sheets: int = 8
    """Contact sheets, of the largest clusters; one of the outliers comes with them. Ours."""
    sheet: int = 24
    """Images on a contact sheet. Ours."""
    topics: int = 6
    """Topics of the descriptions. PCV figure 16: 6."""
    topic_words: int = 40
    """Words of a topic that the page lists. Ours."""
    min_documents: int = 3
    """Descriptions that a word of a topic is in, at least. Ours."""
    min_together: int = 3
    """Minimum descriptions with both a group and a word for the pair to be reported. Ours."""
    min_group: int = 5
    """Minimum descriptions that name a group for it to be reported. Ours."""
    bias_words: int = 12
    """Words told for a group. Ours."""

    def check(self, where: str) -> None:
        """Require a language that spaCy has stop words of, without loading spaCy."""
        spacy = find_spec("spacy")
        assert spacy is not None and spacy.origin is not None
        if not (Path(spacy.origin).parent / "lang" / self.language / "stop_words.py").is_file():
            what = f"spaCy has no stop words for '{self.language}'"
            raise HearsightError(what, where=f"{where}.language", hint="give an ISO 639-1 code, e.g. pt")
