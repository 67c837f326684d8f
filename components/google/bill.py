"""What a dry run says of a service: lines of what would be asked, for how much, and their sum (``hearsight cost``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Line:
    """One feature of one provider."""

    provider: str
    feature: str
    items: int
    """Distinct texts or pictures that it would be asked about at most."""
    cached: int
    """Of these, how many are answered already."""
    requests: int
    units: int
    usd: float

    def plain(self) -> dict[str, Any]:
        """As a line of the table."""
        return {
            "provider": self.provider,
            "feature": self.feature,
            "items": self.items,
            "cached": self.cached,
            "to_ask": self.items - self.cached,
            "requests": self.requests,
            "units": self.units,
            "usd": round(self.usd, 4),
        }


def total(lines: Sequence[Line]) -> Line:
    """The sum. Features of one method share their requests and items: only requests, units and money add up."""
    return Line(
        "all", "at most", 0, 0, sum(line.requests for line in lines), sum(line.units for line in lines), sum(x.usd for x in lines)
    )
