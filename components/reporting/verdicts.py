"""Verdicts on a paper's claims that something is larger than something else.

A claim is one or more contrasts: paired differences over the same items. A contrast has a 95 % interval over items (seeds are
averaged first) and one value per seed. It **holds** if the interval and the values of all seeds are above 0, it **does not hold**
if they are all below 0, and otherwise it **cannot be told**. A claim holds if all its contrasts hold; it does not hold if one of
them does not.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from components.reporting.values import Contrast, Value, rounded

HOLDS, FAILS, UNDECIDED, UNMEASURED = "holds", "does not hold", "cannot be told", "not measured"
MARKS = {HOLDS: "yes", FAILS: "no", UNDECIDED: "open", UNMEASURED: "none"}
"""Verdict → its CSS class on pages."""


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim of a paper."""

    says: str
    source: str
    needs: tuple[str, ...] = ()
    """What it needs and was not measured."""


C = TypeVar("C", bound=Claim)


@dataclass(frozen=True)
class Finding(Generic[C]):
    """A claim with its measured contrasts."""

    claim: C
    judged: tuple[Contrast, ...]

    @property
    def verdict(self) -> str:
        """One of the four."""
        return verdict_of_all([verdict(contrast.difference) for contrast in self.judged])

    def plain(self, on: str = "", **more: str) -> dict[str, Any]:
        """Return the claim, ``more`` about it, its verdict and contrasts as a JSON object; ``on`` names what a contrast is on."""
        measured = [
            {"contrast": contrast.title}
            | ({on: contrast.on} if on else {})
            | {"verdict": verdict(contrast.difference)}
            | contrast.difference.plain("value")
            | {"seeds": [rounded(value) for value in contrast.difference.seeds]}
            for contrast in self.judged
        ]
        about = {"claim": self.claim.says, "paper": self.claim.source, **more, "verdict": self.verdict}
        return about | {"needs": list(self.claim.needs), "measured": measured}


def verdict(value: Value) -> str:
    """Return the verdict on a contrast, by its interval over items and its value for each seed."""
    if (value.low or 0.0) > 0 and all(seed > 0 for seed in value.seeds):
        return HOLDS
    if (value.high or 0.0) < 0 and all(seed < 0 for seed in value.seeds):
        return FAILS
    return UNDECIDED


def verdict_of_all(verdicts: Collection[str]) -> str:
    """Return the verdict on a claim, from those of its contrasts."""
    if not verdicts:
        return UNMEASURED
    if FAILS in verdicts:
        return FAILS
    return HOLDS if set(verdicts) == {HOLDS} else UNDECIDED
