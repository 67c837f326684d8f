"""Cost estimate of a dry run: lines of requests and prices, and their sum (``hearsight cost``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class CostLine:
    """The estimate for one feature of one provider."""

    provider: str
    feature: str
    items: int
    """Distinct texts or pictures, an upper bound."""
    cached: int
    """How many of them have a stored answer."""
    requests: int
    units: int
    usd: float

    def plain(self) -> dict[str, Any]:
        """Return the estimate as a row of the table."""
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


def sum_lines(lines: Sequence[CostLine]) -> CostLine:
    """Return the sum of requests, units and dollars. Items are not added: features of one method share them."""
    return CostLine(
        "all", "at most", 0, 0, sum(line.requests for line in lines), sum(line.units for line in lines), sum(x.usd for x in lines)
    )
