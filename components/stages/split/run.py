"""Run split: assign each record to train, validation or test."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Callable

from components.core.addresses import main_project
from components.core.errors import HearsightError
from components.core.hashtags import normalise_account
from components.core.ledger import dropped, kept
from components.core.seeded_rng import seeded_rng
from components.execution.stage import Stage
from components.stages.split.assignments import open_assignments
from components.stages.split.owners import Placement, Post, deviations, place_owners
from components.stages.split.published import split_as_published
from components.stages.split.records import ACROSS, ONE_SPLIT, SPLITS, is_grouped, requested_shares, write_split
from components.stages.split.text import split_by_text

MAX_DEVIATION = 0.01
"""Deviation of a split from its share above which a warning is logged, unless one owner holds more than that."""
log = logging.getLogger(__name__)


def draw_split(group: str, seed: int, validation: float, test: float) -> str:
    """Return the split of a group; the rest of the shares is train."""
    position = seeded_rng(seed, group, "split").random()
    if position < test:
        return "test"
    return "validation" if position < test + validation else "train"


def run(stage: Stage) -> None:
    """Write each shard with the splits of its records."""
    params, where = stage.params, stage.place()
    if params.by in ("group", "owner") and not is_grouped(stage.inputs["input"]):
        raise HearsightError(
            f"by: {params.by} needs groups, and {stage.inputs['input'].name} has none",
            where=f"{where}.by",
            hint="put dedup before it, or use 'text' or 'published'",
        )
    SPLITTERS[params.by](stage)


def _by_group(stage: Stage) -> None:
    params = stage.params

    def decide(key: str, group: str) -> tuple[str, dict[str, str]]:
        split = draw_split(group, params.seed, params.validation, params.test)
        return split, kept(key, detail=split)

    write_split(stage, None, decide)


def _by_owner(stage: Stage) -> None:
    params = stage.params
    shares = requested_shares(params)
    posts = _posts(stage)
    with open_assignments(main_project(stage.project), params.sides, params.seed, shares) as assignments:
        assigned = assignments.lookup({post.owner for post in posts.values() if post.owner})
        placement = place_owners(
            list(posts.values()),
            shares,
            params.seed,
            assigned,
            lambda key: draw_split(key, params.seed, params.validation, params.test),
        )
        stage.note_parent(f"sides {params.sides}", assignments.add(placement.owners))
    kept_posts: list[Post] = []

    def decide(key: str, group: str) -> tuple[str, dict[str, str]]:
        own_split, group_split = placement.splits_of(posts[key])
        if own_split == group_split:
            kept_posts.append(posts[key])
            return own_split, kept(key, detail=own_split)
        value = f"same image as {placement.leaders[group].key} in {group_split}"
        return "", dropped(key, ACROSS, value, ONE_SPLIT, detail=f"its owner is in {own_split}")

    write_split(stage, None, decide)
    _measure(stage, placement, kept_posts, shares, len(placement.owners) - len(assigned))


def _posts(stage: Stage) -> dict[str, Post]:
    columns = ["key", "group", "owner", "collected", "posted"]
    table = stage.inputs["input"].table(columns)
    rows = zip(*(table.column(name).to_pylist() for name in columns), strict=True)
    return {key: Post(key, group, normalise_account(owner) or "", *times) for key, group, owner, *times in rows}


def _measure(stage: Stage, placement: Placement, posts: list[Post], shares: dict[str, float], new_owners: int) -> None:
    records = Counter(placement.splits_of(post)[0] for post in posts)
    posts_by_owner = Counter(post.owner for post in posts if post.owner)
    owners = Counter(placement.owners[owner] for owner in posts_by_owner)
    deviation = deviations(records.elements(), shares)
    largest = max(posts_by_owner.values(), default=0) / len(posts) if posts else 0.0
    worst = max(abs(value) for value in deviation.values())
    for name in SPLITS:
        stage.metric(f"owners_{name}", owners[name])
        stage.metric(f"deviation_{name}", deviation[name])
    for name, value in (
        ("deviation", worst),
        ("largest_owner_share", largest),
        ("owners", len(posts_by_owner)),
        ("owners_new", new_owners),
        ("records_without_owner", sum(not post.owner for post in posts)),
    ):
        stage.metric(name, value)
    if worst > MAX_DEVIATION:
        reason = (
            f"one owner holds {largest:.1%} of the posts, and all of an owner's posts are in one split"
            if largest > MAX_DEVIATION
            else "owners assigned earlier grew unevenly, or groups and posts without owners are few and large"
        )
        shown = ", ".join(f"{name} {shares[name] + deviation[name]:.1%}" for name in SPLITS)
        log.warning("split: %s holds %s, which is off by up to %.1f points: %s", stage.dataset, shown, worst * 100, reason)


SPLITTERS: dict[str, Callable[[Stage], None]] = {
    "group": _by_group,
    "owner": _by_owner,
    "text": split_by_text,
    "published": split_as_published,
}
"""``split.by`` → function that writes the split."""
