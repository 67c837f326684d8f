"""The values and tables of the datasheet of a release of posts (Gebru et al. 2021); the text is ``data/datasheet.yaml``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from components.core.params import dotted
from components.tools.release.facts import describe_source
from components.tools.release.post_facts import WINDOW, PostFacts, loss_table, statistics_tsv
from components.tools.release.questions import DATASHEET, Answer, Table, share

WORDS: Mapping[str, list[list[str]]] = DATASHEET.words
"""The words of PCV tables 3 (``offensive``) and 4 (``body``), with their forms."""


@dataclass(frozen=True)
class SheetData:
    """The data that answers are made from."""

    dataset: str
    facts: PostFacts
    settings: Mapping[str, Mapping[str, Any]]
    publisher: Mapping[str, str]
    """Field → answer; see :data:`questions.Publisher`."""
    mask_mentions: bool
    software: str


def answer_questions(data: SheetData) -> dict[str, Answer]:
    """Return every question's answer, in order."""
    return DATASHEET.answers(_values(data), data.publisher, {number: table(data) for number, table in TABLES.items()})


def _values(data: SheetData) -> dict[str, Any]:
    """Return the values that the sheet's text names."""
    facts, crawl = data.facts, data.settings["crawl"]
    return {
        "facts": facts,
        "whole": facts.whole,
        "described": facts.loss("extract_descriptions"),
        "duplicates": facts.loss("dedup"),
        "share": share,
        "source": describe_source(crawl),
        "from_table": crawl["source"]["kind"] == "table",
        "split": data.settings["split"],
        "languages": sorted(facts.languages.items(), key=lambda item: (-item[1], item[0])),
        "mask_mentions": data.mask_mentions,
        "offensive": sum(number for _, number, _ in _count_words(facts.words, "offensive")),
        "window": WINDOW,
        "software": data.software,
    }


def _settings(data: SheetData) -> Table:
    after_crawl = {stage: values for stage, values in data.settings.items() if stage != "crawl"}
    rows = [[stage, name, str(value)] for stage, values in after_crawl.items() for name, value in sorted(dotted(values))]
    return [["stage", "setting", "value"], *rows]


def _word_counts(kind: str, data: SheetData) -> Table:
    rows = [[words, f"{number:,}", f"{rank:,}" if rank else ""] for words, number, rank in _count_words(data.facts.words, kind)]
    return [["words", "occurrences", "rank of the most frequent"], *rows]


def _count_words(words: Counter[str], kind: str) -> list[tuple[str, int, int]]:
    """Return (forms, occurrences, rank of the most frequent form from 1, or 0 without occurrence), most frequent first.

    Words are counted by form alone: some ("viado", "puta") also have inoffensive uses.
    """
    ranks = {word: rank for rank, word in enumerate(sorted(words, key=lambda word: (-words[word], word)), 1)}
    counts = [(", ".join(forms), sum(words[form] for form in forms), forms) for forms in WORDS[kind]]
    counts.sort(key=lambda item: (-item[1], item[0]))
    return [(name, count, min((ranks[form] for form in forms if form in ranks), default=0)) for name, count, forms in counts]


TABLES: dict[str, Callable[[SheetData], Table]] = {
    "6.2.2": lambda data: [line.split("\t") for line in statistics_tsv(data.facts, data.dataset).splitlines()],
    "6.2.8": partial(_word_counts, "offensive"),
    "6.3.2": lambda data: loss_table(data.facts.losses),
    "6.4.1": _settings,
    "6.5.4": partial(_word_counts, "body"),
}
"""Question → the table below its answer."""
