"""Looking into one file of ours for listed things, whatever its kind: parquet, tar, WARC, SQLite, or plain bytes.

A **hit** is what has to go. A **mention** is another's page, caption or address that names the listed one in its own words: it
belongs to a record that stays, and is counted, not removed.
"""

from __future__ import annotations

import hashlib
import io
import sqlite3
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.digests import sha256_bytes
from components.tools.takedown.matcher import OVERLAP, Wanted
from components.web.takedown_list import RULE

WORDS = frozenset({"alt", "figcaption", "text", "caption", "steps", "references", "output", "types", "labels", "words", "unseen"})
"""Columns that hold words of people, not addresses of ours."""
TOLD = frozenset({"value", "threshold", "detail"})
"""A ledger's own words: in the crawl's they tell addresses of ours, in a later stage's they quote captions."""
KEYS = ("key", "record")
PIECE = 8 * 1024 * 1024
BATCH = 4096


@dataclass
class Look:
    """What one file holds."""

    hits: dict[str, int] = field(default_factory=dict)
    """Where inside the file, and how often."""
    told: dict[str, int] = field(default_factory=dict)
    """The same in a ledger's words, until :meth:`settle` says what they are."""
    mentions: int = 0
    bytes: int = 0

    def hit(self, where: str, count: int = 1) -> None:
        """Count a hit."""
        self.hits[where] = self.hits.get(where, 0) + count

    def settle(self, of_the_crawl: bool) -> Look:
        """Count a ledger's words as hits when they may be addresses of ours, else as mentions."""
        for where, count in self.told.items():
            if of_the_crawl:
                self.hit(where, count)
            else:
                self.mentions += count
        self.told = {}
        return self


def of_the_crawl(where: Path) -> bool:
    """Whether a file at that place in a project may hold addresses of ours in a ledger: all but the later stages' files."""
    match where.parts:
        case ("data", _, stage, _, *_):
            return stage == "crawl"
        case (".hearsight", "cache", step, _, *_):
            return step.partition(".")[0] == "crawl"
        case (".hearsight", "work", _, stage, *_):
            return stage == "crawl"
    return True


@dataclass(frozen=True)
class Seeker:
    """What is looked for in files: addresses and digests (``wanted``), and the keys of removed records."""

    wanted: Wanted
    keys: frozenset[str] = frozenset()

    def file(self, path: Path, *, digests: bool = True) -> Look:
        """Look into the file at ``path``, and at its name: a small picture is named by the digest of the large one."""
        look = self._inside(path, digests)
        if digests and self.named(path.name):
            look.hit("the file's name")
        return look

    def named(self, path: str) -> bool:
        """Whether a file is called by the key or the digest of something removed."""
        stem = path.rpartition("/")[2].partition(".")[0]
        return stem in self.keys or stem in self.wanted.digests

    def _inside(self, path: Path, digests: bool) -> Look:
        with path.open("rb") as handle:
            if handle.read(16).startswith(b"SQLite format 3"):
                look = Look(bytes=path.stat().st_size)
                self._sqlite(path, look)
                handle.seek(0)
                self._raw(handle, look, digests)
                return look
            handle.seek(0)
            return self.stream(handle, digests=digests)

    def stream(self, handle: IO[bytes], *, digests: bool = True) -> Look:
        """Look into an open, seekable file of any kind but SQLite."""
        look = Look(bytes=handle.seek(0, io.SEEK_END))
        handle.seek(0)
        head = handle.read(512)
        handle.seek(0)
        if head[:4] == b"PAR1":
            self._parquet(handle, look)
        elif head[:2] == b"\x1f\x8b":
            self._packed(handle, look, digests)
        elif head[257:262] == b"ustar":
            self._tar(handle, look)
            handle.seek(0)
            self._raw(handle, look, False)
        else:
            self._raw(handle, look, digests)
        return look

    def _raw(self, handle: IO[bytes], look: Look, digests: bool) -> None:
        rest, whole = b"", hashlib.sha256()
        while piece := handle.read(PIECE):
            whole.update(piece)
            data = rest + piece
            named, others = self.wanted.apart(data, digests=digests)
            look.mentions += others
            for found in named:
                look.hit(found)
            rest = data[-OVERLAP:]
        if digests and whole.hexdigest() in self.wanted.digests:
            look.hit("the whole file")

    def _parquet(self, handle: IO[bytes], look: Look) -> None:
        try:
            shard = pq.ParquetFile(handle)
            for batch in shard.iter_batches(BATCH):
                table = pa.Table.from_batches([batch])
                if "rule" in table.column_names:
                    # What a run says of its own takedowns is hashes and keys, and stays.
                    rules = table["rule"].to_pylist()
                    table = table.filter(pa.array([rule != RULE for rule in rules], pa.bool_()))
                for name in table.column_names:
                    for inner, value in set(strings(table[name].to_pylist(), name)):
                        self._value(inner, value, look)
        except (pa.ArrowException, OSError):
            handle.seek(0)
            self._raw(handle, look, True)

    def _value(self, name: str, value: str, look: Look) -> None:
        if name in KEYS and value.partition(".")[0] in self.keys:
            look.hit(f"column {name}")
        elif name == "owner":
            look.hits.update({"column owner": 1} if self.wanted.listed.owner(value) else {})
        elif value in self.wanted.digests or (name not in WORDS | TOLD and self.wanted.address(value)):
            look.hit(f"column {name}")
        else:
            found, others = self.wanted.apart(value.encode("utf-8", "replace"))
            look.mentions += others
            if found and name in WORDS:
                look.mentions += len(found)
            elif found and name in TOLD:
                look.told[f"column {name}"] = look.told.get(f"column {name}", 0) + len(found)
            elif found:
                look.hit(f"column {name}", len(found))

    def _tar(self, handle: IO[bytes], look: Look) -> None:
        try:
            with tarfile.open(fileobj=handle, mode="r:") as tar:
                for member in tar:
                    stem = Path(member.name).name.partition(".")[0]
                    content = tar.extractfile(member) if member.isfile() else None
                    digest = sha256_bytes(content.read()) if content else ""
                    if stem in self.keys or stem in self.wanted.digests or digest in self.wanted.digests:
                        look.hit("a tar member")
        except tarfile.TarError:
            return

    def _packed(self, handle: IO[bytes], look: Look, digests: bool) -> None:
        for data in members(handle):
            if not data.startswith(b"WARC/"):
                named, others = self.wanted.apart(data, digests=digests)
                look.mentions += others
                for found in named:
                    look.hit(found)
                continue
            head, _, body = data.partition(b"\r\n\r\n")
            http, _, content = body.partition(b"\r\n\r\n")
            target = next(
                (line.partition(b":")[2].strip() for line in head.split(b"\r\n") if line.lower().startswith(b"warc-target-uri:")),
                b"",
            )
            if self.wanted.address(target.decode("utf-8", "replace").strip("<>")):
                look.hit("a WARC record's target")
            elif named := self.wanted.apart(head + b"\n" + _location(http), digests=False)[0]:
                look.hit("a WARC record's header", len(named))
            else:
                look.mentions += len(self.wanted.in_bytes(body, digests=False))
            if self.wanted.digests and sha256_bytes(content.removesuffix(b"\r\n\r\n")) in self.wanted.digests:
                look.hit("a WARC record's body")

    def _sqlite(self, path: Path, look: Look) -> None:
        """Row by row as well as raw: a value that spans pages does not lie in one piece."""
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as base:
                for table, column, value in cells(base):
                    data = value if isinstance(value, bytes) else str(value).encode()
                    if self.wanted.in_bytes(data) or (isinstance(value, bytes) and sha256_bytes(value) in self.wanted.digests):
                        look.hit(f"table {table}, column {column}")
        except sqlite3.Error:
            return


def cells(base: sqlite3.Connection) -> Iterator[tuple[str, str, Any]]:
    """Every text and blob of a database, as (table, column, value)."""
    for (table,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        for row in base.execute(f'PRAGMA table_info("{table}")').fetchall():
            query = f'SELECT "{row[1]}" FROM "{table}" WHERE typeof("{row[1]}") IN (\'text\', \'blob\')'
            for (value,) in base.execute(query):
                yield table, row[1], value


def members(handle: IO[bytes]) -> Iterator[bytes]:
    """The gzip members of a file, decompressed one after the other; a torn end is passed over."""
    rest = b""
    while rest or (rest := handle.read(65536)):
        unpacker, pieces = zlib.decompressobj(zlib.MAX_WBITS | 16), []
        try:
            while not unpacker.eof and (rest or (rest := handle.read(65536))):
                pieces.append(unpacker.decompress(rest))
                rest = unpacker.unused_data
        except zlib.error:
            return
        yield b"".join(pieces)


def strings(values: Any, name: str) -> Iterator[tuple[str, str]]:
    """Every string inside nested lists and mappings, with the innermost name it stands under."""
    if isinstance(values, str):
        yield name, values
    elif isinstance(values, dict):
        for inner, value in values.items():
            yield from strings(value, str(inner))
    elif isinstance(values, list):
        for value in values:
            yield from strings(value, name)


def _location(http: bytes) -> bytes:
    return b"\n".join(line for line in http.split(b"\r\n") if line.lower().startswith(b"location:"))
