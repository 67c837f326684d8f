"""What was asked of Google, in money: units by feature times the prices of params.yaml; told to the tracker."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from components.core.errors import HearsightError
from components.google.settings import USAGE, Prices, google_params
from components.google.usage import REQUESTS, clear, spent

if TYPE_CHECKING:
    from components.execution.stage import Stage


FEATURES = tuple(Prices.model_fields)


def dollars(units: Mapping[str, int], prices: Prices) -> float:
    """The price of so many units by feature, without free units or discounts."""
    table = prices.plain()
    return sum(units.get(feature, 0) * table[feature] for feature in FEATURES) / 1000


@contextmanager
def counted(stage: Stage, plan: Mapping[str, Any]) -> Iterator[None]:
    """Count what the stage asks of Google inside, and tell the tracker; an error tells what was asked before it."""
    if "asking" not in plan:
        yield
        return
    folder, prices = stage.work / USAGE, google_params(stage.root).prices
    clear(folder)
    try:
        yield
    except HearsightError as error:
        units = spent(folder)
        if units[REQUESTS]:
            told = f"{error.what}; this run made {units[REQUESTS]} requests, for ${dollars(units, prices):.4f}"
            raise HearsightError(told, where=error.where, hint=error.hint) from None
        raise
    units = spent(folder)
    stage.metric("google_requests", units[REQUESTS])
    for feature in FEATURES:
        stage.metric(f"google_units_{feature}", units[feature])
    stage.metric("google_usd", dollars(units, prices))
