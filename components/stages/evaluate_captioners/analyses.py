"""Writing style of captions over the seeds of one network: lengths, repetition, faults and hallucinated objects.

Sources: PCV §5.4.1 and §5.4.2 (too short, repeated words, broken off); CC §5.3 (hallucinated objects). The metrics are those of
:mod:`components.metrics` (docs/metrics.md).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pyarrow.compute as pc

from components.metrics.caption_faults import caption_faults
from components.metrics.caption_lengths import Lengths, compare_word_counts
from components.metrics.caption_lengths import word_counts as lengths_of
from components.metrics.caption_repetition import join_words, measure_repetition
from components.metrics.hallucination import hallucination_rates
from components.models.vocabulary import SPECIAL
from components.stages.evaluate_captioners.inputs import EvaluationSet, Model
from components.stages.evaluate_captioners.scoring import Scored, mean

if TYPE_CHECKING:
    from components.core.stage_output import StageOutput
    from components.execution.stage import Stage


@dataclass(frozen=True)
class TrainingTexts:
    """Training texts of one model; None for what is unknown, since its training set is not among the test sets."""

    language: str | None
    captions: frozenset[str] | None
    """Captions normalised by ``caption_repetition.join_words``; None also without a training split."""
    vocabulary: Sequence[str] | None
    """The words that the model can write."""


UNKNOWN_TRAINING = TrainingTexts(None, None, None)
"""For captions that no model wrote."""


def read_training_texts(stage: Stage, sets: Sequence[EvaluationSet], models: Sequence[Model]) -> dict[str, TrainingTexts]:
    """Return model → its training texts; each training set is read once."""
    trainings = {model.training for model in models}
    languages = {test_set.name: test_set.language for test_set in sets}
    captions = {test_set.name: _captions(stage.inputs[test_set.input]) for test_set in sets if test_set.name in trainings}
    return {
        model.name: TrainingTexts(
            languages.get(model.training), captions.get(model.training), _vocabulary(stage.inputs[model.cell], model)
        )
        for model in models
    }


def _captions(output: StageOutput) -> frozenset[str] | None:
    table = output.table(["split", "caption"])
    texts = table.filter(pc.equal(table["split"], "train"))["caption"].unique().to_pylist()
    return frozenset(map(join_words, texts)) or None


def _vocabulary(cell: StageOutput, model: Model) -> list[str]:
    config = json.loads(cell.file(f"{model.folder}/config.json").read_text(encoding="utf-8"))
    return [word for word in config["vocabulary"] if word not in SPECIAL]


BY_NUMBER = ("distinct_1", "distinct_2", "vocabulary", "different_captions")
"""Figures that depend on the number of captions, so references and networks cannot be compared by them."""


@dataclass(frozen=True)
class Writing:
    """Style figures of one network's captions for one test set, or of its references."""

    lengths: Lengths
    """Of the captions of all seeds."""
    figures: dict[str, float]
    """Name → value; a figure that cannot be computed is left out."""
    unsupported: Sequence[tuple[str, int]] = ()
    """Hallucinated lemmas with their counts over all seeds, most frequent first."""


def measure_writing(
    seeds: Sequence[tuple[Scored, TrainingTexts]], reference_lengths: Sequence[Lengths], language: str
) -> Writing:
    """Return the style figures of one network, over its seeds.

    Args:
        seeds: each seed's scored captions and its training texts.
        reference_lengths: the lengths of each item's references.
        language: the captions' language where that of the training set is unknown.
    """
    captions = [caption for scored, _ in seeds for caption in scored.captions]
    compared = compare_word_counts(lengths_of(captions), [*reference_lengths] * len(seeds))
    hallucinated = hallucination_rates(
        [(one.mentioned, one.unsupported) for scored, _ in seeds for one in scored.objects if one.mentioned is not None]
    )
    by_seed = [dict(_repetition(scored.captions, training)) for scored, training in seeds]
    figures: dict[str, float | None] = {
        **_lengths(compared.candidates),
        "words_difference": compared.mean_difference,
        **{name: mean([seed[name] for seed in by_seed]) for name in by_seed[0] if all(name in seed for seed in by_seed)},
        **_faults(captions, seeds[0][1].language or language),
        "objects": hallucinated.named if hallucinated.caption_rate is not None else None,
        "objects_unsupported": hallucinated.hallucinated if hallucinated.caption_rate is not None else None,
        "unsupported_share": hallucinated.object_rate,
        "captions_with_unsupported": hallucinated.caption_rate,
    }
    return Writing(compared.candidates, _without_none(figures), hallucinated.words)


def measure_references(captions: Sequence[str], language: str) -> Writing:
    """Return the style figures of references that do not depend on their number."""
    lengths = lengths_of(captions)
    repeated = {name: value for name, value in _repetition(captions, UNKNOWN_TRAINING) if name not in BY_NUMBER}
    return Writing(lengths, _without_none({**_lengths(lengths), **repeated, **_faults(captions, language)}))


def _without_none(figures: dict[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in figures.items() if value is not None}


def _lengths(lengths: Lengths) -> dict[str, float]:
    return {"words": lengths.mean, "words_sd": lengths.deviation}


def _repetition(captions: Sequence[str], training: TrainingTexts) -> Iterator[tuple[str, float]]:
    """Yield the measure_repetition figures of one seed; they depend on the number of captions, so seeds are not pooled."""
    measured = measure_repetition(captions, vocabulary=training.vocabulary, training=training.captions)
    yield from ((f"repeated_{size}", share) for size, share in enumerate(measured.repeated, 1))
    yield "doubled", measured.doubled
    yield from zip(("distinct_1", "distinct_2"), measured.distinct, strict=False)
    yield "vocabulary", measured.vocabulary
    if measured.vocabulary_share is not None:
        yield "vocabulary_share", measured.vocabulary_share
    yield "different_captions", measured.unique
    if measured.novel is not None:
        yield "new_captions", measured.novel


def _faults(captions: Sequence[str], language: str) -> dict[str, float | None]:
    faults = caption_faults(captions, language)
    return {"broken_off": faults.open, "marks": faults.marks, "unknown": faults.unknown, "wordless": faults.wordless}
