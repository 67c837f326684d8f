"""Requests made to Google: counts of billed units by feature, their cost by the prices of params.yaml, and a dry run's estimate.

Counts are in one file per worker; the folder is scratch of one run of one stage, and :func:`total_usage` sums it. A line is
written with each answer, so the counts of a killed worker are complete.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from components.core.errors import HearsightError
from components.google.settings import USAGE, Prices, google_params

if TYPE_CHECKING:
    from components.execution.stage import Stage


import json
import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

REQUESTS = "requests"


class Usage:
    """The counts of one process."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / f"{os.uname().nodename}-{os.getpid()}.jsonl"

    def add(self, counts: Mapping[str, int]) -> None:
        """Add counts to this process's file."""
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(counts, sort_keys=True) + "\n")


def total_usage(folder: Path) -> Counter[str]:
    """Return the summed counts of all processes; a line cut short by a kill is ignored."""
    total: Counter[str] = Counter()
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text(encoding="utf-8").splitlines():
            try:
                total.update({str(name): int(value) for name, value in json.loads(line).items()})
            except (ValueError, TypeError, AttributeError):
                continue
    return total


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
