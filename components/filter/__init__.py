"""filter: candidates whose picture, text, or the two together do not make a caption are dropped (C2–C4).

Source: Conceptual Captions (seed 000) section 3, image-based, text-based and image&text-based filtering. Every number
the rules compare with is in ``Params``; annotations (parse, tone, pornography, classes) depend on content and model
alone, so a changed threshold computes none of them again.
Not in scope: rewriting captions (``hypernymize``), duplicates (``dedup``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from components.core.ledger import dropped, kept, ledger_table
from components.core.params import Settings
from components.core.stage import ShardOut, Stage, Task
from components.providers.choice import ProviderParams, choose, plan_for, record_choice
from components.providers.google_cost import counted

if TYPE_CHECKING:
    import pyarrow as pa

    from components.filter.rules import Subject


class Params(Settings):
    """Settings of filter: who is asked, and one threshold a rule."""

    providers: ProviderParams
    """Who parses texts and looks at pictures; hypernymize takes the same (``docs/providers.md``)."""

    language: str
    """Language of the page, ISO 639-1, and of the boiler-plate lists."""
    formats: list[str]
    """Encodings of pictures that are allowed."""
    sides_over: int
    """Both sides must be greater than this, in px."""
    max_aspect_ratio: float
    """Larger side over smaller side, at most."""
    pornography_from: float
    """Pornography score (0..1) from which a picture is dropped."""
    min_words: int
    """Words a text must have at least."""
    max_words: int
    """Words a text may have at most."""
    max_capital_ratio: float
    """Share of capitalised words, at most."""
    max_repetition: float
    """Share of words that occurred before, at most."""
    min_zipf: float
    """Zipf frequency (log10 of the count in 10^9 words) of the rarest word, at least; labels' names too."""
    profanity_from: float
    """Probability of profanity (0..1) from which a text is dropped."""
    min_polarity: float
    """Polarity (-1..1), at least."""
    max_polarity: float
    """Polarity (-1..1), at most."""
    require: list[Literal["determiner", "noun", "preposition"]]
    """Parts of speech without which a text is dropped."""
    max_noun_ratio: float
    """Share of nouns among the words, at most."""
    min_unique_ratio: float
    """Share of distinct words within each open part of speech, at least."""
    min_labels: int
    """Labels a picture gets at least."""
    max_labels: int
    """Labels a picture gets at most."""
    min_label_confidence: float
    """Confidence (0..1) below which a picture gets no label beyond ``min_labels``."""
    min_kind_confidence: float
    """Confidence (0..1) the classifier must have in a hypernym of a noun for the noun to count as seen."""


def run(stage: Stage) -> None:
    """Filter each shard of candidates."""
    plan = plan_for(stage.root, stage.params.providers, stage.params.language)
    with counted(stage, plan):
        refs = stage.map(filter_shard, stage.inputs["input"].shards, step="filter", params=stage.params, shared=plan)
    record_choice(stage, plan)
    stage.metric("kept", sum(ref.read(["key"]).num_rows for ref in refs))


def filter_shard(table: pa.Table, task: Task) -> ShardOut:
    """Ask the groups of rules one after the other; each group only sees what the groups before it left."""
    import pyarrow as pa

    from components.core.records import FILTERED
    from components.filter.learning import Learning
    from components.filter.rules import first_failure, groups

    params: Params = task.params
    rows = {row["key"]: row for row in table.to_pylist()}
    subjects, cropped = subjects_of(rows, params)
    learn = Learning(rows, task, choose(task.shared, task.work))
    verdicts: dict[str, dict[str, str]] = {}
    for group, rules in groups().items():
        alive = {key: subject for key, subject in subjects.items() if key not in verdicts}
        learn(group, alive)
        for key, subject in alive.items():
            failure = first_failure(subject, rules, params)
            if key in learn.refused:
                verdicts[key] = dropped(key, "unanswered", learn.refused[key], "an answer", detail=cropped[key])
            elif failure is not None:
                name, finding = failure
                verdicts[key] = dropped(key, name, finding.value, finding.threshold, detail=cropped[key])

    stays = [
        row
        | {
            "text": subjects[key].text,
            "labels": [
                {"label": label.names[0], "confidence": label.confidence, "identifier": label.identifier}
                for label in subjects[key].labels
            ],
        }
        for key, row in rows.items()
        if key not in verdicts
    ]
    ledger = ledger_table(verdicts.get(key) or kept(key, detail=cropped[key]) for key in rows)
    return ShardOut(pa.Table.from_pylist(stays, schema=FILTERED), ledger)


def subjects_of(rows: Mapping[str, Mapping[str, Any]], params: Params) -> tuple[dict[str, Subject], dict[str, str]]:
    """Each record as the rules look at it, and what was cropped of its text, in words."""
    from components.filter.boilerplate import crop, load_boilerplate
    from components.filter.rules import Subject
    from components.providers.language_words import words_of

    lists = load_boilerplate(params.language)
    subjects: dict[str, Subject] = {}
    cropped: dict[str, str] = {}
    for key, row in rows.items():
        piece = crop(row["alt"], lists)
        subjects[key] = Subject(
            row["format"], row["width"], row["height"], row["language"], row["alt"], piece.text, tuple(words_of(piece.text))
        )
        cropped[key] = f"boiler-plate v{lists.version} cropped: {'; '.join(piece.pieces)}" if piece.pieces else ""
    return subjects, cropped
