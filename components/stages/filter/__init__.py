"""filter: candidates whose picture, text, or the two together do not make a caption are dropped (C2–C4).

Source: Conceptual Captions (CC) section 3, image-based, text-based and image&text-based filtering. Every number
the rules compare with is in ``Params``; annotations (parse, tone, pornography, classes) depend on content and model
alone, so a changed threshold computes none of them again.
Not in scope: rewriting captions (``hypernymize``), duplicates (``dedup``).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

from components.core.ledger import dropped, kept, ledger_table
from components.core.params import Settings
from components.execution.stage import ShardOut, Stage, Task
from components.google.cost import record_usage
from components.providers.registry import ProviderParams, make_providers, plan_for, record_choice

if TYPE_CHECKING:
    import pyarrow as pa

    from components.stages.filter.rules import Subject


class Params(Settings):
    """Settings of filter: who is asked, and one threshold a rule."""

    providers: ProviderParams
    """Who parses texts and looks at pictures; hypernymize takes the same (``docs/providers.md``)."""

    language: str
    """Language of page and text, ISO 639-1, and of the boiler-plate lists."""
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
    max_characters: int = 2500
    """Characters an alt-text may have at most. Ours: about what 256 words, the most of CC12M, take at nine characters each."""
    max_mark_run: int = 10
    """Signs that are neither letters nor digits in a row, spaces aside, at most. Ours: it ends captions like "grass......"."""
    max_capital_ratio: float
    """Share of capitalised words, at most."""
    max_repetition: float
    """Share of words that occurred before, at most."""
    min_language: float
    """Probability (0..1), by its own words, that a text is in ``language``, at least; short texts are told apart badly."""
    min_zipf: float
    """Zipf frequency (log10 of the count in 10^9 words) of the rarest word, at least; labels' names too."""
    min_zipf_unlisted: float
    """The same of a word in small letters that the dictionary does not list."""
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
    with record_usage(stage, plan):
        refs = stage.map(filter_shard, stage.inputs["input"].shards, step="filter", params=stage.params, shared=plan)
    record_choice(stage, plan)
    stage.metric("kept", sum(ref.read(["key"]).num_rows for ref in refs))


def filter_shard(table: pa.Table, task: Task) -> ShardOut:
    """Ask the groups of rules one after the other; each group only sees what the groups before it left."""
    import pyarrow as pa

    from components.core.records import FILTERED
    from components.stages.filter.annotation import Learning
    from components.stages.filter.boilerplate import load_boilerplate
    from components.stages.filter.cascade import failures
    from components.stages.filter.rules import Finding

    params: Params = task.params
    lists = load_boilerplate(params.language)
    rows = {row["key"]: row for row in table.to_pylist()}
    subjects = subjects_of(rows, params)
    learn = Learning(rows, task, make_providers(task.shared, task.work))
    failed = failures(subjects, learn, params)
    failed |= {key: ("unanswered", Finding(False, why, "an answer")) for key, why in learn.refused.items()}

    verdicts, stays = [], []
    for key, row in rows.items():
        subject = subjects[key]
        detail = f"boiler-plate v{lists.version} cropped: {'; '.join(subject.cropped)}" if subject.cropped else ""
        if key in failed:
            name, finding = failed[key]
            verdicts.append(dropped(key, name, finding.value, finding.threshold, detail=detail))
            continue
        verdicts.append(kept(key, detail=detail))
        labels = [
            {"label": label.names[0], "confidence": label.confidence, "identifier": label.identifier} for label in subject.labels
        ]
        stays.append(row | {"text": subject.text, "labels": labels})
    return ShardOut(pa.Table.from_pylist(stays, schema=FILTERED), ledger_table(verdicts))


def subjects_of(rows: Mapping[str, Mapping[str, Any]], params: Params) -> dict[str, Subject]:
    """Each record as the rules look at it."""
    from components.stages.filter.boilerplate import load_boilerplate
    from components.stages.filter.cascade import subject_of

    lists = load_boilerplate(params.language)
    subjects = {}
    for key, row in rows.items():
        subjects[key] = subject_of(row["alt"], lists, params.max_characters)
        subjects[key].see(row["format"], row["width"], row["height"], row["language"])
    return subjects
