"""The files of a release of posts, as #PraCegoVer section 3 lays them out; see ``docs/release-and-takedown.md``.

The instances are in the order of their file names, which are keyed hashes: the order tells nothing of who or when.
"""

from __future__ import annotations

import gzip
import io
import json
import tarfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.progress import progress
from components.tools.release.anonymous import Names
from components.tools.release.made import MadePosts
from components.tools.release.mentions import Mentions
from components.tools.release.pictures import Unreadable, without_metadata
from components.tools.release.post_facts import PostFacts
from components.tools.release.subsets import drawn, sample
from components.web.images.image import FORMATS
from components.web.takedown_list import NAME as TAKEDOWN
from components.web.takedown_list import read_takedown

SPLITS = ("train", "validation", "test")
DATASET = "dataset.json"
IMAGES = "images.tar.gz"
FOLDER = "images"
SETTINGS = "settings.json"
COLUMNS = [
    "key", "page_url", "image_url", "alt", "caption", "language", "format", "image_sha256", "media", "owner", "posted",
    "collected", "group", "split",
]  # fmt: skip


@dataclass(frozen=True)
class Wanted:
    """What the publishers chose."""

    licence: str
    subsets: Mapping[str, int]
    """Name → posts drawn for it."""
    mask_mentions: bool


class Instance(NamedTuple):
    """One post of the release; what is published of it, and what is not."""

    filename: str
    user: str
    raw_caption: str
    caption: str
    date: str
    split: str
    key: str
    group: str
    language: str
    collected: str
    kind: str
    """The picture's format."""
    media: str
    sha256: str

    def published(self) -> dict[str, str]:
        """The attributes of ``dataset.json``, as the paper names them."""
        return {name: getattr(self, name) for name in ("user", "filename", "raw_caption", "caption", "date")}


def write_posts(root: Path, made: MadePosts, folder: Path, names: Names, wanted: Wanted) -> dict[str, Any]:
    """Write everything into ``folder``.

    Returns:
        The release in figures, and which questions of the datasheet the publishers have not answered.

    Raises:
        HearsightError: there is nothing to release, a picture is damaged, a subset asks for more than there is.
    """
    from components.tools.release.post_notes import write_notes

    facts = PostFacts.of(made)
    seed = int(made.settings["split"].get("seed", 0))
    keys = drawn(wanted.subsets, made.crawl.table(["key"]).column("key").to_pylist() if wanted.subsets else [], seed)
    found = instances(root, made, names, facts, mask_all=wanted.mask_mentions)
    gone: set[str] = set()
    write_archive(folder / IMAGES, _pictures(made, found, facts, gone))
    found = [each for each in found if each.key not in gone]
    if not found:
        raise HearsightError("holds no post that can be released", where=made.split.path, hint="there is nothing to release")
    write_json(folder / DATASET, (each.published() for each in found))
    few = [found[index] for index in sample([(each.key, each.user) for each in found], seed)]
    write_json(folder / "sample" / DATASET, (each.published() for each in few))
    for each in few:
        path = folder / "sample" / FOLDER / each.filename
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_picture(made, each)[1])
    facts.take("", found)
    write_split(folder / "splits", found)
    for name, chosen in keys.items():
        part = [each for each in found if each.key in chosen]
        facts.take(name, part)
        write_split(folder / "subsets" / name, part)
    told = {
        "dataset": made.dataset,
        "split_manifest_sha256": made.split.digest,
        # The crawl's settings may name accounts and servers.
        "settings": {f"{made.dataset}/{stage}": made.settings[stage] for stage in made.settings if stage != "crawl"},
        "subsets": dict(wanted.subsets),
        "mask_mentions": wanted.mask_mentions,
    }
    (folder / SETTINGS).write_text(json.dumps(told, indent=1, ensure_ascii=False, sort_keys=True) + "\n", encoding="utf-8")
    missing = write_notes(root, made, facts, folder, wanted)
    return {**facts.plain(), "not_stated": ", ".join(missing) or "nothing"}


def instances(root: Path, made: MadePosts, names: Names, facts: PostFacts, *, mask_all: bool) -> list[Instance]:
    """Every record of the split but what is on the takedown list now, anonymised, in the order of the file names."""
    taken = read_takedown(root / TAKEDOWN)
    rows = made.split.table(COLUMNS).to_pylist()
    mentions = Mentions(names, (row["owner"] for row in rows), mask_all=mask_all)
    found: list[Instance] = []
    for row in rows:
        owner = row["owner"]
        if taken.owner(owner) or taken.url(row["page_url"]) or taken.url(row["image_url"]):
            facts.taken_down += 1
            continue
        found.append(
            Instance(
                filename=names.file(row["key"], FORMATS[row["format"]]),
                user=names.user(owner),
                raw_caption=mentions.mask(row["alt"], owner),
                caption=mentions.mask(row["caption"], owner),
                date=row["posted"],
                split=row["split"],
                key=row["key"],
                group=row["group"],
                language=row["language"],
                collected=row["collected"],
                kind=row["format"],
                media=row["media"],
                sha256=row["image_sha256"],
            )
        )
    facts.masked = mentions.masked
    return sorted(found)


def _pictures(made: MadePosts, found: Sequence[Instance], facts: PostFacts, gone: set[str]) -> Iterator[tuple[str, bytes]]:
    for each in progress(found, total=len(found), desc="release"):
        try:
            was, now = _picture(made, each)
        except Unreadable:
            gone.add(each.key)
            facts.unreadable += 1
            continue
        facts.stripped += was != now
        yield f"{FOLDER}/{each.filename}", now


def _picture(made: MadePosts, each: Instance) -> tuple[bytes, bytes]:
    data = made.crawl.read_media(each.media)
    if sha256_bytes(data) != each.sha256:
        raise HearsightError(
            f"{each.media} is not the picture of record {each.key}",
            where=made.crawl.path,
            hint=f"run `dvc repro --force -s crawl@{made.crawl.path.parent.name}`",
        )
    return data, without_metadata(data, each.kind)


def write_archive(path: Path, members: Iterable[tuple[str, bytes]]) -> None:
    """A tar.gz of equal bytes for equal members, in the order given: no clock, no owner, no name in its headers."""
    with (
        path.open("wb") as raw,
        gzip.GzipFile(filename="", mode="wb", compresslevel=1, fileobj=raw, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as tar,
    ):
        for name, data in members:
            header = tarfile.TarInfo(name)
            header.size = len(data)
            tar.addfile(header, io.BytesIO(data))


def write_split(folder: Path, found: Sequence[Instance]) -> None:
    """``train.json``, ``validation.json``, ``test.json``: each a list of file names."""
    for split in SPLITS:
        write_json(folder / f"{split}.json", (each.filename for each in found if each.split == split))


def write_json(path: Path, values: Iterable[Any]) -> None:
    """A JSON list, an element a line."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="\n") as handle:
        before = "["
        for value in values:
            handle.write(f"{before}\n{json.dumps(value, ensure_ascii=False)}")
            before = ","
        handle.write("[]\n" if before == "[" else "\n]\n")
