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

    providers: ProviderParams = ProviderParams()
    """Who parses texts and looks at pictures; hypernymize takes the same (``docs/providers.md``)."""

    language: str = "en"
    """Language of page and text, ISO 639-1, and of the boiler-plate lists. CC §3: English pages."""
    formats: list[str] = ["JPEG"]
    """Encodings of pictures that are allowed. CC §3: JPEG."""
    sides_over: int = 400
    """Both sides must be greater than this, in px. CC §3: 400."""
    max_aspect_ratio: float = 2.0
    """Larger side over smaller side, at most. CC §3: 2; CC12M: 2.5."""
    pornography_from: float = 0.5
    """Pornography score (0..1) from which a picture is dropped. CC §3 names none; COYO-700M: .5."""
    min_words: int = 2
    """Words a text must have at least. Ours: an article and a noun; CC12M: 3."""
    max_words: int = 256
    """Words a text may have at most. CC12M: 256."""
    max_characters: int = 2500
    """Characters an alt-text may have at most. Ours: about what 256 words, the most of CC12M, take at nine characters each."""
    max_mark_run: int = 10
    """Signs that are neither letters nor digits in a row, spaces aside, at most. Ours: it ends captions like "grass......"."""
    max_capital_ratio: float = 0.7
    """Share of capitalised words, at most. Ours: CC's own examples pass (figure 3's has .63)."""
    max_repetition: float = 0.2
    """Share of words that occurred before, at most. CC12M: .2."""
    min_language: float = 0.01
    """Probability (0..1), by its own words, that a text is in ``language``, at least; short texts are told apart badly. Ours:
    names and short texts read as many languages."""
    min_zipf: float = 0.5
    """Zipf frequency (log10 of the count in 10^9 words) of the rarest word, at least; labels' names too. Ours, for CC §3's "at
    least 5 times in the English Wikipedia": table 1's "A319" passes."""
    min_zipf_unlisted: float = 1.7
    """The same of a word in small letters that the dictionary does not list. Ours: "hoverfly" is listed, "mountian" is not."""
    profanity_from: float = 0.8
    """Probability of profanity (0..1) from which a text is dropped. Ours."""
    min_polarity: float = -0.8
    """Polarity (-1..1), at least. Ours."""
    max_polarity: float = 0.8
    """Polarity (-1..1), at most. Ours."""
    require: list[Literal["determiner", "noun", "preposition"]] = ["determiner", "noun", "preposition"]
    """Parts of speech without which a text is dropped. CC §3: all three; CC12M: no preposition."""
    max_noun_ratio: float = 0.75
    """Share of nouns among the words, at most. Ours: CC's own examples pass."""
    min_unique_ratio: float = 0.6
    """Share of distinct words within each open part of speech, at least. Ours."""
    min_labels: int = 5
    """Labels a picture gets at least. CC §3: 5."""
    max_labels: int = 20
    """Labels a picture gets at most. CC §3: 20."""
    min_label_confidence: float = 0.05
    """Confidence (0..1) below which a picture gets no label beyond ``min_labels``. Ours."""
    min_kind_confidence: float = 0.1
    """Confidence (0..1) the classifier must have in a hypernym of a noun for the noun to count as seen. Ours."""


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
