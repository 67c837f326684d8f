"""The rules that can be swept: those with a numeric threshold that the paper does not publish."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from components.core.errors import HearsightError
from components.core.params import did_you_mean

GRID = 60
"""Steps of the curve."""


class Swept(NamedTuple):
    """A rule and the setting that holds its threshold."""

    rule: str
    """Name in the ledger."""
    setting: str
    """Field of ``filter.Params``."""
    sign: str
    """Relation of the value to the threshold for a candidate to pass: ``<=``, ``>=`` or ``<``."""
    low: float
    high: float
    """Range of the sweep."""
    shown: tuple[float, ...]
    """Thresholds for which samples are shown, beside the present one."""

    def allows(self, values: np.ndarray, threshold: float) -> np.ndarray:
        """Return a mask of the values that pass; a text without a value (without words) passes, as in the rule."""
        if self.sign == "<=":
            stays = values <= threshold
        elif self.sign == ">=":
            stays = values >= threshold
        else:
            stays = values < threshold
        return stays | np.isnan(values)

    def samples_at(self, present: float) -> list[float]:
        """Return the thresholds for which samples are shown, including the current one."""
        return sorted({*self.shown, present})

    def grid(self, present: float) -> list[float]:
        """The thresholds of the curve."""
        steps = [round(self.low + (self.high - self.low) * at / GRID, 4) for at in range(GRID + 1)]
        return sorted({*steps, *self.samples_at(present)})


_TENTHS = (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8)
SWEPT = (
    Swept("capital_ratio", "max_capital_ratio", "<=", 0, 1, _TENTHS),
    Swept("unknown_token", "min_zipf_unlisted", ">=", 0, 6, (0.5, 1, 1.5, 2, 2.5, 3, 3.5)),
    Swept("language", "min_language", ">=", 0, 1, (0.001, 0.01, 0.1, 0.2, 0.4, 0.6, 0.8)),
    Swept("profanity", "profanity_from", "<", 0, 1, (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.9)),
    Swept("polarity_low", "min_polarity", ">=", -1, 0, (-0.95, -0.9, -0.7, -0.6, -0.5, -0.3)),
    Swept("polarity_high", "max_polarity", "<=", 0, 1, (0.3, 0.5, 0.6, 0.7, 0.9, 0.95)),
    Swept("noun_ratio", "max_noun_ratio", "<=", 0, 1, (0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)),
    Swept("token_repetition", "max_repetition", "<=", 0, 1, (0.0, 0.1, 0.2, 0.25, 0.3, 0.4, 0.5)),
    Swept("unique_words", "min_unique_ratio", ">=", 0, 1, (0.4, 0.5, 0.7, 0.75, 0.8, 0.9, 1.0)),
)
"""In the order in which the filter applies the rules."""


def choose_rules(rules: Sequence[str]) -> list[Swept]:
    """Return the rules with the given names; all when none is given.

    Raises:
        HearsightError: a rule cannot be swept.
    """
    known = {swept.rule: swept for swept in SWEPT}
    for name in rules:
        if name not in known:
            hint = did_you_mean(name, known, f"these can: {', '.join(known)}")
            raise HearsightError(f"'{name}' is no rule whose threshold can be swept", where="--rule", hint=hint)
    return [swept for swept in SWEPT if not rules or swept.rule in rules]
