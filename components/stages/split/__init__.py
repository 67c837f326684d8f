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
from collections.abc import Callable, Mapping
from typing import Any, Literal

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

    by: Literal["group", "owner", "text", "published"] = "group"
    """group: near-duplicates never part; owner: an account's posts never part either; text: nor do equal captions or pictures;
    published: as lists of picture names say."""

    @classmethod
    def of(cls, block: Mapping[str, Any]) -> type[Settings]:
        """Return the class of the way that ``by`` names."""
        return KINDS.get(str(block.get("by", "group")), cls)


class ByGroup(Params):
    """Near-duplicates never part."""

    by: Literal["group"] = "group"
    """Near-duplicates never part."""
    seed: int = 1
    """Seed of the draw. Ours."""
    validation: float = 0.0084
    """Share of the groups that goes to validation. CC table 3: 28,355 of 3,369,218."""
    test: float = 0.0067
    """Share of the groups that goes to test. CC table 3: 22,530 of 3,369,218."""


class ByOwner(Params):
    """An account's posts never part, nor do near-duplicates (PCV §4.3.4)."""

    by: Literal["owner"] = "owner"
    """An account's posts never part, nor do near-duplicates."""
    seed: int = 1
    """Seed of the draw. Ours."""
    validation: float = 0.2
    """Share of the posts that goes to validation. PCV §4.3.4: .2."""
    test: float = 0.2
    """Share of the posts that goes to test. PCV §4.3.4: .2."""
    sides: str = ""
    """The name of the file that remembers owners' sides (data/store/sides); has to be given."""


class ByText(Params):
    """Equal captions or pictures never part."""

    by: Literal["text"] = "text"
    """Equal captions or pictures never part."""
    seed: int = 1
    """Seed of the draw. Ours."""
    validation: float = 0.125
    """Share of the texts that goes to validation. CSC §2.3: 1,000 of 8,000 images."""
    test: float = 0.125
    """Share of the texts that goes to test. CSC §2.3: 1,000 of 8,000 images."""


class Published(Params):
    """As lists of picture names say."""

    by: Literal["published"] = "published"
    """As lists of picture names say."""
    lists: Lists = Lists()
    """The lists; one at least has to be given."""


KINDS: dict[str, type[Params]] = {"group": ByGroup, "owner": ByOwner, "text": ByText, "published": Published}
"""``split.by`` → the class of its settings."""


def split_of(group: str, seed: int, validation: float, test: float) -> str:
    """The split of one group; shares are of 1, and what is left is train."""
    position = seeded_rng(seed, group, "split").random()
    if position < test:
        return "test"
    return "validation" if position < test + validation else "train"


def run(stage: Stage) -> None:
    """Write each shard with its records' splits."""
    params, where = stage.params, f"params.yaml: {stage.dataset}.split"
    if not isinstance(params, Published) and (min(params.validation, params.test) < 0 or params.validation + params.test >= 1):
        raise HearsightError(
            f"validation {params.validation} and test {params.test} leave nothing to train on",
            where=where,
            hint="give shares of at least 0 that sum to less than 1",
        )
    if isinstance(params, ByOwner) and not params.sides:
        raise HearsightError("is empty", where=f"{where}.sides", hint="name the file that remembers the owners' sides")
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
