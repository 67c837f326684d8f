"""Splits by text: records with the same caption, image or group are in one split.

A recording belongs to a text, not to an image: one caption may describe five images. So the records form connected
components of equal normalised captions, equal images and equal groups, across languages, and each component is placed as a
whole. Large components first, each goes to the split that lacks most of its share (``owners.place_owners``), so shares are close
though components differ in size. Added records may move others, which matters little for a set that is published once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from components.core.caption_normalization import normalise_caption
from components.core.ledger import kept
from components.core.seeded_rng import seeded_rng
from components.execution.stage import Stage
from components.stages.split.owners import Post, deviations, place_owners
from components.stages.split.records import SPLITS, groups_of_images, is_grouped, requested_shares, write_split


class CaptionKey(NamedTuple):
    """The properties that decide a record's component."""

    key: str
    caption: str
    image: str
    group: str


def find_components(records: Iterable[CaptionKey]) -> dict[str, str]:
    """Return record → its component, named by its smallest key; near-linear in the records."""
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
        record_root = root(("key", record.key))
        for node in (("text", normalise_caption(record.caption)), ("image", record.image), ("group", record.group)):
            parent[root(node)] = record_root
    smallest: dict[tuple[str, str], str] = {}
    for key in sorted(keys):
        smallest.setdefault(root(("key", key)), key)
    return {key: smallest[root(("key", key))] for key in keys}


def assign_by_text(records: Iterable[CaptionKey], shares: dict[str, float], seed: int) -> tuple[dict[str, str], dict[str, str]]:
    """Return record → split and record → component; independent of the order of the records."""
    component = find_components(records)
    # A component is placed like an owner with all of its posts.
    posts = [Post(key, of, of, "", "") for key, of in sorted(component.items())]
    placement = place_owners(posts, shares, seed, {}, lambda key: str(seeded_rng(seed, key).random()))
    return {key: placement.owners[of] for key, of in component.items()}, component


def split_by_text(stage: Stage) -> None:
    """Write the split; metrics: each split's deviation from its share, and number and largest size of components."""
    params, source = stage.params, stage.inputs["input"]
    grouped = is_grouped(source)
    columns = ["key", "caption", "image_sha256", "group"] if grouped else ["key", "alt", "image_sha256", "image_sha256"]
    table = source.table(list(dict.fromkeys(columns)))
    records = [CaptionKey(*values) for values in zip(*(table.column(name).to_pylist() for name in columns), strict=True)]
    shares = requested_shares(params)
    splits, component = assign_by_text(records, shares, params.seed)
    write_split(
        stage,
        None if grouped else groups_of_images(source),
        lambda key, group: (splits[key], kept(key, detail=f"{splits[key]}, with {component[key]}")),
    )
    deviation = deviations(splits.values(), shares)
    sizes = Counter(component.values())
    for name in SPLITS:
        stage.metric(f"deviation_{name}", deviation[name])
    stage.metric("deviation", max(map(abs, deviation.values())))
    stage.metric("components", len(sizes))
    stage.metric("largest_component", max(sizes.values(), default=0))
