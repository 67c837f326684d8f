"""What the removed records were: their keys, and digests of their pictures, texts and speech.

Gathered from what older runs left (any parquet shard that names a listed address), from the stores' journals, from the
current ledgers, and from what an earlier purge wrote down. Whatever the current chain still refers to is taken out: the same
picture on another page stays. Only hashes are kept (``.hearsight/takedown/removed.json``), so that a later scan can tell.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.digests import digest_value, sha256_bytes
from components.core.files import publish_json
from components.core.graph import Graph
from components.core.shards import read_table
from components.speech.voices.paid import keys_of
from components.stages.crawl.sources.inputs import INPUTS_FILE, digest_with_files
from components.tools.takedown import versions
from components.tools.takedown.matcher import Wanted
from components.web.snapshot_chain import chain
from components.web.store import FetchStore
from components.web.takedown_journal import removals
from components.web.takedown_list import RULE, Takedown

NOTES = Path(".hearsight/takedown/removed.json")
VIEWS = 64
"""Distorted views of a picture whose features may be cached: more than anybody trains on."""
UTTERED = ("key", "record", "audio_sha256", "spoken", "voice", "rate", "pitch", "gain")
"""Columns of an utterance that tell what is kept of it; shards of older versions lack some."""
ADDRESSES = ("page_url", "image_url", "host", "owner")
Opener = Callable[[], IO[bytes]]


@dataclass
class Content:
    """Records by what is kept under their names."""

    keys: set[str] = field(default_factory=set)
    images: set[str] = field(default_factory=set)
    """sha256 of pictures (and of pages taken from a store)."""
    texts: set[str] = field(default_factory=set)
    """sha256 of texts as annotations are keyed."""
    audio: set[str] = field(default_factory=set)
    """sha256 of spoken captions."""
    bought: set[str] = field(default_factory=set)
    """The keys under which a paid voice's answers are kept."""

    def __isub__(self, other: Content) -> Content:
        for one in fields(self):
            getattr(self, one.name).difference_update(getattr(other, one.name))
        return self

    @property
    def digests(self) -> set[str]:
        """Every digest under which something of the content may lie."""
        return self.images | self.texts | self.audio | self.bought | self.features

    @property
    def features(self) -> set[str]:
        """The keys of the pictures' features (``providers.features.feature_key``)."""
        return {digest_value([sha, number]) for sha in self.images for number in range(VIEWS)}

    def rows(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Take in records of any stage."""
        for row in rows:
            self.keys.add(row["key"])
            if row.get("image_sha256"):
                self.images.add(row["image_sha256"])
            if row.get("audio_sha256"):
                self.audio.add(row["audio_sha256"])
            self.bought.update(keys_of(row))
            if alt := row.get("alt"):
                self.texts.update(sha256_bytes(words.encode()) for words in (*_cropped(alt), row.get("text") or alt))


def _cropped(alt: str) -> Iterator[str]:
    """An alt-text as annotations may be keyed: as it is, and as the filter crops it, whose language is not its page's."""
    from components.stages.filter import boilerplate

    yield alt
    for path in sorted((Path(boilerplate.__file__).parent / "data").glob("boilerplate.*.yaml")):
        yield boilerplate.crop(alt, boilerplate.load_boilerplate(path.name.split(".")[1])).text


def gather(shards: Iterable[Opener], wanted: Wanted, known: Content) -> Content:
    """``known``, with the records of ``shards`` that are listed or of a known key; utterances follow their records."""
    later: list[Opener] = []
    for opener in shards:
        with opener() as handle:
            shard = _shard(handle)
            if shard is None or "key" not in shard.schema_arrow.names:
                continue
            if "page_url" in shard.schema_arrow.names:
                known.rows(_listed(shard, wanted, known.keys))
            elif {"audio_sha256", "record"} <= set(shard.schema_arrow.names):  # an index's items name no record
                later.append(opener)
    for opener in later:
        with opener() as handle:
            file = pq.ParquetFile(handle)
            rows = file.read([name for name in UTTERED if name in file.schema_arrow.names]).to_pylist()
            gone = [row for row in rows if row["record"] in known.keys]
            known.audio.update(row["audio_sha256"] for row in gone)
            known.bought.update(key for row in gone for key in keys_of(row))
    return known


def _shard(handle: IO[bytes]) -> pq.ParquetFile | None:
    try:
        return pq.ParquetFile(handle) if handle.read(4) == b"PAR1" else None
    except (pa.ArrowException, OSError):
        return None


def _listed(shard: pq.ParquetFile, wanted: Wanted, keys: set[str]) -> Iterator[dict[str, Any]]:
    names = [name for name in ADDRESSES if name in shard.schema_arrow.names]
    for batch in shard.iter_batches(4096):
        for row in batch.to_pylist():
            listed = any((wanted.listed.owner if name == "owner" else wanted.address)(row[name] or "") for name in names)
            # By its key where no column tells: whose a table's row was is known to the crawl alone.
            if listed or row["key"] in keys:
                yield row


def known_before(root: Path, graph: Graph) -> Content:
    """What journals, an earlier purge and the current crawls' ledgers say was removed."""
    found = Content()
    for folder in snapshots(root):
        for note in removals(folder):
            found.images.update(note["bodies"])
            found.texts.update(note["texts"])
    if (root / NOTES).exists():
        told = json.loads((root / NOTES).read_bytes())
        for one in fields(found):
            getattr(found, one.name).update(told.get(one.name, []))
    for dataset in graph.datasets:
        for path in sorted(graph.output("crawl", dataset).glob("ledger/*.parquet")):
            rows = read_table(path, ["kind", "key", "rule"]).to_pylist()
            found.keys.update(row["key"] for row in rows if row["rule"] == RULE and row["kind"] == "record")
    return found


def current(root: Path, graph: Graph) -> Content:
    """What the current outputs and stores refer to."""
    found = Content()
    for dataset in graph.datasets:
        for stage in graph.stages_of(dataset):
            for path in sorted(graph.output(stage, dataset).glob("shards/*.parquet")):
                names = set(pq.read_schema(path).names)
                if names & {"image_sha256", "audio_sha256"}:
                    columns = names & {"key", "image_sha256", "alt", "text", "language", *UTTERED}
                    found.rows(read_table(path, sorted(columns)).to_pylist())
    for folder in current_snapshots(root, graph):
        with FetchStore(folder) as store:
            found.images.update(entry.sha256 for entry in store if entry.sha256)
    return found


def current_snapshots(root: Path, graph: Graph) -> list[Path]:
    """The fetch stores that the parameters name, and those they stand on."""
    store = root / "data" / "store"
    named = {graph.params[dataset]["crawl"]["snapshot"] for dataset in graph.datasets if "crawl" in graph.stages_of(dataset)}
    used = {folder for name in named for folder in chain(store / name)}
    return [folder for folder in snapshots(root) if folder in used]


def snapshots(root: Path) -> list[Path]:
    """The fetch stores' folders."""
    return sorted(path.parent for path in (root / "data" / "store").glob("*/index.jsonl"))


def older_digests(root: Path) -> set[str]:
    """What outputs name as their snapshot that were made of one before something was taken down from it."""
    found: set[str] = set()
    for folder in snapshots(root):
        before = [note["before"] for note in removals(folder)]
        found.update(before)
        if before and (folder / INPUTS_FILE).exists():
            files = json.loads((folder / INPUTS_FILE).read_bytes())["files"]
            found.update(digest_with_files(digest, files) for digest in before)
    return found


def removed_content(root: Path, graph: Graph, listed: Takedown, repo: Any) -> Content:
    """The removed records' content that nothing current refers to, from every shard there is."""
    found = gather(_shards(root, repo), Wanted(listed), known_before(root, graph))
    found -= current(root, graph)
    return found


def _shards(root: Path, repo: Any) -> Iterator[Opener]:
    for path in sorted((root / ".hearsight" / "cache").glob("*/*/*.parquet")):
        yield partial(_open, path)
    seen: set[str] = set()
    for objects in versions.stores(repo) if repo else ():
        for oid in objects.ids():
            if oid not in seen and not oid.endswith(".dir"):
                seen.add(oid)
                yield partial(objects.odb.fs.open, objects.path(oid), "rb")


def _open(path: Path) -> IO[bytes]:
    return path.open("rb")


def answers_of(folder: Path, bodies: Collection[str]) -> set[str]:
    """The URLs in a snapshot that were answered with one of those bodies (sha256)."""
    with FetchStore(folder) as store:
        return {entry.url for entry in store if entry.sha256 in bodies}


def note_down(root: Path, removed: Content) -> None:
    """Keep the hashes of what was removed for later scans."""
    content = {one.name: sorted(getattr(removed, one.name)) for one in fields(removed)}
    publish_json(root / NOTES, content)
