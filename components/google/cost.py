"""Cost of the requests made to Google: units by feature times the prices of params.yaml, logged as metrics."""

from __future__ import annotations

import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from components.core.errors import HearsightError
from components.google.settings import USAGE, Prices, google_params
from components.google.usage import REQUESTS, total_usage

if TYPE_CHECKING:
    from components.execution.stage import Stage


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
