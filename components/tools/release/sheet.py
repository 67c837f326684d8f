"""Answer the questions of a datasheet (Gebru et al. 2021) from measured values and the publishers' statements.

The text is ``data/datasheet.yaml``; here are the values in its braces and its tables.
A question with neither a value nor a statement is answered "Not stated by the publishers."
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import yaml
from pydantic import Field, create_model

from components.core.errors import HearsightError
from components.core.params import YAML_LOADER, Settings, dotted, parse_settings, read_params_file
from components.tools.release.post_facts import WINDOW, PostFacts
from components.tools.release.records import SPLITS

SHEET = yaml.load((Path(__file__).parent / "data" / "datasheet.yaml").read_text(encoding="utf-8"), YAML_LOADER)
SECTIONS: dict[str, str] = SHEET["sections"]
QUESTIONS: dict[str, str] = {number: entry["question"] for number, entry in SHEET["questions"].items()}
"""Number → question."""
STATED: dict[str, str] = {number: entry["stated"] for number, entry in SHEET["questions"].items() if "stated" in entry}
"""Question → the publishers' field that answers it; measured values follow."""
_FIELDS: dict[str, Any] = {name: (str, Field("", description=QUESTIONS[number])) for number, name in STATED.items()}
METADATA = {
    "url": "The address of the dataset's page.",
    "published": "The day it is published, ISO 8601.",
    "version": "Its version, as 1.0.0.",
}
"""Statements that only metadata have (Croissant 1.0), with their meaning."""
_FIELDS |= {name: (str, Field("", description=meaning)) for name, meaning in METADATA.items()}
Publisher = create_model("Publisher", __base__=Settings, **_FIELDS)
"""The publishers' answers, ``params.yaml:release.<dataset>``; an empty one is reported as missing."""
NOT_STATED = "Not stated by the publishers."
PUBLISHED_SETTINGS = ("kind", "layout", "language", "provider", "server", "tag", "variants")
"""Settings of ``crawl.source`` that are published: none of them names an account."""
WORDS: dict[str, list[list[str]]] = SHEET["words"]
"""The words of PCV tables 3 (``offensive``) and 4 (``body``), with their forms."""
Table = Sequence[Sequence[str]]


@dataclass(frozen=True)
class Answer:
    """Paragraphs, then a table whose first row is the head."""

    paragraphs: list[str]
    table: Table = ()


@dataclass(frozen=True)
class SheetData:
    """The data that answers are made from."""

    dataset: str
    facts: PostFacts
    settings: Mapping[str, Mapping[str, Any]]
    publisher: Mapping[str, str]
    """Field → answer; see :data:`Publisher`."""
    mask_mentions: bool
    software: str


def answer_questions(data: SheetData) -> dict[str, Answer]:
    """Return every question's answer, in order."""
    values = _values(data)
    answers: dict[str, Answer] = {}
    for number, entry in SHEET["questions"].items():
        paragraphs = [text for text in entry.get("answer", "").format_map(values).split("\n") if text]
        if number in STATED:
            paragraphs.insert(0, " ".join(data.publisher[STATED[number]].split()) or NOT_STATED)
        answers[number] = Answer(paragraphs, TABLES[number](data) if number in TABLES else ())
    return answers


def read_publisher(root: Path, dataset: str, licence: str) -> dict[str, str]:
    """Return the publishers' answers by field; a ``licence`` takes precedence.

    Raises:
        HearsightError: the block is not valid; names the key.
    """
    path = root / "params.yaml"
    block = read_params_file(path).get("release") or {}
    if not isinstance(block, dict):
        raise HearsightError(
            "must hold a block for each dataset", where=f"{path}: release", hint="see docs/release.md"
        )
    answers = parse_settings(Publisher, block.get(dataset, {}), f"{path}: release.{dataset}").plain()
    return answers | ({"licence": licence} if licence.strip() else {})


def list_unanswered(publisher: Mapping[str, str]) -> list[str]:
    """Return the publishers' fields that are empty, in the order of the questions."""
    return [name for name in STATED.values() if not publisher[name].strip()]


def _values(data: SheetData) -> dict[str, Any]:
    """Return the values that the sheet's text names."""
    facts, whole, parts = data.facts, data.facts.whole, data.facts.parts
    crawl, split = data.settings["crawl"], data.settings["split"]
    described, duplicates = facts.loss("extract_descriptions"), facts.loss("dedup")
    source = ", ".join(
        f"{'source' if name == 'kind' else name} {', '.join(map(str, value)) if isinstance(value, list) else value}"
        for name in PUBLISHED_SETTINGS
        if (value := crawl["source"].get(name)) not in (None, "", [])
    )
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
        "share": {name: _share(part, of) for name, (part, of) in shares.items()},
        "source": f"{source}, web {crawl['web']['kind']}",
        "owners": len(whole.users),
        "unowned": f"; {facts.without_owner:,} instances name no owner" if facts.without_owner else "",
        "formats": ", ".join(f"{number:,} {kind}" for kind, number in sorted(facts.formats.items())),
        "by_owner": _by_owner(split) if split.get("by") == "owner" else "",
        "sizes": "; ".join(
            f"{name}: {part.posts:,} posts ({_share(part.posts, whole.posts)}) of {len(part.users):,} owners"
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


def _share(part: float, whole: float) -> str:
    return f"{part / whole:.1%}" if whole else "none"


def _sizes(data: SheetData) -> Table:
    rows = [["set", "split", "posts", "owners", "vocabulary", "words a caption: mean", "sd"]]
    for name, parts in data.facts.parts.items():
        for split, part in parts.items():
            captions = part.captions
            numbers = f"{part.posts:,} {len(part.users):,} {captions.unique:,} {captions.mean:.1f} {captions.deviation:.1f}"
            rows.append([name or data.dataset, split or "all", *numbers.split()])
    return rows


def _losses(data: SheetData) -> Table:
    rows = [["stage", "of", "entered", "left", "dropped", "by rule"]]
    for loss in data.facts.losses:
        rules = ", ".join(f"{rule} {number:,}" for rule, number in loss.dropped.items())
        rows.append([loss.stage, loss.kind, f"{loss.entered:,}", f"{loss.kept:,}", f"{loss.lost:.1%}", rules])
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
    "6.3.2": _losses,
    "6.4.1": _settings,
    "6.5.4": partial(_word_counts, "body"),
}
"""Question → the table below its answer."""
