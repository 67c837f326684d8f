"""Lengths of captions, and the objects that they hallucinate (CC §5.3), over the seeds of one network."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from components.metrics.caption_lengths import CaptionStatistics
from components.metrics.hallucination import hallucination_rates
from components.stages.evaluate_captioners.scoring import Scored


@dataclass(frozen=True)
class Writing:
    """Figures of one network's captions for one test set, or of its references."""

    figures: dict[str, float]
    """Name → value; a figure that cannot be computed is left out."""
    unsupported: Sequence[tuple[str, int]] = ()
    """Hallucinated lemmas with their counts over all seeds, most frequent first."""


def measure_writing(seeds: Sequence[Scored]) -> Writing:
    """Return the figures of one network, over its seeds."""
    figures = measure_lengths(caption for scored in seeds for caption in scored.captions)
    rates = hallucination_rates(
        [(one.mentioned, one.unsupported) for scored in seeds for one in scored.objects if one.mentioned is not None]
    )
    hallucinated = {
        "objects": rates.named,
        "objects_unsupported": rates.hallucinated,
        "unsupported_share": rates.object_rate,
        "captions_with_unsupported": rates.caption_rate,
    }
    if rates.caption_rate is not None:
        figures |= {name: value for name, value in hallucinated.items() if value is not None}
    return Writing(figures, rates.words)


def measure_lengths(captions: Iterable[str]) -> dict[str, float]:
    """Return the mean number of words of captions, and its standard deviation."""
    statistics = CaptionStatistics()
    for caption in captions:
        statistics.add(caption)
    return {"words": statistics.mean, "words_sd": statistics.deviation}
