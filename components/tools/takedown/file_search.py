"""Recognise listed items in text and bytes, and search files of any kind for them: parquet, tar, WARC, SQLite, or plain bytes.

A **hit** has to be deleted. A **mention** is a listed name inside someone else's page, caption or address: it belongs to a record
that stays. Text in a ledger is one or the other, depending on the stage that wrote it.
"""

from __future__ import annotations

import hashlib
import re
import sqlite3
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.tools.takedown.listing import normalise
from components.web.redaction import decode_lossy, find_listed, is_listed, redact, search_text
from components.web.takedown_list import RULE, Entry, Takedown, hash_value
from components.web.urls import normalise as normalise_url

_DIGEST = re.compile(rb"(?<![0-9a-f])[0-9a-f]{64}(?![0-9a-f])")
_AFTER = rb"(?![\w/?=&%~+-]|\.\w)"
OVERLAP = 4096
"""Bytes by which pieces of a large file overlap; longer than any value that is searched for."""
ADDRESS_COLUMNS = ("page_url", "image_url", "host", "owner")
"""Columns of a record that name where it comes from."""


class Matcher:
    """The listed items and content digests to recognise.

    By hashes, every address and host name in the bytes is looked up (``web.redaction``). A plain value is also searched
    literally, which finds it where no address rule expects it. Content digests of removed records are recognised in both cases.
    """

    def __init__(self, listed: Takedown, plain: Sequence[tuple[str, str]] = (), digests: Iterable[str] = ()) -> None:
        self.listed = listed
        self.digests = frozenset(digests)
        """sha256 of removed content that nothing current refers to."""
        self._plain = re.compile(b"|".join(map(_pattern, plain)), re.IGNORECASE) if plain else None
        self.plain: Sequence[tuple[str, str]] = ()
        """Canonical (kind, value) pairs that are everything listed; none where the list has only hashes."""

    @classmethod
    def from_plain(cls, plain: Sequence[tuple[str, str]], digests: Iterable[str] = ()) -> Matcher:
        """Build a matcher from plain (kind, value) pairs, whether or not they are listed."""
        values = [(kind, normalise(kind, value)) for kind, value in plain]
        # Records spell an address as it was requested, which is not its canonical form.
        spelled = [(kind, (normalise_url(value) or value).partition("://")[2] or value) for kind, value in plain if kind == "url"]
        listed = Takedown(Entry(kind, "", hash_value("", kind, value), "") for kind, value in values)
        matcher = cls(listed, [*dict.fromkeys([*values, *spelled])], digests)
        matcher.plain = values
        return matcher

    def is_listed(self, value: str) -> bool:
        """Return whether a URL or a host name is listed."""
        return is_listed(value, self.listed)

    def find_in_bytes(self, data: bytes, *, digests: bool = True) -> set[str]:
        """Return the listed items in ``data``, as spelled there, and with ``digests`` the digests of removed content."""
        matches = find_listed(data, self.listed)
        matches.update(map(decode_lossy, self._plain.findall(data) if self._plain else ()))
        if digests and self.digests:
            matches.update(token for token in map(decode_lossy, _DIGEST.findall(data)) if token in self.digests)
        return matches

    def find_hits(self, data: bytes, *, digests: bool = True) -> set[str]:
        """Return the matches outside other sites' addresses: there they are mentions, which stay."""
        return search_text(data, self.listed, partial(self.find_in_bytes, digests=digests))

    def find_in_text(self, value: str, *, digests: bool = True) -> set[str]:
        """Return the matches in a text that are no mentions."""
        return self.find_hits(value.encode("utf-8", "replace"), digests=digests)

    def redact(self, value: str) -> str:
        """Replace every listed address in ``value`` by its hash."""
        return redact(value, self.listed, partial(self.find_in_bytes, digests=False))


def _pattern(pair: tuple[str, str]) -> bytes:
    kind, value = pair
    if not value:
        raise HearsightError(f"an empty {kind} cannot be searched for", where="takedown", hint=f"give a {kind}")
    before = rb"(?<![a-z0-9-])" if kind == "host" else rb"(?<!\w)"
    after = rb"(?![a-z0-9-]|\.[a-z0-9])" if kind == "host" else _AFTER
    return before + re.escape(value.encode()) + after


TEXT_COLUMNS = frozenset(
    {"alt", "figcaption", "heading", "link_text", "text", "caption", "steps", "references", "output", "types", "labels", "words"}
    | {"unsupported"}
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

    def in_file(self, path: Path, *, digests: bool = True, crawl: bool = False) -> set[str]:
        """Return the parts of a file with a hit, its name included, since a thumbnail is named by the digest of its image.

        Args:
            digests: whether digests count as hits; false for files that list what was removed.
            crawl: whether a match in a ledger's text columns is an address of the crawl, a hit; else it is a mention.
        """
        with path.open("rb") as handle:
            hits = set(self._sqlite(path)) if handle.read(16).startswith(b"SQLite format 3") else set()
            hits |= self.in_stream(handle, digests=digests, crawl=crawl)
        return hits | {"the file's name"} if digests and self.has_removed_name(path.name) else hits

    def has_hits(self, folder: Path, *, crawl: bool = False) -> bool:
        """Return whether a file below a folder has a hit."""
        return any(self.in_file(path, crawl=crawl) for path in sorted(folder.rglob("*")) if path.is_file())

    def removed_names(self, text: str) -> set[str]:
        """Return the keys and digests of removed content in a text."""
        return {name for name in _NAME.findall(text) if name in self.keys or name in self.matcher.digests}

    def has_removed_name(self, path: str) -> bool:
        """Return whether a file's name is the key or the digest of something removed."""
        stem = path.rpartition("/")[2].partition(".")[0]
        return stem in self.keys or stem in self.matcher.digests

    def in_stream(self, handle: IO[bytes], *, digests: bool = True, crawl: bool = False) -> set[str]:
        """Search an open, seekable file of any kind but SQLite, as :meth:`in_file`."""
        handle.seek(0)
        head = handle.read(512)
        handle.seek(0)
        if head[:4] == b"PAR1":
            try:
                return set(self._parquet(handle, crawl))
            except (pa.ArrowException, OSError):
                handle.seek(0)
        elif head[:2] == b"\x1f\x8b":
            return set(self._gzip(handle, digests))
        hits = set(self._tar(handle)) if (tar := head[257:262] == b"ustar") else set()
        handle.seek(0)
        return hits | set(self._raw(handle, digests and not tar))

    def _raw(self, handle: IO[bytes], digests: bool) -> Iterator[str]:
        rest, sha256 = b"", hashlib.sha256()
        while piece := handle.read(PIECE):
            sha256.update(piece)
            data = rest + piece
            yield from self.matcher.find_hits(data, digests=digests)
            rest = data[-OVERLAP:]
        if digests and sha256.hexdigest() in self.matcher.digests:
            yield "the whole file"

    def _parquet(self, handle: IO[bytes], crawl: bool) -> Iterator[str]:
        for batch in pq.ParquetFile(handle).iter_batches(BATCH):
            table = pa.Table.from_batches([batch])
            if "rule" in table.column_names:
                # Rows about takedowns hold hashes and keys only, and stay.
                rules = table["rule"].to_pylist()
                table = table.filter(pa.array([rule != RULE for rule in rules], pa.bool_()))
            for name in table.column_names:
                strings = set(iterate_strings(table[name].to_pylist(), name))
                yield from (f"column {inner}" for inner, value in strings if self._is_hit(inner, value, crawl))

    def _is_hit(self, column: str, value: str, crawl: bool) -> bool:
        if column in KEY_COLUMNS and value.partition(".")[0] in self.keys:
            return True
        if column == "owner":
            return bool(self.matcher.listed.owner(value))
        if value in self.matcher.digests:
            return True
        quotes = column in TEXT_COLUMNS or (column in LEDGER_COLUMNS and not crawl)
        return not quotes and (self.matcher.is_listed(value) or bool(self.matcher.find_in_text(value)))

    def _tar(self, handle: IO[bytes]) -> Iterator[str]:
        with suppress(tarfile.TarError), tarfile.open(fileobj=handle, mode="r:") as tar:
            for member in tar:
                content = tar.extractfile(member) if member.isfile() else None
                digest = sha256_bytes(content.read()) if content else ""
                if self.has_removed_name(member.name) or digest in self.matcher.digests:
                    yield "a tar member"

    def _gzip(self, handle: IO[bytes], digests: bool) -> Iterator[str]:
        for data in gzip_members(handle):
            if not data.startswith(b"WARC/"):
                yield from self.matcher.find_hits(data, digests=digests)
                continue
            head, _, body = data.partition(b"\r\n\r\n")
            http, _, content = body.partition(b"\r\n\r\n")
            target = next(
                (line.partition(b":")[2].strip() for line in head.split(b"\r\n") if line.lower().startswith(b"warc-target-uri:")),
                b"",
            )
            locations = [line for line in http.split(b"\r\n") if line.lower().startswith(b"location:")]
            if self.matcher.is_listed(target.decode("utf-8", "replace").strip("<>")):
                yield "a WARC record's target"
            elif self.matcher.find_hits(b"\n".join([head, *locations]), digests=False):
                yield "a WARC record's header"
            if self.matcher.digests and sha256_bytes(content.removesuffix(b"\r\n\r\n")) in self.matcher.digests:
                yield "a WARC record's body"

    def _sqlite(self, path: Path) -> Iterator[str]:
        """Search row by row: a value that spans pages is not contiguous in the file."""
        with suppress(sqlite3.Error), closing(sqlite3.connect(f"file:{path}?mode=ro", uri=True)) as base:
            for table, column, value in iterate_cells(base):
                data = value if isinstance(value, bytes) else str(value).encode()
                is_removed = isinstance(value, bytes) and sha256_bytes(value) in self.matcher.digests
                if is_removed or self.matcher.find_in_bytes(data):
                    yield f"table {table}, column {column}"


def may_hold_crawl_addresses(path: Path) -> bool:
    """Return whether a ledger at a path relative to the project may hold record addresses: false for later stages' files."""
    match path.parts:
        case ("data", _, stage, _, *_):
            return stage == "crawl"
        case (".hearsight", "cache", step, _, *_):
            return step.partition(".")[0] == "crawl"
        case (".hearsight", "work", _, stage, *_):
            return stage == "crawl"
    return True


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
