"""Requests made to Google: their cost by the prices of params.yaml, and a dry run's estimate."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from components.core.errors import HearsightError
from components.execution.usage import REQUESTS, total_usage
from components.google.settings import USAGE, Prices, google_params

if TYPE_CHECKING:
    from components.execution.stage import Stage


@dataclass(frozen=True)
class CostLine:
    """The estimate for one feature of one provider."""

    provider: str
    feature: str
    items: int
    """Distinct texts or images, an upper bound."""
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


FEATURES = tuple(Prices.model_fields)


def price_of(units: Mapping[str, int], prices: Prices) -> float:
    """Return the price in US dollars of units by feature, without free units or discounts."""
    table = prices.plain()
    return sum(units.get(feature, 0) * table[feature] for feature in FEATURES) / 1000


@contextmanager
def record_usage(stage: Stage, plan: Mapping[str, Any]) -> Iterator[None]:
    """Count the stage's requests to Google inside the block and log them as metrics.

    Raises:
        HearsightError: an error of the block, with the number and price of the requests made before it.
    """
    if "asking" not in plan:
        yield
        return
    folder, prices = stage.work / USAGE, google_params(stage.project).prices
    shutil.rmtree(folder, ignore_errors=True)  # counts of an earlier run
    try:
        yield
    except HearsightError as error:
        units = total_usage(folder)
        if units[REQUESTS]:
            what = f"{error.what}; this run made {units[REQUESTS]} requests, for ${price_of(units, prices):.4f}"
            raise HearsightError(what, where=error.where, hint=error.hint) from None
        raise
    units = total_usage(folder)
    stage.metric("google_requests", units[REQUESTS])
    for feature in FEATURES:
        stage.metric(f"google_units_{feature}", units[feature])
    stage.metric("google_usd", price_of(units, prices))
