"""Write the files of a release of posts (PCV §3); see ``docs/release.md``.

Instances are in the order of their file names, which are keyed hashes, so the order reveals neither owners nor dates. Draws
are keyed by the posts' keys, so that repeated releases draw the same.
"""

from __future__ import annotations

import gzip
import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.progress import progress
from components.core.seeded_rng import seeded_rng
from components.core.shards import add_member, end_tar
from components.tools.release.anonymous import Instance, Pseudonyms, make_instances
from components.tools.release.inputs import Options, ReleaseInputs
from components.tools.release.post_facts import PostFacts, count_losses
from components.tools.release.split_files import SPLITS, Published, Record, record_tables
from components.web.images.metadata import Unreadable, without_metadata
from components.web.takedown_list import NAME as TAKEDOWN
from components.web.takedown_list import RULE as TAKEN_DOWN
from components.web.takedown_list import read_takedown

DATASET = "dataset.json"
IMAGES = "images.tar.gz"
FOLDER = "images"
UNREADABLE = "unreadable"
"""Reason: the image file cannot be parsed, so its metadata cannot be removed."""


def write_posts(
    root: Path, inputs: ReleaseInputs, folder: Path, pseudonyms: Pseudonyms, options: Options
) -> tuple[PostFacts, dict[str, Published], dict[str, str]]:
    """Write the data into ``folder``; the notes are left to ``notes``.

    Returns:
        The counts, key → released record, and key → the reason for which a post of the split is left out.

    Raises:
        HearsightError: there is nothing to release, an image is damaged, or a subset asks for more posts than there are.
    """
    facts = PostFacts(count_losses(inputs))
    seed = int(inputs.settings["split"].get("seed", 0))
    collected = inputs.stages["crawl"].table(["key"])["key"].to_pylist() if options.subsets else []
    keys = draw_subsets(options.subsets, collected, seed)
    listed = read_takedown(root / TAKEDOWN)
    instances, counted = make_instances(inputs, pseudonyms, listed, mask_all=options.mask_mentions)
    facts.numbers.update(counted)
    left_out = dict.fromkeys(inputs.split.table(["key"]).column("key").to_pylist(), TAKEN_DOWN)
    digests: dict[str, str] = {}
    write_archive(folder / IMAGES, _images(inputs, instances, facts, digests))
    left_out |= dict.fromkeys((instance.key for instance in instances), UNREADABLE)
    left_out = {key: reason for key, reason in left_out.items() if key not in digests}
    instances = [instance for instance in instances if instance.key in digests]
    if not instances:
        raise HearsightError("holds no post that can be released", where=inputs.split.path, hint="there is nothing to release")
    write_json(folder / DATASET, (instance.published() for instance in instances))
    published: dict[str, Published] = {}
    with record_tables(folder) as records:
        for each in instances:
            name = each.filename.partition(".")[0]
            record = Record(name, each.split, each.filename, digests[each.key], each.language, each.caption)
            records.add(each.split, record)
            published[each.key] = Published(record, each.media, each.format, each.width, each.height)
    sample = [instances[index] for index in draw_sample([(instance.key, instance.user) for instance in instances], seed)]
    write_json(folder / "sample" / DATASET, (instance.published() for instance in sample))
    for instance in sample:
        path = folder / "sample" / FOLDER / instance.filename
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_read_image(inputs, instance)[1])
    facts.add("", instances)
    write_split(folder / "splits", instances)
    for name, chosen in keys.items():
        subset = [instance for instance in instances if instance.key in chosen]
        facts.add(name, subset)
        write_split(folder / "subsets" / name, subset)
    return facts, published, left_out


def _images(
    inputs: ReleaseInputs, instances: Sequence[Instance], facts: PostFacts, digests: dict[str, str]
) -> Iterator[tuple[str, bytes]]:
    """Yield (name, bytes without metadata) of every readable image; add their sha256 by key to ``digests``."""
    for instance in progress(instances, total=len(instances), desc="release"):
        try:
            original, stripped = _read_image(inputs, instance)
        except Unreadable:
            facts.numbers["unreadable"] += 1
            continue
        facts.numbers["stripped"] += original != stripped
        digests[instance.key] = sha256_bytes(stripped)
        yield f"{FOLDER}/{instance.filename}", stripped


def _read_image(inputs: ReleaseInputs, instance: Instance) -> tuple[bytes, bytes]:
    """Return an image as it was crawled, and without metadata."""
    crawl = inputs.stages["crawl"]
    data = crawl.read_media(instance.media)
    if sha256_bytes(data) != instance.image_sha256:
        hint = f"run `dvc repro --force -s crawl@{crawl.path.parent.name}`"
        raise HearsightError(f"{instance.media} is not the image of record {instance.key}", where=crawl.path, hint=hint)
    return data, without_metadata(data, instance.format)


def write_archive(path: Path, members: Iterable[tuple[str, bytes]]) -> None:
    """Write a tar.gz whose bytes depend on the members and their order only: no time, owner or file name in its headers."""
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", compresslevel=1, fileobj=raw, mtime=0) as packed,
    ):
        for name, data in members:
            add_member(packed, name, data)
        end_tar(packed)


def write_split(folder: Path, instances: Sequence[Instance]) -> None:
    """Write ``train.json``, ``validation.json`` and ``test.json``: lists of file names."""
    for split in SPLITS:
        write_json(folder / f"{split}.json", (instance.filename for instance in instances if instance.split == split))


def write_json(path: Path, values: Iterable[Any]) -> None:
    """Write a JSON list, one element per line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    lines = ",".join(f"\n{json.dumps(value, ensure_ascii=False)}" for value in values)
    path.write_text(f"[{lines}\n]\n" if lines else "[]\n", encoding="utf-8")


SAMPLE = 5
"""Instances of the sample (PCV §3)."""
_NAME = re.compile(r"[#A-Za-z0-9][A-Za-z0-9._-]{0,79}")


def parse_subsets(given: Iterable[str]) -> dict[str, int]:
    """Parse ``NAME=N`` options into name → N.

    Raises:
        HearsightError: an option is not of that form, or a name is repeated.
    """
    subsets: dict[str, int] = {}
    for option in given:
        name, _, number = option.rpartition("=")
        if not _NAME.fullmatch(name) or not re.fullmatch(r"[1-9][0-9]{0,11}", number):
            raise HearsightError(f"'{option}' names no subset", where="--subset", hint="give NAME=N, as in set-63K=100000")
        if name in subsets:
            raise HearsightError(f"'{name}' is given twice", where="--subset", hint="give each subset a name of its own")
        subsets[name] = int(number)
    return subsets


def draw_subsets(subsets: Mapping[str, int], collected: Collection[str], seed: int) -> dict[str, set[str]]:
    """Return the keys of each subset: N of the collected posts, before any cleaning (PCV §5.4).

    A subset is the first N keys of one random order, so a larger subset contains every smaller one.

    Raises:
        HearsightError: a subset asks for more posts than there are.
    """
    for name, number in subsets.items():
        if number > len(collected):
            what = f"'{name}' asks for {number} of {len(collected)} collected posts"
            raise HearsightError(what, where="--subset", hint="ask for fewer")
    order = sorted(collected, key=lambda key: (seeded_rng(seed, key, "subset").random(), key))
    return {name: set(order[:number]) for name, number in subsets.items()}


def draw_sample(posts: Sequence[tuple[str, str]], seed: int) -> list[int]:
    """Draw five (key, user) pairs: owners first, then one post each, and a second round when there are too few owners.

    Returns:
        Indices of ``posts``, ascending.
    """
    posts_of: dict[str, list[tuple[float, str, int]]] = {}
    for index, (key, user) in enumerate(posts):
        posts_of.setdefault(user, []).append((seeded_rng(seed, key, "sample").random(), key, index))
    candidates: list[tuple[int, float, str, int]] = []
    for owned in posts_of.values():
        ranked = sorted(owned)[:SAMPLE]
        # One draw per owner, so that many posts do not make an owner more likely.
        order = seeded_rng(seed, min(key for _, key, _ in owned), "sample owner").random()
        candidates += [(number, order, key, index) for number, (_, key, index) in enumerate(ranked)]
    return sorted(index for *_, index in sorted(candidates)[:SAMPLE])
