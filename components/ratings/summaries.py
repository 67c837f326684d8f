"""What is read from a running rating: how far campaigns are, final ratings, and raters."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy import Connection, Integer, and_, bindparam, case, cast, func, select

from components.ratings.assignment import VERDICTS
from components.ratings.database import CAMPAIGNS, ITEMS, PLACES, RATERS, RATINGS

_complete = ITEMS.c.answered >= ITEMS.c.raters
_PROGRESS = (
    select(
        CAMPAIGNS.c.id,
        CAMPAIGNS.c.dataset,
        CAMPAIGNS.c.digest,
        CAMPAIGNS.c.opened,
        func.count(ITEMS.c.id).label("items"),
        func.coalesce(func.sum(cast(_complete, Integer)), 0).label("complete"),
        func.coalesce(func.sum(case((_complete, ITEMS.c.raters), else_=ITEMS.c.answered)), 0).label("ratings"),
        func.coalesce(func.sum(ITEMS.c.raters), 0).label("wanted"),
    )
    .outerjoin(ITEMS, and_(ITEMS.c.campaign == CAMPAIGNS.c.id, ~ITEMS.c.retired))
    .group_by(CAMPAIGNS.c.id)
    .order_by(CAMPAIGNS.c.dataset)
)
_ACTIVE = (
    select(RATERS.c.campaign, func.count(func.distinct(RATERS.c.id)).label("raters"))
    .join(PLACES, and_(PLACES.c.rater == RATERS.c.id, PLACES.c.state.in_(VERDICTS)))
    .group_by(RATERS.c.campaign)
)
_FINAL = (
    select(ITEMS.c.key.label("item"), RATINGS.c.rater, RATINGS.c.verdict, RATINGS.c.time, RATINGS.c.seconds)
    .join_from(PLACES, RATINGS, PLACES.c.sequence == RATINGS.c.sequence)
    .join(ITEMS, ITEMS.c.id == RATINGS.c.item)
    .join(CAMPAIGNS, CAMPAIGNS.c.id == ITEMS.c.campaign)
    .where(CAMPAIGNS.c.dataset == bindparam("dataset"), PLACES.c.state.in_(VERDICTS), ~ITEMS.c.retired)
    .order_by(RATINGS.c.sequence)
)
_RATERS = select(RATERS.c.id).join(CAMPAIGNS).where(CAMPAIGNS.c.dataset == bindparam("dataset"))


@dataclass(frozen=True)
class CampaignProgress:
    """How far a campaign is."""

    dataset: str
    digest: str
    opened: str
    items: int
    complete: int
    """Items with as many ratings as wanted."""
    ratings: int
    """Valid ratings, counted up to what is wanted."""
    wanted: int
    raters: int
    """Raters with a valid rating."""

    @property
    def finished(self) -> bool:
        """Whether every item has all ratings."""
        return self.complete == self.items

    def plain(self) -> dict[str, Any]:
        """Return it for JSON."""
        return {**asdict(self), "finished": self.finished}


def campaigns(connection: Connection) -> list[CampaignProgress]:
    """Return how far every campaign is, by dataset."""
    active = {row.campaign: row.raters for row in connection.execute(_ACTIVE)}
    rows = connection.execute(_PROGRESS).all()
    names = ("dataset", "digest", "opened", "items", "complete", "ratings", "wanted")
    return [CampaignProgress(**{name: getattr(row, name) for name in names}, raters=active.get(row.id, 0)) for row in rows]


def final_ratings(connection: Connection, dataset: str) -> list[dict[str, Any]]:
    """Return item, rater, verdict, time and seconds of each valid rating."""
    return [dict(row._mapping) for row in connection.execute(_FINAL, {"dataset": dataset})]


def raters(connection: Connection, dataset: str) -> set[str]:
    """Return the identifiers of all raters of a campaign."""
    return set(connection.execute(_RATERS, {"dataset": dataset}).scalars())
