"""Keys of the removed records, and digests of their images, texts and speech.

They come from parquet shards of older runs that name a listed address, from the fetch stores' takedown journals, the current
ledgers, and the file an earlier purge wrote. Content that the current chain still refers to is excluded. Only hashes are kept.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Set
from dataclasses import dataclass, field, fields
from functools import partial
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from components.core.digests import digest_value, sha256_bytes
from components.core.files import publish_json
from components.core.graph import Graph
from components.core.shards import read_table
from components.speech.voices.paid import cache_keys
from components.stages.filter import boilerplate
from components.tools.takedown import bucket_objects
from components.tools.takedown.covered import address_columns, find_covered
from components.tools.takedown.file_search import Matcher
from components.web.snapshot_chain import HEAL, read_chain
from components.web.store import FetchStore
from components.web.takedown_journal import read_removals
from components.web.takedown_list import RULE, Takedown

REMOVED = Path(".hearsight/takedown/removed.json")
SHARD_CACHE = "the shard cache"
HOLDERS = "outputs"
"""Key of :data:`REMOVED` beside the attributes of :class:`Content`; see :func:`read_holders`."""
MAX_VIEWS = 64
"""Augmented views of an image whose features may be cached; an upper bound for every training."""
UTTERANCE_COLUMNS = ("key", "record", "audio_sha256", "spoken", "voice", "rate", "pitch", "gain")
"""Columns of an utterance that identify cached results; shards of older versions lack some."""
ITEM_COLUMNS = ("key", "image_sha256", "audio_sha256", "uses")
"""Columns of a rating item that say what it shows, and whose it is."""
Opener = Callable[[], IO[bytes]]


@dataclass
class Content:
    """Keys and digests of a set of records. The attribute names are the JSON keys of :data:`REMOVED`."""

    keys: set[str] = field(default_factory=set)
    images: set[str] = field(default_factory=set)
    """sha256 of images, and of pages deleted from a fetch store."""
    texts: set[str] = field(default_factory=set)
    """sha256 of texts, as the result caches key them."""
    audio: set[str] = field(default_factory=set)
    """sha256 of utterances."""
    bought: set[str] = field(default_factory=set)
    """Keys of a paid voice's stored answers."""

    items: set[str] = field(default_factory=set)
    """Keys of the rating items that showed it."""

    def __isub__(self, other: Content) -> Content:
        for field_ in fields(self):
            getattr(self, field_.name).difference_update(getattr(other, field_.name))
        self.items -= other.keys  # which has the keys of rows of any kind
        return self

    @property
    def names(self) -> frozenset[str]:
        """The keys of records, and those of rating items."""
        return frozenset(self.keys | self.items)

    @property
    def digests(self) -> set[str]:
        """Every digest that may name a stored part of the content."""
        return self.images | self.texts | self.audio | self.bought | self.features

    @property
    def features(self) -> set[str]:
        """Cache keys of the images' features (``vision.features.feature_key``)."""
        return {digest_value([sha, number]) for sha in self.images for number in range(MAX_VIEWS)}

    def add_rows(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Add records of any stage."""
        for row in rows:
            self.keys.add(row["key"])
            if row.get("image_sha256"):
                self.images.add(row["image_sha256"])
            if row.get("audio_sha256"):
                self.audio.add(row["audio_sha256"])
            self.bought.update(cache_keys(row))
            if alt := row.get("alt"):
                self.texts.update(sha256_bytes(text.encode()) for text in (*_cropped(alt), row.get("text") or alt))


def _cropped(alt: str) -> Iterator[str]:
    """Yield an alt-text unchanged, then cropped by the filter's rules of every language: the filter's may not be the page's."""
    yield alt
    for path in sorted((Path(boilerplate.__file__).parent / "data").glob("boilerplate.*.yaml")):
        yield boilerplate.crop(alt, boilerplate.load_boilerplate(path.name.split(".")[1])).text


def collect_content(shards: Iterable[Opener], matcher: Matcher, known: Content, rated: list[Opener] | None = None) -> Content:
    """Add to ``known`` the records of ``shards`` that are listed or whose key it has, with their utterances; return it.

    Args:
        rated: gets the shards of rating items, which name a record only through what they show.
    """
    utterance_shards: list[Opener] = []
    for opener in shards:
        with opener() as handle:
            shard = open_shard(handle)
            if shard is None or "key" not in shard.schema_arrow.names:
                continue
            if "page_url" in shard.schema_arrow.names:
                known.add_rows(_listed_rows(shard, matcher, known.keys))
            elif rated is not None and set(ITEM_COLUMNS) <= set(shard.schema_arrow.names):
                rated.append(opener)
            elif {"audio_sha256", "record"} <= set(shard.schema_arrow.names):  # an index's items name no record
                utterance_shards.append(opener)
    for opener in utterance_shards:
        with opener() as handle:
            file = pq.ParquetFile(handle)
            table = file.read([name for name in UTTERANCE_COLUMNS if name in file.schema_arrow.names])
            removed = table.filter(_is_in(table["record"], known.keys)).to_pylist()
            known.audio.update(row["audio_sha256"] for row in removed)
            known.bought.update(key for row in removed for key in cache_keys(row))
    return known


def find_items(shards: Iterable[Opener], removed: Content) -> set[str]:
    """Return the keys of the rating items that show something removed, or that were asked or found by it."""
    keys: set[str] = set()
    for opener in shards:
        with opener() as handle:
            for row in pq.ParquetFile(handle).read(list(ITEM_COLUMNS)).to_pylist():
                named = {use[name].partition(".")[0] for use in row["uses"] for name in ("query", "candidate")}
                if named & removed.keys or {row["image_sha256"], *named} & removed.images or row["audio_sha256"] in removed.audio:
                    keys.add(row["key"])
    return keys


def open_shard(handle: IO[bytes]) -> pq.ParquetFile | None:
    """Return an open file as parquet; None for a file of another kind."""
    try:
        return pq.ParquetFile(handle) if handle.read(4) == b"PAR1" else None
    except (pa.ArrowException, OSError):
        return None


def _listed_rows(shard: pq.ParquetFile, matcher: Matcher, keys: set[str]) -> list[dict[str, Any]]:
    table = shard.read(["key", *address_columns(matcher, shard.schema_arrow.names)])
    # A table's shards have no owner column: only the crawl's ledger names the key.
    chosen = pc.or_(_is_in(table["key"], keys), find_covered(table, matcher))
    return shard.read().filter(chosen).to_pylist() if pc.any(chosen).as_py() else []


def _is_in(column: pa.ChunkedArray, keys: Collection[str]) -> pa.ChunkedArray:
    return pc.is_in(column, value_set=pa.array(sorted(keys), column.type))


def read_known_removals(root: Path, graph: Graph, entries: Set[str] = frozenset()) -> Content:
    """Return what journals, an earlier purge and the current crawls' ledgers name as removed.

    With ``entries``, hashes of the list's, only what was or may have been removed for these: images that only removed pages
    showed, and what a purge removed, are noted without their entry.
    """
    removed = Content()
    for folder in list_snapshots(root):
        for removal in read_removals(folder):
            if not entries or not removal["entries"] or entries & set(removal["entries"]):
                removed.images.update(removal["bodies"])
                removed.texts.update(removal["texts"])
    if (root / REMOVED).exists():
        earlier = json.loads((root / REMOVED).read_bytes())
        for field_ in fields(removed):
            getattr(removed, field_.name).update(earlier.get(field_.name, []))
    removed.keys.update(key for key, mark in read_marks(graph).items() if not entries or mark in entries)
    return removed


def read_marks(graph: Graph) -> dict[str, str]:
    """Return the key of each record that the current crawls dropped as listed → the hash of the entry that lists it."""
    marks: dict[str, str] = {}
    for dataset in graph.datasets:
        for path in sorted(graph.output("crawl", dataset).glob("ledger/*.parquet")):
            rows = read_table(path, ["kind", "key", "rule", "detail"])
            rows = rows.filter(pc.and_(pc.equal(rows["rule"], RULE), pc.equal(rows["kind"], "record")))
            marks.update({row["key"]: row["detail"].removeprefix(f"{RULE}:") for row in rows.to_pylist()})
    return marks


def collect_current(root: Path, graph: Graph) -> Content:
    """Return the content that the current outputs and fetch stores refer to."""
    current = Content()
    for _, _, folder in graph.outputs():
        for path in sorted(folder.glob("shards/*.parquet")):
            names = set(pq.read_schema(path).names)
            if names & {"image_sha256", "audio_sha256"}:
                columns = names & {"key", "image_sha256", "alt", "text", "language", *UTTERANCE_COLUMNS}
                current.add_rows(read_table(path, sorted(columns)).to_pylist())
    for folder in list_current_snapshots(root, graph):
        with FetchStore(folder) as store:
            current.images.update(entry.sha256 for entry in store if entry.sha256)
    return current


def list_current_snapshots(root: Path, graph: Graph) -> list[Path]:
    """Return the folders of the snapshots that the parameters name, and of their bases."""
    store = root / "data" / "store"
    crawls = [graph.params[dataset].get("crawl") or {} for dataset in graph.datasets if "crawl" in graph.stages_of(dataset)]
    named = {crawl["snapshot"] for crawl in crawls if "snapshot" in crawl}
    used = {folder for name in named for folder in read_chain(store / name)}
    return [folder for folder in list_snapshots(root) if folder in used]


def list_snapshots(root: Path) -> list[Path]:
    """Return the folder of every snapshot, sorted."""
    return sorted(path.parent for path in (root / "data" / "store").glob("*/index.jsonl"))


def collect_removed(root: Path, graph: Graph, listed: Takedown, repo: Any) -> Content:
    """Return the removed records' content that nothing current refers to, from all shards in the caches and DVC's stores."""
    rated: list[Opener] = []
    shards = (opener for _, _, opener in list_shards(root, repo))
    removed = collect_content(shards, Matcher(listed), read_known_removals(root, graph), rated)
    current = collect_current(root, graph)
    removed -= current
    # Only now, since an image may be one that the chain still has.
    removed.items |= find_items(rated, removed) - current.keys
    return removed


def list_shards(root: Path, repo: Any) -> Iterator[tuple[str, str, Opener]]:
    """Yield (place, id, opener) of all that may be a shard in the shard cache, DVC's stores and the bucket, each object once."""
    for path in sorted((root / ".hearsight" / "cache").glob("*/*/*.parquet")):
        yield SHARD_CACHE, path.name, partial(open_file, path)
    seen: set[str] = set()
    for objects in bucket_objects.open_stores(root, repo):
        for oid in objects.ids():
            if oid not in seen and not oid.endswith(".dir"):
                seen.add(oid)
                yield objects.name, oid, partial(objects.open, oid)


def open_file(path: Path) -> IO[bytes]:
    return path.open("rb")


def find_answered_urls(folder: Path, bodies: Collection[str], listed: Takedown) -> set[str]:
    """Return the URLs in a snapshot whose answer has one of the ``bodies`` (sha256), and archives' copies of a listed address."""
    copies = folder.suffix == HEAL  # only there is an address within another one that of the same thing
    with FetchStore(folder) as store:
        return {entry.url for entry in store if entry.sha256 in bodies or (copies and listed.within(entry.url))}


def write_removed(root: Path, removed: Content, holders: Mapping[str, Collection[str]]) -> None:
    """Write the hashes of what was removed to :data:`REMOVED`, for later scans, and digest → entries for later answers."""
    content = {field_.name: sorted(getattr(removed, field_.name)) for field_ in fields(removed)}
    outputs = {digest: sorted({*entries, *read_holders(root).get(digest, ())}) for digest, entries in holders.items()}
    publish_json(root / REMOVED, content | {HOLDERS: read_holders(root) | outputs})


def read_holders(root: Path) -> dict[str, list[str]]:
    """Return the digest of each output that held a record when it was purged → the hashes of the entries that listed it."""
    return dict(json.loads((root / REMOVED).read_bytes()).get(HOLDERS, {})) if (root / REMOVED).exists() else {}
