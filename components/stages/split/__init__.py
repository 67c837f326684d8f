"""split: train, validation and test: by group for pages, by owner for posts, by text for spoken sets, or as published.

``by: group`` draws each group of near-duplicates by its key and the seed alone: adding pages tomorrow moves no record that is
there today. Shares are therefore approximate, as close as the number of groups allows. ``by: owner`` keeps all posts of an
account on one side, close to the shares, and remembers the sides (``owners``, ``sides``). ``by: text`` parts neither a text nor a
picture (``text``), ``by: published`` reads lists (``published``); both take candidates as well, as they stand (``records``).
Source: Conceptual Captions section 3 (table 3); #PraCegoVer section 4.3.4. Not in scope: cleaning the test split by raters.
"""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable

from components.core.account_names import normalise_account
from components.core.errors import HearsightError
from components.core.ledger import dropped, kept, ledger_table
from components.core.params import Settings
from components.core.seeded_rng import seeded_rng
from components.execution.stage import Stage
from components.stages.split.assignments import opened
from components.stages.split.owners import Placed, Post, place, shares_of
from components.stages.split.published import Lists, split_as_published
from components.stages.split.records import ACROSS, SPLITS, is_grouped, shares_asked
from components.stages.split.text import split_by_text

__all__ = ["ACROSS", "CLOSE", "SPLITS", "Params", "run", "split_of"]
CLOSE = 0.01
"""How far a side may be from its share while no owner holds more than that (MISSION P6)."""
log = logging.getLogger(__name__)


class Params(Settings):
    """Settings of split."""

    by: str
    """group: near-duplicates never part; owner: an account's posts never part either; text: nor do equal captions or pictures;
    published: as lists of picture names say."""
    seed: int
    """Seed of the draw."""
    validation: float
    """Share that goes to validation: of the groups, or of the posts."""
    test: float
    """Share that goes to test."""
    sides: str
    """With by: owner, the name of the file that remembers owners' sides (data/store/sides); else empty."""
    lists: Lists | None = None
    """With by: published, the lists; left out otherwise."""


def split_of(group: str, seed: int, validation: float, test: float) -> str:
    """The split of one group; shares are of 1, and what is left is train."""
    position = seeded_rng(seed, group, "split").random()
    if position < test:
        return "test"
    return "validation" if position < test + validation else "train"


def run(stage: Stage) -> None:
    """Write each shard with its records' splits."""
    params, where = stage.params, f"params.yaml: {stage.dataset}.split"
    if min(params.validation, params.test) < 0 or params.validation + params.test >= 1:
        raise HearsightError(
            f"validation {params.validation} and test {params.test} leave nothing to train on",
            where=where,
            hint="give shares of at least 0 that sum to less than 1",
        )
    if params.by not in WAYS:
        raise HearsightError(f"'{params.by}' is nothing to split by", where=f"{where}.by", hint=f"use one of {', '.join(WAYS)}")
    if (params.by == "published") != (params.lists is not None):
        what = "is missing" if params.lists is None else f"is set, but by: {params.by} reads none"
        raise HearsightError(what, where=f"{where}.lists", hint="name its files for by: published, leave it out otherwise")
    if params.by == "published" and (params.validation or params.test):
        raise HearsightError("lists tell the sides, not shares", where=where, hint="set validation and test to 0.0")
    if (params.by == "owner") != bool(params.sides):
        hint = (
            "name the file that remembers them" if params.by == "owner" else "leave it empty: only owners' sides are remembered"
        )
        raise HearsightError(f"is '{params.sides}' though the split is by {params.by}", where=f"{where}.sides", hint=hint)
    if params.by in ("group", "owner") and not is_grouped(stage.inputs["input"]):
        raise HearsightError(
            f"by: {params.by} needs groups, and {stage.inputs['input'].name} has none",
            where=f"{where}.by",
            hint="put dedup before it, or use 'text' or 'published'",
        )
    WAYS[params.by](stage)


def _by_group(stage: Stage) -> None:
    import pyarrow as pa

    params = stage.params
    counts = dict.fromkeys(SPLITS, 0)
    for shard in stage.inputs["input"].shards:
        table = shard.read()
        splits = [split_of(group, params.seed, params.validation, params.test) for group in table.column("group").to_pylist()]
        for name in splits:
            counts[name] += 1
        ledger = [kept(key, detail=name) for key, name in zip(table.column("key").to_pylist(), splits, strict=True)]
        stage.write_shard(shard.name, table.append_column("split", pa.array(splits, pa.string())), ledger_table(ledger))
    for name, count in counts.items():
        stage.metric(f"records_{name}", count)


def _by_owner(stage: Stage) -> None:
    import pyarrow as pa

    params = stage.params
    shares = shares_asked(params)
    posts = _posts(stage)
    # The project is where the caches lie: a test's stage has its code elsewhere.
    with opened(stage.state.parent, params.sides, params.seed, shares) as sides:
        known = sides.of({post.owner for post in posts.values() if post.owner})
        placed = place(
            list(posts.values()),
            shares,
            params.seed,
            known,
            lambda key: split_of(key, params.seed, params.validation, params.test),
        )
        stage.note_parent(f"sides {params.sides}", sides.remember(placed.owners))
    stays: list[Post] = []
    for shard in stage.inputs["input"].shards:
        table = shard.read()
        rows, splits, ledger = [], [], []
        for index, key in enumerate(table.column("key").to_pylist()):
            post = posts[key]
            own, led = placed.side(post)
            if own == led:
                rows.append(index)
                splits.append(own)
                stays.append(post)
                ledger.append(kept(key, detail=own))
            else:
                value = f"same picture as {placed.leaders[post.group].key} in {led}"
                ledger.append(dropped(key, ACROSS, value, "one side a picture", detail=f"its owner is in {own}"))
        table = table.take(pa.array(rows, pa.int64()))
        stage.write_shard(shard.name, table.append_column("split", pa.array(splits, pa.string())), ledger_table(ledger))
    _measure(stage, placed, stays, shares, len(placed.owners) - len(known))


def _posts(stage: Stage) -> dict[str, Post]:
    columns = ["key", "group", "owner", "collected", "posted"]
    table = stage.inputs["input"].table(columns)
    rows = zip(*(table.column(name).to_pylist() for name in columns), strict=True)
    return {key: Post(key, group, normalise_account(owner) or "", *times) for key, group, owner, *times in rows}


def _measure(stage: Stage, placed: Placed, stays: list[Post], shares: dict[str, float], new: int) -> None:
    records = Counter(placed.side(post)[0] for post in stays)
    held = Counter(post.owner for post in stays if post.owner)
    owners = Counter(placed.owners[owner] for owner in held)
    off = shares_of(records.elements(), shares)
    largest = max(held.values(), default=0) / len(stays) if stays else 0.0
    worst = max(abs(value) for value in off.values())
    for name in SPLITS:
        stage.metric(f"records_{name}", records[name])
        stage.metric(f"owners_{name}", owners[name])
        stage.metric(f"deviation_{name}", off[name])
    for name, value in (
        ("deviation", worst),
        ("largest_owner_share", largest),
        ("owners", len(held)),
        ("owners_new", new),
        ("records_without_owner", sum(not post.owner for post in stays)),
    ):
        stage.metric(name, value)
    if worst > CLOSE:
        why = (
            f"one owner holds {largest:.1%} of the posts, and all of an owner's posts are on one side"
            if largest > CLOSE
            else "owners that have their sides already grew unevenly, or groups and posts without owners are few and large"
        )
        found = ", ".join(f"{name} {shares[name] + off[name]:.1%}" for name in SPLITS)
        log.warning("split: %s holds %s, which is off by up to %.1f points: %s", stage.dataset, found, worst * 100, why)


WAYS: dict[str, Callable[[Stage], None]] = {
    "group": _by_group,
    "owner": _by_owner,
    "text": split_by_text,
    "published": split_as_published,
}
"""``split.by`` → what does it."""
