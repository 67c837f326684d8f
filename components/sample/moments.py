"""The sample server's calendar, and identifiers made from times as Mastodon makes them."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta

from components.core.seeded_rng import seeded_rng

START, TODAY = datetime(2019, 3, 1, tzinfo=UTC), datetime(2024, 6, 30, 21, tzinfo=UTC)
"""First and last moment of the server on day 1. The packages hardly date their files, so dates are drawn."""
RECENT = timedelta(days=6)
"""Most owners have a post this recent, since a tag's timeline is searched seven days back (PCV §4.1)."""
WAKING = (11, 12, 13, 14, 15, 16, 18, 20, 22, 23)
"""Hours (UTC) in which people in Brazil post."""


def number_of(when: datetime, key: str) -> int:
    """Return an identifier that grows with time: milliseconds since 1970, then 16 bits of the key's digest."""
    serial = int.from_bytes(hashlib.sha256(key.encode()).digest()[:2], "big")
    return (int(when.timestamp() * 1000) << 16) | serial


def moment(key: str, earliest: datetime, latest: datetime, power: float) -> datetime:
    """Draw a time between the two, in waking hours if possible; a ``power`` below 1 favours late times."""
    chance = seeded_rng(key, "date")
    when = earliest + (latest - earliest) * chance.random() ** power
    waking = when.replace(hour=chance.choice(WAKING), minute=chance.randrange(60), second=chance.randrange(60))
    return (waking if earliest < waking < latest else when).replace(microsecond=chance.randrange(1000) * 1000)
