"""The store of a running rating: raters, assignments and ratings. What a method has returned survives a crash.

A campaign is the rating of one dataset's items. Ratings and events are append-only, which triggers of the database enforce; an
undone rating gets another row. The columns ``answered`` of items and ``state`` of places follow from the ratings and are written
in the same transaction. Times are UTC. Safe for threads and processes.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, bindparam, func, insert, select, update

from components.core.errors import HearsightError
from components.ratings import assignment, summaries
from components.ratings.assignment import SHOWN, VERDICTS, Progress
from components.ratings.campaigns import erase_items, open_campaign
from components.ratings.database import CAMPAIGNS, EVENTS, ITEMS, PLACES, RATERS, RATINGS, Database

UNDONE = "UNDONE"
COUNTED = 20.0
"""Seconds for which the number of a rater's items is kept, since counting them reads every open item."""
_CAMPAIGN_OF = select(RATERS.c.campaign, CAMPAIGNS.c.dataset).join(CAMPAIGNS).where(RATERS.c.id == bindparam("rater"))
_LOCK = select(CAMPAIGNS.c.id).where(CAMPAIGNS.c.id == bindparam("campaign")).with_for_update()
_RATE = insert(RATINGS).returning(RATINGS.c.sequence)
_TAKE = (
    update(PLACES)
    .where(PLACES.c.rater == bindparam("who"), PLACES.c.item == bindparam("what"))
    .values(state=bindparam("new"), shown=bindparam("when"), sequence=bindparam("rating"))
)
_COUNT = update(ITEMS).where(ITEMS.c.id == bindparam("what")).values(answered=ITEMS.c.answered + bindparam("more"))
_LAST = (
    select(PLACES.c.item, ITEMS.c.key)
    .join(ITEMS, ITEMS.c.id == PLACES.c.item)
    .where(PLACES.c.rater == bindparam("rater"), PLACES.c.state.in_(VERDICTS), ~ITEMS.c.retired)
    .order_by(PLACES.c.sequence.desc())
    .limit(1)
)
_LAST_SHOWN = select(func.max(PLACES.c.shown)).where(PLACES.c.rater == bindparam("rater"), PLACES.c.state == SHOWN)


class RefusedRatingError(HearsightError):
    """A rating that came too late or for an item that this rater was not given."""


class RatingStore:
    """Campaigns, raters and ratings in one database.

    Args:
        url: of the database, see :class:`components.ratings.database.Database`.
        clock: seconds since 1970; replaced by tests.
    """

    def __init__(self, url: str, clock: Callable[[], float] = time.time) -> None:
        self.database, self.clock = Database(url), clock
        self._items: dict[str, tuple[float, int | None]] = {}

    def close(self) -> None:
        """Close the database."""
        self.database.close()

    def open_campaign(self, dataset: str, digest: str, items: Mapping[str, int]) -> dict[str, int]:
        """Open a dataset's campaign, or replace its items; ratings of unchanged keys stay.

        Args:
            digest: of the manifest of the items; an equal one changes nothing.
            items: key → raters wanted.

        Returns:
            How many items were added, retired, and are there now.
        """
        with self.database.writing(alone=True) as connection:
            changes = open_campaign(connection, dataset, digest, items, self._now())
        self._items.clear()
        return changes

    def invite(self, dataset: str, count: int = 1) -> list[str]:
        """Return identifiers of new raters of a campaign.

        Raises:
            HearsightError: the campaign was not opened.
        """
        with self.database.writing() as connection:
            campaign = connection.execute(select(CAMPAIGNS.c.id).where(CAMPAIGNS.c.dataset == dataset)).scalar()
            if campaign is None:
                raise HearsightError("no rating was opened", where=dataset, hint=f"run `hearsight ratings open -d {dataset}`")
            raters = [f"r-{secrets.token_hex(5)}" for _ in range(count)]
            if raters:
                connection.execute(insert(RATERS), [{"id": r, "campaign": campaign, "created": self._now()} for r in raters])
            for rater in raters:
                self._note(connection, campaign, "invited", rater)
            return raters

    def raters(self, dataset: str, invited: bool = False) -> set[str]:
        """Return the identifiers of all raters of a campaign; with ``invited`` without those who were revoked."""
        with self.database.reading() as connection:
            return summaries.raters(connection, dataset) - (assignment.revoked(connection) if invited else set())

    def dataset_of(self, rater: str) -> str:
        """Return the dataset that a rater was invited to; raises HearsightError for an unknown rater."""
        return self._campaign_of(rater)[1]

    def join(self, rater: str) -> None:
        """Note that a rater has opened the invitation; raises HearsightError for an unknown or revoked rater."""
        campaign, _ = self._campaign_of(rater)
        with self._campaign(campaign, rater) as connection:
            self._note(connection, campaign, "joined", rater)

    def revoke(self, raters: Iterable[str]) -> list[str]:
        """End invitations and sessions of raters; return those that were valid. Raises HearsightError for an unknown one."""
        campaigns = {rater: self._campaign_of(rater) for rater in raters}
        with self.database.writing(alone=True) as connection:
            for campaign in sorted({campaign for campaign, _ in campaigns.values()}):
                self._lock(connection, campaign)  # a rating in flight is saved before, or refused after
            revoked = assignment.revoke(connection, list(campaigns), self._now())
            for rater in revoked:
                self._note(connection, campaigns[rater][0], "revoked", rater)
        return revoked

    def require_invited(self, rater: str) -> None:
        """Raise RevokedError for a rater whose invitation was revoked."""
        with self.database.reading() as connection:
            assignment.require_invited(connection, rater)

    def next_item(self, rater: str) -> str | None:
        """Return the key of the item to show to a rater, reserved for them; None when nothing is free."""
        campaign, _ = self._campaign_of(rater)
        with self.database.reading() as connection:  # mostly the item is reserved already, by the answer to the last one
            held = assignment.held_item(connection, rater, self.clock())
        if held is not None and held[1]:
            return held[0]
        with self._campaign(campaign, rater) as connection:
            return assignment.assign(connection, campaign, rater, self.clock())

    def save(self, rater: str, item: str, verdict: str, seconds: float | None = None) -> None:
        """Save a rating and reserve the rater's next item. The same rating again changes nothing, another verdict replaces it.

        Args:
            item: its key.
            verdict: GOOD or BAD.
            seconds: from showing to answering; by default since the item was shown.

        Raises:
            RefusedRatingError: the rater was not given the item, it was removed, or the reservation ended and others rated it.
            RevokedError: the invitation was revoked; nothing is saved from then on.
        """
        if verdict not in VERDICTS:
            raise HearsightError(f"'{verdict}' is no verdict", hint=f"give {' or '.join(VERDICTS)}")
        campaign, _ = self._campaign_of(rater)
        with self._campaign(campaign, rater) as connection:
            now = self.clock()
            place = assignment.find_place(connection, campaign, rater, item, now)
            refusal = place.refusal if place else "this item was not given to you"
            if refusal or place is None:
                known = place.item if place else None
                self._note(connection, campaign, "refused", rater, known, refusal)
                if place is not None and place.state not in VERDICTS:
                    assignment.lose(connection, rater, place.item)
            elif place.state != verdict:
                seconds = max(0.0, now - place.shown) if seconds is None else seconds
                sequence = self._append(connection, campaign, place.item, rater, verdict, seconds)
                move = {"who": rater, "what": place.item, "new": verdict, "when": place.shown, "rating": sequence}
                connection.execute(_TAKE, move)
                if place.state not in VERDICTS:
                    connection.execute(_COUNT, {"what": place.item, "more": 1})
                assignment.assign(connection, campaign, rater, now)
        if refusal:
            raise RefusedRatingError(refusal, hint="go on with the next one")

    def undo(self, rater: str) -> str | None:
        """Make the rater's last rating void and return its item's key, which is shown to this rater again; None without one."""
        campaign, _ = self._campaign_of(rater)
        with self._campaign(campaign, rater) as connection:
            last = connection.execute(_LAST, {"rater": rater}).first()
            if last is None:
                return None
            shown = connection.execute(_LAST_SHOWN, {"rater": rater}).scalar() or 0.0
            self._append(connection, campaign, last.item, rater, UNDONE, 0.0)
            when = max(self.clock(), shown + 0.001)  # the last one shown is the current one
            connection.execute(_TAKE, {"who": rater, "what": last.item, "new": SHOWN, "when": when, "rating": None})
            connection.execute(_COUNT, {"what": last.item, "more": -1})
            self._note(connection, campaign, "undone", rater, last.item)
            return str(last.key)

    def was_shown(self, rater: str, item: str) -> bool:
        """Return whether an item was given to a rater, who may then see its image."""
        campaign, _ = self._campaign_of(rater)
        with self.database.reading() as connection:
            place = assignment.find_place(connection, campaign, rater, item, self.clock())
            return place is not None and not place.retired

    def progress(self, rater: str) -> Progress:
        """Return how far a rater is; what others have completed counts after :data:`COUNTED` s at most."""
        campaign, _ = self._campaign_of(rater)
        now, (then, items) = self.clock(), self._items.get(rater, (-COUNTED, None))
        known = items if now - then < COUNTED else None
        with self.database.reading() as connection:
            found = assignment.progress(connection, campaign, rater, known)
        if known is None or not found.left:
            self._items[rater] = (now, found.items)
        return found

    def campaigns(self) -> list[summaries.CampaignProgress]:
        """Return how far every campaign is, by dataset."""
        with self.database.reading() as connection:
            return summaries.campaigns(connection)

    def final_ratings(self, dataset: str) -> list[dict[str, Any]]:
        """Return the last verdict of each item and rater that is not undone, in the order of rating, without removed items."""
        with self.database.reading() as connection:
            return summaries.final_ratings(connection, dataset)

    def note_export(self, dataset: str, ratings: int) -> None:
        """Note in the audit trail that ratings were exported."""
        with self.database.writing() as connection:
            campaign = connection.execute(select(CAMPAIGNS.c.id).where(CAMPAIGNS.c.dataset == dataset)).scalar_one()
            self._note(connection, campaign, "exported", detail=f"{ratings} ratings")

    def item_keys(self) -> list[str]:
        """Return the keys of all items, of retired ones too."""
        with self.database.reading() as connection:
            return list(connection.execute(select(ITEMS.c.key)).scalars())

    def erase(self, keys: Iterable[str]) -> int:
        """Remove items for good, in every campaign; return how many were there.

        Ratings are append-only and stay, under a number that leads to no key any more.
        """
        with self.database.writing(alone=True) as connection:
            return erase_items(connection, keys, self._now())

    @contextmanager
    def _campaign(self, campaign: int, rater: str) -> Iterator[Connection]:
        """Give a transaction of an invited rater that no other one of the campaign overlaps."""
        with self.database.writing() as connection:
            self._lock(connection, campaign)
            assignment.require_invited(connection, rater)
            yield connection

    def _lock(self, connection: Connection, campaign: int) -> None:
        if not self.database.sqlite:  # whose writers wait for each other anyway
            connection.execute(_LOCK, {"campaign": campaign})

    def _campaign_of(self, rater: str) -> tuple[int, str]:
        with self.database.reading() as connection:
            row = connection.execute(_CAMPAIGN_OF, {"rater": rater}).first()
        if row is None:
            raise HearsightError("there is no such rater", hint="ask for a new invitation")
        return row.campaign, row.dataset

    def _now(self) -> str:
        return datetime.fromtimestamp(self.clock(), UTC).strftime("%Y-%m-%dT%H:%M:%SZ")

    def _append(self, connection: Connection, campaign: int, item: int, rater: str, verdict: str, seconds: float) -> int:
        values = {"campaign": campaign, "item": item, "rater": rater, "verdict": verdict}
        sequence: int = connection.execute(_RATE, values | {"time": self._now(), "seconds": round(seconds, 2)}).scalar_one()
        return sequence

    def _note(
        self, connection: Connection, campaign: int, kind: str, rater: str = "", item: int | None = None, detail: str = ""
    ) -> None:
        values = {"campaign": campaign, "kind": kind, "rater": rater, "item": item, "time": self._now(), "detail": detail}
        connection.execute(insert(EVENTS), values)
