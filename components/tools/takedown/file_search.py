"""Search a file of any kind for listed items: parquet, tar, WARC, SQLite, or plain bytes."""

from __future__ import annotations

import hashlib
import io
import re
import sqlite3
import tarfile
import zlib
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.digests import sha256_bytes
from components.tools.takedown.matcher import OVERLAP, Matcher
from components.tools.takedown.search_result import SearchResult
from components.web.takedown_list import RULE

TEXT_COLUMNS = frozenset(
    {"alt", "figcaption", "text", "caption", "steps", "references", "output", "types", "labels", "words", "unsupported"}
)
"""Columns that quote people: a listed name in them is a mention."""
LEDGER_COLUMNS = frozenset({"value", "threshold", "detail"})
"""A ledger's text columns: they hold record addresses in the crawl, and quote captions in later stages."""
KEY_COLUMNS = ("key", "record", "records", "query", "candidate", "item")
"""Columns of keys, of utterances ``<record>.<n>`` and of ratings ``<item>.<rater>``."""
PIECE = 8 * 1024 * 1024
"""Bytes read at once."""
BATCH = 4096
"""Parquet rows read at once."""
_NAME = re.compile(r"[0-9A-Za-z_-]+")


@dataclass(frozen=True)
class FileSearch:
    """A search of files for addresses and digests (``matcher``), and for the keys of removed records."""

    matcher: Matcher
    keys: frozenset[str] = frozenset()

    def in_file(self, path: Path, *, digests: bool = True, crawl: bool = False) -> SearchResult:
        """Search a file's content and its name, since a thumbnail is named by the digest of its image.

        Args:
            digests: whether digests count as hits; false for files that list what was removed.
            crawl: whether a match in a ledger's text columns is an address of the crawl, a hit; else it is a mention.
        """
        result = self._search_content(path, digests, crawl)
        if digests and self.has_removed_name(path.name):
            result.add_hit("the file's name")
        return result

    def has_hits(self, folder: Path) -> bool:
        """Return whether a file below a folder has a hit outside a ledger's text columns."""
        return any(self.in_file(path).hits for path in sorted(folder.rglob("*")) if path.is_file())

    def removed_names(self, text: str) -> set[str]:
        """Return the keys and digests of removed content in a text."""
        return {name for name in _NAME.findall(text) if name in self.keys or name in self.matcher.digests}

    def has_removed_name(self, path: str) -> bool:
        """Return whether a file's name is the key or the digest of something removed."""
        stem = path.rpartition("/")[2].partition(".")[0]
        return stem in self.keys or stem in self.matcher.digests

    def _search_content(self, path: Path, digests: bool, crawl: bool) -> SearchResult:
        with path.open("rb") as handle:
            if handle.read(16).startswith(b"SQLite format 3"):
                result = SearchResult(bytes=path.stat().st_size)
                self._sqlite(path, result)
                handle.seek(0)
                self._raw(handle, result, digests)
                return result
            handle.seek(0)
            return self.in_stream(handle, digests=digests, crawl=crawl)

    def in_stream(self, handle: IO[bytes], *, digests: bool = True, crawl: bool = False) -> SearchResult:
        """Search an open, seekable file of any kind but SQLite, as :meth:`in_file`."""
        result = SearchResult(bytes=handle.seek(0, io.SEEK_END))
        handle.seek(0)
        head = handle.read(512)
        handle.seek(0)
        if head[:4] == b"PAR1":
            self._parquet(handle, result, crawl)
        elif head[:2] == b"\x1f\x8b":
            self._gzip(handle, result, digests)
        elif head[257:262] == b"ustar":
            self._tar(handle, result)
            handle.seek(0)
            self._raw(handle, result, False)
        else:
            self._raw(handle, result, digests)
        return result

    def _raw(self, handle: IO[bytes], result: SearchResult, digests: bool) -> None:
        rest, sha256 = b"", hashlib.sha256()
        while piece := handle.read(PIECE):
            sha256.update(piece)
            data = rest + piece
            self._bytes(data, result, digests)
            rest = data[-OVERLAP:]
        if digests and sha256.hexdigest() in self.matcher.digests:
            result.add_hit("the whole file")

    def _bytes(self, data: bytes, result: SearchResult, digests: bool) -> None:
        matches, mentions = self.matcher.split_mentions(data, digests=digests)
        result.mentions += mentions
        for match in matches:
            result.add_hit(match)

    def _parquet(self, handle: IO[bytes], result: SearchResult, crawl: bool) -> None:
        try:
            shard = pq.ParquetFile(handle)
            for batch in shard.iter_batches(BATCH):
                table = pa.Table.from_batches([batch])
                if "rule" in table.column_names:
                    # Rows about takedowns hold hashes and keys only, and stay.
                    rules = table["rule"].to_pylist()
                    table = table.filter(pa.array([rule != RULE for rule in rules], pa.bool_()))
                for name in table.column_names:
                    for inner, value in set(iterate_strings(table[name].to_pylist(), name)):
                        self._value(inner, value, result, crawl)
        except (pa.ArrowException, OSError):
            handle.seek(0)
            self._raw(handle, result, True)

    def _value(self, name: str, value: str, result: SearchResult, crawl: bool) -> None:
        if name in KEY_COLUMNS and value.partition(".")[0] in self.keys:
            result.add_hit(f"column {name}")
        elif name == "owner":
            result.hits.update({"column owner": 1} if self.matcher.listed.owner(value) else {})
        elif value in self.matcher.digests or (name not in TEXT_COLUMNS | LEDGER_COLUMNS and self.matcher.is_listed(value)):
            result.add_hit(f"column {name}")
        else:
            matches, mentions = self.matcher.split_mentions(value.encode("utf-8", "replace"))
            result.mentions += mentions
            if name in TEXT_COLUMNS or (name in LEDGER_COLUMNS and not crawl):
                result.mentions += len(matches)
            elif matches:
                result.add_hit(f"column {name}", len(matches))

    def _tar(self, handle: IO[bytes], result: SearchResult) -> None:
        try:
            with tarfile.open(fileobj=handle, mode="r:") as tar:
                for member in tar:
                    stem = Path(member.name).name.partition(".")[0]
                    content = tar.extractfile(member) if member.isfile() else None
                    digest = sha256_bytes(content.read()) if content else ""
                    if stem in self.keys or stem in self.matcher.digests or digest in self.matcher.digests:
                        result.add_hit("a tar member")
        except tarfile.TarError:
            return

    def _gzip(self, handle: IO[bytes], result: SearchResult, digests: bool) -> None:
        for data in gzip_members(handle):
            if not data.startswith(b"WARC/"):
                self._bytes(data, result, digests)
                continue
            head, _, body = data.partition(b"\r\n\r\n")
            http, _, content = body.partition(b"\r\n\r\n")
            target = next(
                (line.partition(b":")[2].strip() for line in head.split(b"\r\n") if line.lower().startswith(b"warc-target-uri:")),
                b"",
            )
            locations = [line for line in http.split(b"\r\n") if line.lower().startswith(b"location:")]
            if self.matcher.is_listed(target.decode("utf-8", "replace").strip("<>")):
                result.add_hit("a WARC record's target")
            elif matches := self.matcher.split_mentions(b"\n".join([head, *locations]), digests=False)[0]:
                result.add_hit("a WARC record's header", len(matches))
            else:
                result.mentions += len(self.matcher.find_in_bytes(body, digests=False))
            if self.matcher.digests and sha256_bytes(content.removesuffix(b"\r\n\r\n")) in self.matcher.digests:
                result.add_hit("a WARC record's body")

    def _sqlite(self, path: Path, result: SearchResult) -> None:
        """Search row by row: a value that spans pages is not contiguous in the file."""
        try:
            with closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as base:
                for table, column, value in iterate_cells(base):
                    data = value if isinstance(value, bytes) else str(value).encode()
                    if self.matcher.find_in_bytes(data) or (
                        isinstance(value, bytes) and sha256_bytes(value) in self.matcher.digests
                    ):
                        result.add_hit(f"table {table}, column {column}")
        except sqlite3.Error:
            return


def iterate_cells(base: sqlite3.Connection) -> Iterator[tuple[str, str, Any]]:
    """Yield every text and blob of a database as (table, column, value)."""
    for (table,) in base.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall():
        for row in base.execute(f'PRAGMA table_info("{table}")').fetchall():
            query = f'SELECT "{row[1]}" FROM "{table}" WHERE typeof("{row[1]}") IN (\'text\', \'blob\')'
            for (value,) in base.execute(query):
                yield table, row[1], value


def gzip_members(handle: IO[bytes]) -> Iterator[bytes]:
    """Yield the decompressed gzip members of a file; stop at a truncated one."""
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


def iterate_strings(values: Any, name: str) -> Iterator[tuple[str, str]]:
    """Yield (innermost name, string) for every string inside nested lists and mappings."""
    if isinstance(values, str):
        yield name, values
    elif isinstance(values, dict):
        for inner, value in values.items():
            yield from iterate_strings(value, str(inner))
    elif isinstance(values, list):
        for value in values:
            yield from iterate_strings(value, name)
