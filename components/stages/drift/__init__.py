"""Drift: figures of the day against the last thirty days, as expectations that warn, with a page over time.

Figures are shares of counts (records that a rule drops, records of a language) and the mean length of captions. Those of records
are of the day's new records where the snapshot has a base; those of requests are of the whole snapshot, because every address is
asked again each day. ``reports/days/<dataset>.jsonl`` keeps a line of counts for each snapshot. No clock is read: a day is a
snapshot, and its past are the lines above its own.

Not in scope: why something changed (``hearsight explain --rule``), and drift of models' scores (MLflow).
"""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from components.core.errors import HearsightError
from components.core.params import Amount, Settings

PAGE = "drift.html"
"""The page, a file of the output."""


class Params(Settings):
    """Settings of drift."""

    days: Annotated[int, Field(ge=2)] = 30
    """Days before this one that it is compared with. Ours."""
    least_days: Annotated[int, Field(ge=2)] = 14
    """Fewer days of the same kind give no verdict. Ours."""
    sigmas: Amount = 3.5
    """Robust standard deviations that a day may lie outside the middle of the others. Ours."""
    least_change: Amount = 0.02
    """Smaller changes never count: of a share near 50 % in absolute terms (less near 0 and 100 %), of a mean relative. Ours."""
    since: str = ""
    """First snapshot to compare with, after a change on purpose; '' for no limit."""

    def check(self, where: str) -> None:
        """Require days enough for a verdict."""
        if self.least_days > self.days:
            raise HearsightError("is more than days", where=f"{where}.least_days", hint="lower it")
