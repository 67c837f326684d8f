"""The fetch store: what the web answered, once and for all (``data/store/<snapshot>``).

A crawl is not a function of its parameters, so its answers are data: appended to WARC 1.1 segments (one gzip member a
record, readable by any WARC tool), found through ``index.jsonl``, and closed by ``COMPLETE``. A record is indexed
only after its segment was synced; on opening, records that were written but not yet indexed are taken in, and a
torn tail, of a segment or of the index, is cut. So ``kill -9`` costs at most the response that was being written.
A snapshot may stand on an earlier one (``bases``): what did not change is an entry here and a body there.
``COMPLETE`` says how far into the index the snapshot goes: what a writer appends to a complete snapshot counts when a new
``COMPLETE`` takes the place of the old one, and is cut again when none does.
Not in scope: asking for anything (``fetch``), and what the answers mean (``walk``, ``records``).
"""

from __future__ import annotations

import fcntl
import json
from collections.abc import Callable, Collection, Iterable, Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import IO, Any

from components.core.digests import digest_value, sha256_bytes
from components.core.errors import HearsightError
from components.core.files import disk_error, publish_bytes, publish_json
from components.web.gzip_record import decompress_member
from components.web.index import index_line, read_index, torn_entries
from components.web.segments import Segments, damaged_error, not_writable_error, read_body, recover
from components.web.snapshot_chain import Base, check_held, claim_base, locate_body, read_bases
from components.web.warc import Entry, build_record, http_headers, utc_now

TRANSIENT = (
    "timeout", "connection", "dns", "tls", "retry_later", "host_failing", "internal_error",
    "robots_unreachable", "http_408", "not_json",
)  # fmt: skip
"""Failures an interrupted crawl asks about once more when it is taken up again."""


def is_transient(failure: str) -> bool:
    """Whether a failure may pass by itself."""
    return failure in TRANSIENT or failure.startswith("http_5")


class FetchStore:
    """One snapshot. Many may read it; ``writer=True`` takes its lock."""

    def __init__(self, folder: Path, *, writer: bool = False, base: str = "") -> None:
        self.folder = folder
        self.bases: list[Base] = []
        """The snapshots this one stands on, oldest first."""
        self.listener: Callable[[Entry], None] | None = None
        """Told of every answer as soon as it can be read."""
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

    # -- reading ---------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, url: str) -> bool:
        return url in self._entries

    def __iter__(self) -> Iterator[Entry]:
        return iter([self._entries[url] for url in sorted(self._entries)])

    def get(self, url: str) -> Entry | None:
        """The last word on ``url``, or None."""
        return self._entries.get(url)

    def body(self, url: str) -> bytes:
        """The body of the answer for ``url``; b'' for a failure.

        Raises:
            HearsightError: the record is damaged (its bytes are not those that were stored).
        """
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
        """The headers of the answer for ``url`` as it came; none of a failure.

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
        """The content of ``COMPLETE``, or None while the snapshot is open."""
        path = self.folder / "COMPLETE"
        try:
            content = json.loads(path.read_bytes())
            if not isinstance(content["digest"], str):
                raise TypeError("digest")
        except FileNotFoundError:
            return None
        except (ValueError, KeyError, TypeError):
            raise HearsightError(
                "is not what completes a snapshot", where=path, hint="remove it: the crawl will be taken up again"
            ) from None
        return dict(content)

    def digest(self) -> str:
        """The digest of what was answered: (url, status, failure, body's sha256), sorted; no times."""
        entries = self._forgotten | self._entries
        return digest_value([entries[url].essence for url in sorted(entries)])

    def verified_digest(self) -> str:
        """The digest that ``COMPLETE`` names, after checking that the index still gives it and that the bases stand.

        Raises:
            HearsightError: the store, or one that it stands on, was changed after it was completed, or is not complete.
        """
        said = self.complete
        if said is None:
            raise HearsightError("is not complete", where=self.folder, hint="run the crawl stage again")
        if said["digest"] != self.digest():
            raise HearsightError(
                "no longer holds what it was completed with",
                where=self.folder,
                hint="restore it, or remove the folder and crawl again",
            )
        check_held(self.folder, self.bases, self._entries.values())
        return str(said["digest"])

    # -- writing ---------------------------------------------------------------------------------------------------

    def add(
        self,
        entry: Entry,
        body: bytes = b"",
        headers: Iterable[tuple[str, str]] = (),
        reason: str = "",
        *,
        answered: int = 0,
    ) -> Entry:
        """Append one answer (or failure) and return its entry, placed. Durable after the next :meth:`sync`.

        An entry that says where an earlier snapshot holds its body is taken as it is; ``answered`` is then the status of
        the answer that confirmed it (304, or 200 with an equal body), 0 when nobody was asked.

        Raises:
            HearsightError: the disk is full; the store then takes nothing more, and what it holds stays good.
        """
        if self._segments is None:
            raise not_writable_error(self.folder)
        entry = replace(entry, fetched=entry.fetched or utc_now())
        if not entry.held:
            entry = replace(entry, sha256="" if entry.failure else sha256_bytes(body), bytes=len(body))
        placed = self._segments.add(entry, build_record(entry, body, headers, reason, answered))
        self._entries[entry.url] = placed
        if self.listener is not None:
            self.listener(placed)
        if self._segments.due:
            self.sync()
        return placed

    def sync(self) -> None:
        """Make everything added so far durable."""
        if self._segments is not None:
            self._segments.sync()

    def finish(self, about: dict[str, Any]) -> str:
        """Declare the snapshot complete; afterwards no one writes to it but to finish it anew. Returns its digest."""
        self.sync()
        index = self.folder / "index.jsonl"
        content = {
            "digest": self.digest(),
            "answers": len(self._forgotten | self._entries),
            "index_lines": index.read_bytes().count(b"\n") if index.exists() else 0,
            **about,
        }
        if self.bases:
            content["bases"] = [asdict(base) for base in self.bases]
        publish_json(self.folder / "COMPLETE", content)
        return str(content["digest"])

    def forget_transient(self) -> int:
        """Let the failures that may pass be asked about again; their records stay until better ones follow."""
        return self.forget([url for url, entry in self._entries.items() if is_transient(entry.failure)])

    def forget(self, urls: Collection[str]) -> int:
        """Let ``urls`` be asked about again; their records stay until new ones follow."""
        for url in urls:
            self._forgotten[url] = self._entries.pop(url)
        return len(urls)

    def close(self) -> None:
        """Sync and let go of the files and the lock; may be called twice."""
        try:
            if self._segments is not None:
                self._segments.close()
        finally:
            for handle in (*self._readers.values(), self._lock):
                if handle is not None:
                    handle.close()
            self._segments = self._lock = None
            self._readers.clear()

    def __enter__(self) -> FetchStore:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- opening ---------------------------------------------------------------------------------------------------

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
        said = self.complete
        lines, whole = read_index(self.folder, sizes, said.get("index_lines") if said else None)
        if self._writer and said is None:
            torn = torn_entries(self.folder, lines)
            lines, whole = [entry for entry in lines if entry not in torn], whole and not torn
        ends: dict[str, int] = dict.fromkeys(sizes, 0)
        for entry in lines:
            self._entries[entry.url] = entry
            ends[entry.segment] = max(ends[entry.segment], entry.offset + entry.length)
        # A snapshot changed by somebody else is told (``verified_digest``), and nothing is fixed or cut.
        if not self._writer or (said is not None and said["digest"] != self.digest()):
            return
        try:
            found = recover(self.folder, sizes, ends, complete=said is not None)
            self._entries.update((entry.url, entry) for entry in found)
            if found or not whole or said is not None:
                publish_bytes(self.folder / "index.jsonl", b"".join(index_line(entry) for entry in [*lines, *found]))
            if said is not None and said.get("index_lines") != len(lines):
                # Completed before lines were counted: counted now, before the first is appended.
                publish_json(self.folder / "COMPLETE", {**said, "index_lines": len(lines)})
            self._segments = Segments(self.folder, max(sizes, default=""))
        except OSError as error:
            raise disk_error(error, self.folder) from error


class BaseStore(FetchStore):
    """An earlier snapshot read under later parameters: what it never asked for counts as a failure, ``not_fetched``."""

    def get(self, url: str) -> Entry:
        """The last word on ``url``."""
        return self._entries.get(url) or Entry(url, 0, "not_fetched")
