"""The fetch store: the answers of the web, kept permanently (``data/store/<snapshot>``).

Answers are appended to WARC 1.1 segments (one gzip member per record), located through ``index.jsonl``, and closed by
``COMPLETE``. A record is indexed only after its segment was synced. Opening for writing indexes complete records that the index
lacks and truncates an incomplete end of a segment or the index, so ``kill -9`` costs at most the response being written.

A snapshot may build on an earlier one (``snapshot_chain``): an unchanged answer is an entry here and a body there. ``COMPLETE``
states how many index lines the snapshot has: lines appended later count once a new ``COMPLETE`` replaces the old one, and are
removed otherwise.
"""

from __future__ import annotations

import fcntl
from collections.abc import Collection, Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Any, Self

from components.core.digests import digest_value, sha256_bytes
from components.core.errors import HearsightError
from components.core.files import disk_error, publish_bytes, publish_json
from components.web.gzip_record import decompress_member
from components.web.segments import (
    Segments,
    damaged_error,
    find_torn_entries,
    index_line,
    not_writable_error,
    read_body,
    read_index,
    recover,
)
from components.web.snapshot_chain import Base, check_held, claim_base, locate_body, read_bases, read_completion
from components.web.warc import Entry, build_record, http_headers, utc_now

TRANSIENT = (
    "timeout", "connection", "dns", "tls", "retry_later", "host_failing", "internal_error",
    "robots_unreachable", "http_408", "not_json", "private_address", "challenge",
)  # fmt: skip
"""Failures that a resumed crawl requests once more, as ``http_5xx``."""


class FetchStore:
    """One snapshot. Any number of readers; ``writer=True`` takes its lock."""

    def __init__(self, folder: Path, *, writer: bool = False, base: str = "") -> None:
        self.folder = folder
        self.bases: list[Base] = []
        """The snapshots this one builds on, oldest first."""
        self._entries: dict[str, Entry] = {}
        self._forgotten: dict[str, Entry] = {}
        self._segments: Segments | None = None
        self._lock: IO[str] | None = None
        self._readers: dict[str, IO[bytes]] = {}
        self._writer = writer
        if writer:
            self._take_lock()
        try:
            self.bases = claim_base(folder, base) if writer else read_bases(folder)
            self._load()
        except BaseException:
            self.close()
            raise

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, url: str) -> bool:
        return url in self._entries

    def __iter__(self) -> Iterator[Entry]:
        return iter([self._entries[url] for url in sorted(self._entries)])

    def get(self, url: str) -> Entry | None:
        """Return the latest entry for ``url``, or None."""
        return self._entries.get(url)

    def body(self, url: str) -> bytes:
        """Return the body of the answer for ``url``; b'' for a failure. Raises HearsightError: the record is damaged."""
        entry = self._entries[url]
        if entry.failure:
            return b""
        try:
            path, offset, length = locate_body(self.folder, entry)
        except ValueError:
            raise damaged_error(f"the stored answer for {url}", self.folder / "index.jsonl") from None
        reader = self._readers.get(str(path))
        if reader is None and path.exists():
            reader = self._readers[str(path)] = path.open("rb")
        body = read_body(reader or path, offset, length, entry.sha256)
        if body is None:
            raise damaged_error(f"the stored answer for {url}", path)
        return body

    def headers(self, url: str) -> list[tuple[str, str]]:
        """Return the headers of the answer for ``url`` as sent; empty for a failure.

        Raises:
            HearsightError: the record is damaged.
        """
        entry = self._entries[url]
        path = self.folder / entry.segment
        try:
            with path.open("rb") as handle:
                handle.seek(entry.offset)
                return http_headers(decompress_member(handle.read(entry.length)))
        except (ValueError, FileNotFoundError):
            raise damaged_error(f"the stored answer for {url}", path) from None

    @property
    def complete(self) -> dict[str, Any] | None:
        """The content of ``COMPLETE``; None while the snapshot is open."""
        return read_completion(self.folder, "remove it and run the crawl stage again: the crawl is resumed")

    def digest(self) -> str:
        """Return the digest of all answers: (url, status, failure, body's sha256), sorted; no times."""
        entries = self._forgotten | self._entries
        return digest_value([entries[url].essence for url in sorted(entries)])

    def verified_digest(self) -> str:
        """Return the digest that ``COMPLETE`` states, after checking the index against it and the bases.

        Raises:
            HearsightError: the store or a base was changed after it was completed, or the store is not complete.
        """
        completion = self.complete
        if completion is None:
            raise HearsightError("is not complete", where=self.folder, hint="run the crawl stage again")
        if completion["digest"] != self.digest():
            hint = "restore it, or remove the folder and crawl again"
            raise HearsightError("was changed after it was completed", where=self.folder, hint=hint)
        check_held(self.folder, self.bases, self._entries.values())
        return str(completion["digest"])

    def add(
        self,
        entry: Entry,
        body: bytes = b"",
        headers: Iterable[tuple[str, str]] = (),
        reason: str = "",
        *,
        answered: int = 0,
    ) -> Entry:
        """Append one answer or failure and return its entry with its position. It is durable after the next :meth:`sync`.

        An entry whose body is in an earlier snapshot is stored unchanged; ``answered`` is then the status of the answer that
        confirmed it (304, or 200 with an equal body), 0 without a request.

        Raises:
            HearsightError: the disk is full; the store then accepts nothing more, and its content stays valid.
        """
        if self._segments is None:
            raise not_writable_error(self.folder)
        entry = replace(entry, fetched=entry.fetched or utc_now())
        if not entry.held:
            entry = replace(entry, sha256="" if entry.failure else sha256_bytes(body), bytes=len(body))
        placed = self._segments.add(entry, build_record(entry, body, headers, reason, answered))
        self._entries[entry.url] = placed
        if self._segments.due:
            self.sync()
        return placed

    def sync(self) -> None:
        """Make all added answers durable."""
        if self._segments is not None:
            self._segments.sync()

    def finish(self, facts: dict[str, Any]) -> str:
        """Mark the snapshot as complete and return its digest; later writes need another ``finish``."""
        self.sync()
        index = self.folder / "index.jsonl"
        content = {
            "digest": self.digest(),
            "answers": len(self._forgotten | self._entries),
            "index_lines": index.read_bytes().count(b"\n") if index.exists() else 0,
            **facts,
        }
        if self.bases:
            content["bases"] = [asdict(base) for base in self.bases]
        publish_json(self.folder / "COMPLETE", content)
        return str(content["digest"])

    def forget_transient(self) -> int:
        """Allow transient failures to be requested again; their records stay until better ones follow."""
        failures = {url: entry.failure for url, entry in self._entries.items()}
        return self.forget([url for url, name in failures.items() if name in TRANSIENT or name.startswith("http_5")])

    def forget(self, urls: Collection[str]) -> int:
        """Allow ``urls`` to be requested again; their records stay until new ones follow."""
        for url in urls:
            self._forgotten[url] = self._entries.pop(url)
        return len(urls)

    def close(self) -> None:
        """Sync and release the files and the lock; may be called twice."""
        try:
            if self._segments is not None:
                self._segments.close()
        finally:
            for handle in (*self._readers.values(), self._lock):
                if handle is not None:
                    handle.close()
            self._segments = self._lock = None
            self._readers.clear()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _take_lock(self) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            self._lock = (self.folder / "lock").open("a+")
        except OSError as error:
            raise disk_error(error, self.folder) from error
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._lock.close()
            raise HearsightError(
                "another crawl is writing this snapshot", where=self.folder, hint="wait for it, or name another snapshot"
            ) from None

    def _load(self) -> None:
        sizes = {path.name: path.stat().st_size for path in sorted(self.folder.glob("segment-*.warc.gz"))}
        completion = self.complete
        lines, index_valid = read_index(self.folder, sizes, completion.get("index_lines") if completion else None)
        if self._writer and completion is None:
            torn = find_torn_entries(self.folder, lines)
            lines, index_valid = [entry for entry in lines if entry not in torn], index_valid and not torn
        ends: dict[str, int] = dict.fromkeys(sizes, 0)
        for entry in lines:
            self._entries[entry.url] = entry
            ends[entry.segment] = max(ends[entry.segment], entry.offset + entry.length)
        # A snapshot changed by others is reported by ``verified_digest``; nothing is repaired or removed.
        if not self._writer or (completion is not None and completion["digest"] != self.digest()):
            return
        try:
            recovered = recover(self.folder, sizes, ends, complete=completion is not None)
            self._entries.update((entry.url, entry) for entry in recovered)
            if recovered or not index_valid or completion is not None:
                publish_bytes(self.folder / "index.jsonl", b"".join(index_line(entry) for entry in [*lines, *recovered]))
            if completion is not None and completion.get("index_lines") != len(lines):
                # Older snapshots lack the count: it is set before the first line is appended.
                publish_json(self.folder / "COMPLETE", {**completion, "index_lines": len(lines)})
            self._segments = Segments(self.folder, max(sizes, default=""))
        except OSError as error:
            raise disk_error(error, self.folder) from error


class BaseStore(FetchStore):
    """An earlier snapshot read under later parameters: a URL it never requested counts as a failure, ``not_fetched``."""

    def get(self, url: str) -> Entry:
        """Return the latest entry for ``url``."""
        return self._entries.get(url) or Entry(url, 0, "not_fetched")
