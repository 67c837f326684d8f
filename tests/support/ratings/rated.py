"""Small rating items and ratings as rows, for tests of whatever counts them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from components.core.records import RATING, RATING_ITEM
from tests.support import row


def use(table: str, source: str, query: str, **values: Any) -> dict[str, Any]:
    """Return one use of an item."""
    place = {"direction": "", "candidate": "", "rank": 0, "known": table in ("dataset", "truth")}
    return {"table": table, "source": source, "query": query} | place | values


def item(number: int, *uses: dict[str, Any], raters: int = 3, crop: str = "whole", **values: Any) -> dict[str, Any]:
    """Return a RATING_ITEM record, keyed by its number."""
    shown = {"image_sha256": f"{number:064x}", "caption": f"caption {number}", "language": "en", "image": f"00000/{number}.jpg"}
    return row("build_rating_items", key=key(number), raters=raters, crop=crop, uses=list(uses), **{**shown, **values})


def key(number: int) -> str:
    """Return the key of an item."""
    return f"{number:016x}"


def rating(number: int, rater: str, verdict: str, time: int = 0) -> dict[str, Any]:
    """Return a RATING record of an item; ``time`` is in seconds."""
    place = {"query": "", "candidate": "", "rank": 0}
    told = {"time": f"2026-01-01T{time // 3600:02}:{time // 60 % 60:02}:{time % 60:02}.000000Z", "seconds": 1.5, "source": "csv"}
    return {"key": f"{key(number)}.{rater}", "item": key(number), "rater": rater, "verdict": verdict} | place | told


def items_table(*rows: dict[str, Any]) -> pa.Table:
    """Return items as a table."""
    return pa.Table.from_pylist(list(rows), schema=RATING_ITEM)


def ratings_table(*rows: dict[str, Any]) -> pa.Table:
    """Return ratings as a table."""
    return pa.Table.from_pylist(list(rows), schema=RATING)


def votes_of(number: int, verdicts: str, start: int = 0) -> list[dict[str, Any]]:
    """Return the ratings of an item, a letter each (g or b), by raters a, b, c ... one after the other."""
    return [
        rating(number, "abcdefgh"[place], "GOOD" if letter == "g" else "BAD", start + place)
        for place, letter in enumerate(verdicts)
    ]
