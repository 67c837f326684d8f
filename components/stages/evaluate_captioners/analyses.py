"""How captions are written: lengths, repetition, faults and what is named and not there, over the seeds of one network.

Source: PCV, sections 5.4.1 and 5.4.2 (too short, the same word again and again, broken off); CC, section 5.3 (objects
that are not there). The measuring is that of the metrics' package (docs/metrics.md); here its results become figures.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from components.metrics.caption_faults import caption_faults
from components.metrics.caption_lengths import Lengths, compare_word_counts
from components.metrics.caption_lengths import word_counts as lengths_of
from components.metrics.caption_repetition import measure_repetition
from components.metrics.hallucination import hallucination_rates
from components.stages.evaluate_captioners.scoring import Scored, mean
from components.stages.evaluate_captioners.training_captions import UNTOLD, Learnt

BY_NUMBER = ("distinct_1", "distinct_2", "vocabulary", "different_captions")
"""Figures that depend on how many captions there are, so that those of references cannot stand beside a network's."""


@dataclass(frozen=True)
class Writing:
    """How one network, trained on one set, writes for one test set, or how its references are written."""

    lengths: Lengths
    """Of all seeds' captions."""
    figures: dict[str, float]
    """Name → value, of all that could be told."""
    unseen: Sequence[tuple[str, int]] = ()
    """Lemmas of the things named that are not there, over all seeds, the most frequent first."""


def writing_of(seeds: Sequence[tuple[Scored, Learnt]], known: Sequence[Lengths], language: str) -> Writing:
    """Of one network's seeds.

    Args:
        seeds: what each wrote, and what it learned from.
        known: the lengths of each item's references.
        language: what is taken for the captions' where nobody knows what was learned.
    """
    captions = [caption for scored, _ in seeds for caption in scored.captions]
    compared = compare_word_counts(lengths_of(captions), [*known] * len(seeds))
    things = hallucination_rates(
        [(one.named, one.unseen) for scored, _ in seeds for one in scored.things if one.named is not None]
    )
    again = [dict(_repetition(scored.captions, learned)) for scored, learned in seeds]
    told: dict[str, float | None] = {
        **_lengths(compared.candidates),
        "words_difference": compared.mean_difference,
        **{name: mean([found[name] for found in again]) for name in again[0] if all(name in found for found in again)},
        **_faults(captions, seeds[0][1].language or language),
        "things": things.named if things.caption_rate is not None else None,
        "things_unseen": things.hallucinated if things.caption_rate is not None else None,
        "objects_unseen": things.object_rate,
        "captions_with_unseen": things.caption_rate,
    }
    return Writing(compared.candidates, _known(told), things.words)


def written_by_people(captions: Sequence[str], language: str) -> Writing:
    """Of references: what does not depend on their number."""
    counted = lengths_of(captions)
    again = {name: value for name, value in _repetition(captions, UNTOLD) if name not in BY_NUMBER}
    return Writing(counted, _known({**_lengths(counted), **again, **_faults(captions, language)}))


def _known(told: dict[str, float | None]) -> dict[str, float]:
    return {name: value for name, value in told.items() if value is not None}


def _lengths(found: Lengths) -> dict[str, float]:
    return {"words": found.mean, "words_sd": found.deviation}


def _repetition(captions: Sequence[str], learned: Learnt) -> Iterator[tuple[str, float]]:
    """Of one seed: what is said of many captions at once depends on their number, so seeds are never put together."""
    found = measure_repetition(captions, vocabulary=learned.vocabulary, training=learned.captions)
    yield from ((f"repeated_{size}", share) for size, share in enumerate(found.repeated, 1))
    yield "doubled", found.doubled
    yield from zip(("distinct_1", "distinct_2"), found.distinct, strict=False)
    yield "vocabulary", found.vocabulary
    if found.vocabulary_share is not None:
        yield "vocabulary_share", found.vocabulary_share
    yield "different_captions", found.unique
    if found.novel is not None:
        yield "new_captions", found.novel


def _faults(captions: Sequence[str], language: str) -> dict[str, float | None]:
    found = caption_faults(captions, language)
    return {"broken_off": found.open, "marks": found.marks, "unknown": found.unknown, "wordless": found.wordless}
