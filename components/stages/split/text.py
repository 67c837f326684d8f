"""By text: records that say the same, show the same picture or are of one group are on one side.

A recording of a spoken set is of a text, not of a picture: one "une pomme" may stand beside five apples. So the records fall into
the connected components of equal normalised captions, equal pictures and equal groups, across languages, and a component is
placed whole. Large ones first, each goes to the side that lacks most of its share (``owners.place``), so shares are close though
components are unequal; the price is that added records may move others, which matters little to a set that is published once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from components.core.caption_normalization import normalise_caption
from components.core.seeded_rng import seeded_rng
from components.execution.stage import Stage
from components.stages.split.owners import Post, place, shares_of
from components.stages.split.records import SPLITS, groups_of_pictures, is_grouped, shares_asked, write_split


class Said(NamedTuple):
    """What decides a record's component."""

    key: str
    caption: str
    picture: str
    group: str


def components(records: Iterable[Said]) -> dict[str, str]:
    """Record → its component, named by the smallest key in it; near-linear in the records."""
    parent: dict[tuple[str, str], tuple[str, str]] = {}

    def root(node: tuple[str, str]) -> tuple[str, str]:
        parent.setdefault(node, node)
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    keys: list[str] = []
    for record in records:
        keys.append(record.key)
        own = root(("key", record.key))
        for node in (("text", normalise_caption(record.caption)), ("picture", record.picture), ("group", record.group)):
            parent[root(node)] = own
    smallest: dict[tuple[str, str], str] = {}
    for key in sorted(keys):
        smallest.setdefault(root(("key", key)), key)
    return {key: smallest[root(("key", key))] for key in keys}


def sides_by_text(records: Iterable[Said], shares: dict[str, float], seed: int) -> tuple[dict[str, str], dict[str, str]]:
    """Record → side, and record → component: a function of the records, whatever their order."""
    component = components(records)
    # A component is placed as an owner with all of its posts is.
    posts = [Post(key, of, of, "", "") for key, of in sorted(component.items())]
    placed = place(posts, shares, seed, {}, lambda key: str(seeded_rng(seed, key).random()))
    return {key: placed.owners[of] for key, of in component.items()}, component


def split_by_text(stage: Stage) -> None:
    """Write the split; metrics: how far each side is from its share, how many components, the largest."""
    params, source = stage.params, stage.inputs["input"]
    grouped = is_grouped(source)
    columns = ["key", "caption", "image_sha256", "group"] if grouped else ["key", "alt", "image_sha256", "image_sha256"]
    table = source.table(list(dict.fromkeys(columns)))
    records = [Said(*values) for values in zip(*(table.column(name).to_pylist() for name in columns), strict=True)]
    shares = shares_asked(params)
    sides, component = sides_by_text(records, shares, params.seed)
    write_split(stage, sides, None if grouped else groups_of_pictures(source), lambda key: f"with {component[key]}")
    off = shares_of(sides.values(), shares)
    sizes = Counter(component.values())
    for name in SPLITS:
        stage.metric(f"deviation_{name}", off[name])
    stage.metric("deviation", max(map(abs, off.values())))
    stage.metric("components", len(sizes))
    stage.metric("largest_component", max(sizes.values(), default=0))
