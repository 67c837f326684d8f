"""Revoked invitations: their links and sessions end at once; the ratings that were given stay."""

from __future__ import annotations

from collections.abc import Sequence

from sqlalchemy import Column, Connection, ForeignKey, String, Table, bindparam, insert, select, update

from components.core.errors import HearsightError
from components.ratings.assignment import LOST, SHOWN
from components.ratings.database import METADATA, PLACES

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
