"""The confidence of a caption: a number from 0 to 1, and whether it is sure.

With similar pictures at hand it is the geometric mean of the caption's likelihood a word and its support by their captions
(:mod:`components.tools.describe.support`); of a caption taken from a similar picture, the support by the others; without similar
pictures the likelihood a word. The thresholds were chosen on the validation splits of the demo's sets
(``python -m benchmarks.describe``; docs/describe.md#confidence has the figures).
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

SURE = 0.5
"""Confidence from which a caption with support is sure."""
SURE_BY_LIKELIHOOD = 0.55
"""Confidence from which a caption without support is sure: likelihoods are higher than supports."""


class Evidence(NamedTuple):
    """What a confidence is computed from; None for what there is none of."""

    likelihood: float | None
    """Geometric mean of the probabilities of the caption's words and of its end; None for a caption of a similar picture."""
    support: float | None
    """Share of the caption's words in the captions of similar pictures; None without similar pictures."""
    pictures: int
    """Number of similar pictures that were compared."""

    def plain(self) -> dict[str, Any]:
        """Return the evidence as JSON values, rounded."""
        rounded = {name: None if value is None else round(value, 4) for name, value in self._asdict().items()}
        return rounded | {"pictures": self.pictures}

    @property
    def confidence(self) -> float:
        """The confidence, 0..1."""
        values = [value for value in (self.likelihood, self.support) if value is not None]
        return math.prod(values) ** (1 / len(values)) if values else 0.0

    def is_sure(self, threshold: float | None = None) -> bool:
        """Return whether the confidence reaches a threshold, by default the measured one."""
        measured = SURE if self.support is not None else SURE_BY_LIKELIHOOD
        return self.confidence >= (measured if threshold is None else threshold)
