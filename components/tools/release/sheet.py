"""The values and tables of the datasheet of a release of posts (Gebru et al. 2021); the text is ``data/datasheet.yaml``."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from components.core.params import dotted
from components.tools.release.facts import describe_source
from components.tools.release.post_facts import WINDOW, PostFacts, loss_table
from components.tools.release.questions import DATASHEET, Answer, Table, share
from components.tools.release.records import SPLITS

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
    facts, whole, parts = data.facts, data.facts.whole, data.facts.parts
    crawl, split = data.settings["crawl"], data.settings["split"]
    described, duplicates = facts.loss("extract_descriptions"), facts.loss("dedup")
    languages = sorted(facts.languages.items(), key=lambda item: (-item[1], item[0]))
    shares = {
        "malformed": (sum(described.dropped.values()), described.entered),
        "duplicates": (sum(duplicates.dropped.values()), duplicates.entered),
        "late": (facts.late, facts.dated),
        "mentions": (facts.mentions, whole.posts),
        "addresses": (facts.addresses, whole.posts),
        "mails": (facts.mails, whole.posts),
        "ten": (sum(number for _, number in whole.users.most_common(10)), whole.posts),
    }
    return {
        "facts": facts,
        "whole": whole,
        "described": described,
        "duplicates": duplicates,
        "share": {name: share(part, of) for name, (part, of) in shares.items()},
        "source": describe_source(crawl),
        "owners": len(whole.users),
        "unowned": f"; {facts.without_owner:,} instances name no owner" if facts.without_owner else "",
        "formats": ", ".join(f"{number:,} {kind}" for kind, number in sorted(facts.formats.items())),
        "by_owner": _by_owner(split) if split.get("by") == "owner" else "",
        "sizes": "; ".join(
            f"{name}: {part.posts:,} posts ({share(part.posts, whole.posts)}) of {len(part.users):,} owners"
            for name, part in ((name, parts[""][name]) for name in SPLITS)
        ),
        "subsets": "\n".join(
            f"Subset {name}, in `subsets/{name}/`: {'/'.join(f'{subset[split].posts:,}' for split in SPLITS)}."
            for name, subset in parts.items()
            if name
        ),
        "languages": ", ".join(f"{name} {number:,}" for name, number in languages),
        "confidential": (
            "The posts came from existing tables: whatever their makers collected. Nothing was asked of private accounts."
            if crawl["source"]["kind"] == "table"
            else "Only posts that were public when they were collected; private accounts were never asked for."
        ),
        "others": (
            "all other mentions were masked as well"
            if data.mask_mentions
            else "mentions of accounts that are not in the set stand as their authors wrote them"
        ),
        "offensive": sum(number for _, number, _ in _count_words(facts.words, "offensive")),
        "words": facts.words.total(),
        "window": WINDOW,
        "software": data.software,
    }


def _by_owner(split: Mapping[str, Any]) -> str:
    aimed = (round(1 - split["validation"] - split["test"], 9), split["validation"], split["test"])
    return (
        "All posts of an owner are in one split; {:.0%}, {:.0%} and {:.0%} of the posts were aimed at. "
        "Images that are near-duplicates are in one split as well."
    ).format(*aimed)


def _sizes(data: SheetData) -> Table:
    rows = [["set", "split", "posts", "owners", "vocabulary", "words a caption: mean", "sd"]]
    for name, parts in data.facts.parts.items():
        for split, part in parts.items():
            captions = part.captions
            numbers = f"{part.posts:,} {len(part.users):,} {captions.unique:,} {captions.mean:.1f} {captions.deviation:.1f}"
            rows.append([name or data.dataset, split or "all", *numbers.split()])
    return rows


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
    "6.2.2": _sizes,
    "6.2.8": partial(_word_counts, "offensive"),
    "6.3.2": lambda data: loss_table(data.facts.losses),
    "6.4.1": _settings,
    "6.5.4": partial(_word_counts, "body"),
}
"""Question → the table below its answer."""
