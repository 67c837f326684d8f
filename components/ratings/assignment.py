"""Which item a rater sees next, inside a transaction that no other one of the campaign overlaps.

Items are given out in a seeded order of the campaign, so that they are completed one after the other however few raters there
are. Each rater chooses among the first :data:`WINDOW` free ones by an order of their own, so that no two see the same order. An
item has a free place while its valid ratings and its reservations are fewer than its raters. A reservation ends after
:data:`HOLD` s without an answer; its item is then given to others, and the rater sees it again only while a place is free.
Links and sessions of a revoked invitation end at once; the ratings that were given stay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

from sqlalchemy import (
    Column,
    Connection,
    ForeignKey,
    Integer,
    String,
    Table,
    and_,
    bindparam,
    cast,
    func,
    insert,
    literal,
    or_,
    select,
    update,
)

from components.core.errors import HearsightError
from components.ratings.database import ITEMS, METADATA, PLACES

WINDOW = 64
HOLD = 1800.0
"""Seconds that an item is reserved for a rater."""
SHOWN, LOST, GOOD, BAD = "SHOWN", "LOST", "GOOD", "BAD"
"""States of a place. LOST: the reservation ended and others took the place; the rater does not see the item again."""
VERDICTS = (GOOD, BAD)
RENEWED = 60.0
"""Seconds after which showing an item again renews its reservation."""

_RESERVED = (
    select(PLACES.c.item, func.count().label("places"))
    .where(PLACES.c.state == SHOWN, PLACES.c.shown > bindparam("since"), PLACES.c.rater != bindparam("rater"))
    .group_by(PLACES.c.item)
    .subquery("reserved")
)
"""Reservations by others; as many rows as there are raters at work."""
_FREE = ITEMS.c.answered + func.coalesce(_RESERVED.c.places, 0) < ITEMS.c.raters
_SEEN = select(PLACES.c.item).where(PLACES.c.rater == bindparam("rater"), PLACES.c.item == ITEMS.c.id).exists()
_OPEN = and_(ITEMS.c.campaign == bindparam("campaign"), ITEMS.c.answered < ITEMS.c.raters, ~ITEMS.c.retired)
_HELD = (
    select(ITEMS.c.id, ITEMS.c.key, PLACES.c.shown, or_(PLACES.c.shown > bindparam("since"), _FREE).label("free"))
    .join(PLACES, PLACES.c.item == ITEMS.c.id)
    .outerjoin(_RESERVED, _RESERVED.c.item == ITEMS.c.id)
    .where(PLACES.c.rater == bindparam("rater"), PLACES.c.state == SHOWN, ~ITEMS.c.retired)
    .order_by(PLACES.c.shown.desc())
)
_CURRENT = _HELD.limit(1)
_CANDIDATES = (
    select(ITEMS.c.id, ITEMS.c.key)
    .outerjoin(_RESERVED, _RESERVED.c.item == ITEMS.c.id)
    .where(_OPEN, ~_SEEN, _FREE)
    .order_by(ITEMS.c.position)
    .limit(WINDOW)
)
_LEFT = select(func.count()).select_from(ITEMS).where(_OPEN, ~_SEEN)
_MOVE = update(PLACES).where(PLACES.c.rater == bindparam("who"), PLACES.c.item == bindparam("what"))
_RENEW = _MOVE.values(shown=bindparam("now"))
_LOSE = _MOVE.values(state=LOST)
_RESERVE = insert(PLACES)
_PLACE = (
    select(ITEMS.c.id, ITEMS.c.retired, _FREE.label("free"), PLACES.c.state, PLACES.c.shown)
    .join(PLACES, and_(PLACES.c.item == ITEMS.c.id, PLACES.c.rater == bindparam("rater")))
    .outerjoin(_RESERVED, _RESERVED.c.item == ITEMS.c.id)
    .where(ITEMS.c.campaign == bindparam("campaign"), ITEMS.c.key == bindparam("key"))
)
_COUNTS = (
    select(
        func.coalesce(func.sum(cast(PLACES.c.state.in_(VERDICTS), Integer)), literal(0)).label("answered"),
        func.coalesce(func.sum(cast(PLACES.c.state == SHOWN, Integer)), literal(0)).label("held"),
    )
    .join_from(PLACES, ITEMS, PLACES.c.item == ITEMS.c.id)
    .where(PLACES.c.rater == bindparam("rater"), ~ITEMS.c.retired)
)


@dataclass(frozen=True)
class Place:
    """What a rater has to do with an item."""

    item: int
    state: str
    shown: float
    retired: bool
    held: bool
    """Whether the reservation is valid, or a place is free although it ended."""

    @property
    def refusal(self) -> str:
        """Why a rating is refused; empty when it is accepted."""
        if self.retired:
            return "this item was removed"
        late = self.state not in VERDICTS and not self.held
        return "the answer came late, and others have rated the item meanwhile" if late else ""


@dataclass(frozen=True)
class Progress:
    """How far a rater is."""

    answered: int
    left: int
    """Items that this rater may still be asked for; it falls, too, when others complete some."""

    @property
    def items(self) -> int:
        """All of the rater's items, as far as known now."""
        return self.answered + self.left


def held_item(connection: Connection, rater: str, now: float) -> tuple[str, bool] | None:
    """Return the key of the rater's reserved item and whether its reservation needs no renewal; None without one."""
    row = connection.execute(_CURRENT, {"rater": rater, "since": now - HOLD}).first()
    return (row.key, now - row.shown < RENEWED) if row is not None and row.free else None


def assign(connection: Connection, campaign: int, rater: str, now: float) -> str | None:
    """Return the key of the rater's reserved item, or reserve the next one; None when nothing is free for this rater."""
    whose = {"rater": rater, "since": now - HOLD}
    for row in connection.execute(_HELD, whose).all():
        change = {"who": rater, "what": row.id}
        if row.free:
            # Never earlier than another one of the rater's, so that the last shown item stays the current one.
            connection.execute(_RENEW, change | {"now": max(now, row.shown)})
            return str(row.key)
        connection.execute(_LOSE, change)
    candidates = connection.execute(_CANDIDATES, whose | {"campaign": campaign}).all()
    if not candidates:
        return None
    chosen = min(candidates, key=lambda row: sha256(f"{rater}\x1f{row.key}".encode()).digest())
    connection.execute(_RESERVE, {"rater": rater, "item": chosen.id, "state": SHOWN, "shown": now})
    return str(chosen.key)


def find_place(connection: Connection, campaign: int, rater: str, key: str, now: float) -> Place | None:
    """Return the rater's place at an item; None when the item was not shown to this rater."""
    row = connection.execute(_PLACE, {"rater": rater, "campaign": campaign, "key": key, "since": now - HOLD}).first()
    if row is None:
        return None
    return Place(row.id, row.state, row.shown, row.retired, row.shown > now - HOLD or bool(row.free))


def lose(connection: Connection, rater: str, item: int) -> None:
    """Note that the rater's place was taken by others."""
    connection.execute(_LOSE, {"who": rater, "what": item})


def progress(connection: Connection, campaign: int, rater: str, items: int | None = None) -> Progress:
    """Return how many items the rater has answered, and how many may still come.

    Args:
        items: how many there were a moment ago, which saves counting them.
    """
    counts = connection.execute(_COUNTS, {"rater": rater}).one()
    if items is not None:
        return Progress(counts.answered, max(counts.held, items - counts.answered))
    left = connection.execute(_LEFT, {"rater": rater, "campaign": campaign}).scalar_one()
    return Progress(counts.answered, counts.held + left)


REVOKED = Table(
    "revoked",
    METADATA,
    Column("rater", ForeignKey("raters.id"), primary_key=True),
    Column("time", String, nullable=False),
)
"""Raters whose invitations are void. A table of its own, so that databases of earlier versions get it when they are opened."""
_FIND = select(REVOKED.c.rater).where(REVOKED.c.rater == bindparam("rater"))
_RELEASE = update(PLACES).where(PLACES.c.rater == bindparam("who"), PLACES.c.state == SHOWN).values(state=LOST)


class RevokedError(HearsightError):
    """A rater whose invitation was revoked asks for something."""


def revoke(connection: Connection, raters: Sequence[str], now: str) -> list[str]:
    """Make the invitations of raters void and give their reserved items to others; return those that were not void before."""
    new = [rater for rater in dict.fromkeys(raters) if connection.execute(_FIND, {"rater": rater}).first() is None]
    for rater in new:
        connection.execute(insert(REVOKED), {"rater": rater, "time": now})
        connection.execute(_RELEASE, {"who": rater})
    return new


def revoked(connection: Connection) -> set[str]:
    """Return all raters whose invitations were revoked."""
    return set(connection.execute(select(REVOKED.c.rater)).scalars())


def require_invited(connection: Connection, rater: str) -> None:
    """Raise RevokedError when a rater's invitation was revoked."""
    if connection.execute(_FIND, {"rater": rater}).first() is not None:
        raise RevokedError("your invitation was revoked", hint="ask for a new one")
