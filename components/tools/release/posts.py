"""Write the files of a release of posts (PCV §3); see ``docs/release-and-takedown.md``.

Instances are in the order of their file names, which are keyed hashes, so the order reveals neither owners nor dates.
"""

from __future__ import annotations

import gzip
import json
import tarfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.progress import progress
from components.core.shards import add_member
from components.tools.release.anonymous import Pseudonyms
from components.tools.release.instances import Instance, PostOptions, make_instances
from components.tools.release.made import ReleaseInputs
from components.tools.release.pictures import Unreadable, without_metadata
from components.tools.release.post_facts import PostFacts
from components.tools.release.post_notes import write_notes
from components.tools.release.subsets import draw_sample, draw_subsets
from components.web.takedown_list import NAME as TAKEDOWN
from components.web.takedown_list import read_takedown

SPLITS = ("train", "validation", "test")
DATASET = "dataset.json"
IMAGES = "images.tar.gz"
FOLDER = "images"
SETTINGS = "settings.json"


def write_posts(root: Path, inputs: ReleaseInputs, folder: Path, pseudonyms: Pseudonyms, options: PostOptions) -> dict[str, Any]:
    """Write everything into ``folder``.

    Returns:
        The main counts, and the questions of the datasheet that the publishers have not answered.

    Raises:
        HearsightError: there is nothing to release, an image is damaged, or a subset asks for more posts than there are.
    """
    facts = PostFacts.of(inputs)
    seed = int(inputs.settings["split"].get("seed", 0))
    keys = draw_subsets(options.subsets, inputs.crawl.table(["key"]).column("key").to_pylist() if options.subsets else [], seed)
    listed = read_takedown(root / TAKEDOWN)
    instances, facts.masked, facts.taken_down = make_instances(inputs, pseudonyms, listed, mask_all=options.mask_mentions)
    unreadable: set[str] = set()
    write_archive(folder / IMAGES, _images(inputs, instances, facts, unreadable))
    instances = [instance for instance in instances if instance.key not in unreadable]
    if not instances:
        raise HearsightError("holds no post that can be released", where=inputs.split.path, hint="there is nothing to release")
    write_json(folder / DATASET, (instance.published() for instance in instances))
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
    settings = {
        "dataset": inputs.dataset,
        "split_manifest_sha256": inputs.split.digest,
        # The crawl's settings may name accounts and servers.
        "settings": {f"{inputs.dataset}/{stage}": inputs.settings[stage] for stage in inputs.settings if stage != "crawl"},
        "subsets": dict(options.subsets),
        "mask_mentions": options.mask_mentions,
    }
    (folder / SETTINGS).write_text(json.dumps(settings, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    missing = write_notes(root, inputs, facts, folder, options)
    return {**facts.plain(), "not_stated": ", ".join(missing) or "nothing"}


def _images(
    inputs: ReleaseInputs, instances: Sequence[Instance], facts: PostFacts, unreadable: set[str]
) -> Iterator[tuple[str, bytes]]:
    """Yield (name, bytes without metadata) of every image; add the keys of unreadable ones to ``unreadable``."""
    for instance in progress(instances, total=len(instances), desc="release"):
        try:
            original, stripped = _read_image(inputs, instance)
        except Unreadable:
            unreadable.add(instance.key)
            facts.unreadable += 1
            continue
        facts.stripped += original != stripped
        yield f"{FOLDER}/{instance.filename}", stripped


def _read_image(inputs: ReleaseInputs, instance: Instance) -> tuple[bytes, bytes]:
    """Return an image as it was crawled, and without metadata."""
    data = inputs.crawl.read_media(instance.media)
    if sha256_bytes(data) != instance.sha256:
        raise HearsightError(
            f"{instance.media} is not the image of record {instance.key}",
            where=inputs.crawl.path,
            hint=f"run `dvc repro --force -s crawl@{inputs.crawl.path.parent.name}`",
        )
    return data, without_metadata(data, instance.kind)


def write_archive(path: Path, members: Iterable[tuple[str, bytes]]) -> None:
    """Write a tar.gz whose bytes depend on the members and their order only: no time, owner or file name in its headers."""
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", compresslevel=1, fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for name, data in members:
            add_member(tar, name, data)


def write_split(folder: Path, instances: Sequence[Instance]) -> None:
    """Write ``train.json``, ``validation.json`` and ``test.json``: lists of file names."""
    for split in SPLITS:
        write_json(folder / f"{split}.json", (instance.filename for instance in instances if instance.split == split))


def write_json(path: Path, values: Iterable[Any]) -> None:
    """Write a JSON list, one element per line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as handle:
        separator = "["
        for value in values:
            handle.write(f"{separator}\n{json.dumps(value, ensure_ascii=False)}")
            separator = ","
        handle.write("[]\n" if separator == "[" else "\n]\n")
