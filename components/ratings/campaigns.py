"""Opening a campaign, and replacing its items when the output of ``build_rating_items`` has changed; removing items for good."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256

from sqlalchemy import Connection, bindparam, delete, func, insert, select, text, update

from components.ratings.database import CAMPAIGNS, EVENTS, ITEMS, PLACES

_CHANGE = update(ITEMS).where(ITEMS.c.id == bindparam("what")).values(raters=bindparam("wanted"), retired=bindparam("gone"))


def position_of(dataset: str, key: str) -> int:
    """Return an item's place in the order of the campaign: 48 random bits that stay when other items change."""
    return int.from_bytes(sha256(f"{dataset}\x1f{key}".encode()).digest()[:6], "big")


def open_campaign(connection: Connection, dataset: str, digest: str, items: Mapping[str, int], now: str) -> dict[str, int]:
    """Open or refresh a campaign inside a transaction; see :meth:`components.ratings.store.RatingStore.open_campaign`."""
    row = connection.execute(select(CAMPAIGNS).where(CAMPAIGNS.c.dataset == dataset).with_for_update()).first()
    if row is None:
        values = {"dataset": dataset, "digest": digest, "opened": now}
        campaign = connection.execute(insert(CAMPAIGNS).returning(CAMPAIGNS.c.id), values).scalar_one()
    elif row.digest == digest:
        there = select(func.count()).select_from(ITEMS).where(ITEMS.c.campaign == row.id, ~ITEMS.c.retired)
        return {"added": 0, "retired": 0, "items": connection.execute(there).scalar_one()}
    else:
        campaign = row.id
        connection.execute(update(CAMPAIGNS).where(CAMPAIGNS.c.id == campaign).values(digest=digest))
    known = {item.key: item for item in connection.execute(select(ITEMS).where(ITEMS.c.campaign == campaign)).all()}
    new = [
        {"campaign": campaign, "key": key, "raters": raters, "position": position_of(dataset, key)}
        for key, raters in items.items()
        if key not in known
    ]
    changed, retired, added = [], 0, len(new)
    for key, item in known.items():
        wanted, gone = items.get(key, item.raters), key not in items
        if (wanted, gone) != (item.raters, item.retired):
            changed.append({"what": item.id, "wanted": wanted, "gone": gone})
            retired += gone
            added += item.retired and not gone
    if new:
        connection.execute(insert(ITEMS), new)
    if changed:
        connection.execute(_CHANGE, changed)
    if new and connection.dialect.name == "postgresql":
        connection.execute(
            text("ANALYZE items")
        )  # its planner reads every item for each rating until it knows how many there are
    kind, detail = ("opened" if row is None else "items replaced"), f"{added} added, {retired} retired, digest {digest[:12]}"
    note = {"campaign": campaign, "kind": kind, "rater": "", "item": None, "time": now, "detail": detail}
    connection.execute(insert(EVENTS), note)
    return {"added": added, "retired": retired, "items": len(items)}


def erase_items(connection: Connection, keys: Iterable[str], now: str) -> int:
    """Remove items for good inside a transaction; see :meth:`components.ratings.store.RatingStore.erase`."""
    erased = 0
    for key in keys:
        for row in connection.execute(select(ITEMS.c.id, ITEMS.c.campaign).where(ITEMS.c.key == key)).all():
            connection.execute(select(CAMPAIGNS.c.id).where(CAMPAIGNS.c.id == row.campaign).with_for_update())
            connection.execute(delete(PLACES).where(PLACES.c.item == row.id))
            gone = {"key": f"erased-{row.id}", "retired": True, "position": 0}
            connection.execute(update(ITEMS).where(ITEMS.c.id == row.id).values(**gone))
            note = {"campaign": row.campaign, "kind": "erased", "rater": "", "item": row.id, "time": now, "detail": ""}
            connection.execute(insert(EVENTS), note)
            erased += 1
    return erased
