"""The audit trail of a running rating."""

from __future__ import annotations

from sqlalchemy import select

from components.ratings.database import CAMPAIGNS, EVENTS
from components.ratings.store import RatingStore


def event_kinds(store: RatingStore, dataset: str) -> list[str]:
    """Return what was noted of a campaign, in order."""
    noted = select(EVENTS.c.kind).join(CAMPAIGNS, CAMPAIGNS.c.id == EVENTS.c.campaign).where(CAMPAIGNS.c.dataset == dataset)
    with store.database.reading() as connection:
        return list(connection.execute(noted.order_by(EVENTS.c.sequence)).scalars())
