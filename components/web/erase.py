"""Remove listed answers from a fetch store permanently: from its segments and its index.

A record is overwritten in place by a filler record of the same length (``gzip_record``). No other record moves, so that entries
of later snapshots that refer to a position stay valid, also after a kill. No disk space is freed. The index then loses its lines,
and ``COMPLETE`` gets the new digest, which ``takedown_journal`` links to the old one.

A redirect to a listed address becomes a failure ``takedown`` under its own, unlisted URL: its target is removed and it is not
requested again.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from components.core.digests import digest_value, sha256_bytes
from components.core.errors import HearsightError
from components.core.files import disk_error, publish_bytes
from components.web.charset import parse_charset
from components.web.gzip_record import build_filler
from components.web.html.page import read_page
from components.web.redaction import redact
from components.web.segments import index_line, read_index, write_all
from components.web.snapshot_chain import find_dependents, read_chain
from components.web.store import FetchStore
from components.web.takedown_journal import append_removal, follow_digest
from components.web.takedown_list import RULE, Takedown
from components.web.urls import make_absolute
from components.web.warc import Entry

CONSENT = "consent"
"""Folder of a snapshot with what crawls wrote of its statements about use; the next crawl writes it again."""
COUNTED = ("digest", "answers", "index_lines", "bases")
"""Keys of ``COMPLETE`` that the store computes itself."""


def erase_chain(folder: Path, base: str, listed: Takedown) -> None:
    """Run :func:`erase` on the snapshot at ``folder`` and on all its bases; ``base`` names the base it will have, '' for none."""
    for snapshot in read_chain(folder, base):
        erase(snapshot, listed)


def erase(folder: Path, listed: Takedown, also: Collection[str] = ()) -> int:
    """Remove every answer that ``listed`` names from the snapshot at ``folder``; return how many were removed.

    ``also``: further URLs to remove, except those whose body a later snapshot refers to. A kill at any moment leaves a store that
    the next call completes.

    Raises:
        HearsightError: another process writes the snapshot, it was changed by others, or the disk is full.
    """
    if not listed:
        return 0
    also = set(also) - find_shared_urls(folder) if also else set()
    erasing = any(folder.glob("segment-*.warc.gz")) and (bool(also) or not _is_clear(folder, listed))
    for path in sorted((folder / CONSENT).glob("*" if erasing else "*.parquet")):
        if erasing or _names_listed(path, listed):
            path.unlink(missing_ok=True)
    if not erasing:
        return 0
    _renew_complete(folder, listed)
    with FetchStore(folder, writer=True) as store:  # indexes or removes what a kill left unindexed
        lines = _read_lines(folder)
        removed = [entry for entry in lines if listed.url(entry.url) or entry.url in also]
        redirects = {entry: mark for entry in lines if entry.url not in also and (mark := _match_target(entry, listed))}
        if removed or redirects:
            _append_to_journal(store, lines, removed, redirects, listed)
            for entry, mark in redirects.items():
                if store.get(entry.url) == entry:
                    store.add(Entry(entry.url, 0, RULE, mark))
            store.sync()
            erased = {*removed, *redirects}
            _overwrite(folder, erased)
            kept = [entry for entry in _read_lines(folder) if entry not in erased]
            publish_bytes(folder / "index.jsonl", b"".join(index_line(entry) for entry in kept))
    _renew_complete(folder, listed)
    return len({entry.url for entry in removed})


def _names_listed(path: Path, listed: Takedown) -> bool:
    """Return whether a consent ledger names something listed, or cannot be read."""
    try:
        with pq.ParquetFile(path) as file:
            columns = (column for batch in file.iter_batches(use_threads=False) for column in batch.columns)
            flat = (pc.list_flatten(column) if pa.types.is_list(column.type) else column for column in columns)
            texts = ("\n".join(map(str, pc.unique(column).to_pylist())) for column in flat)
            return any(redact(text, listed) != text for text in texts)
    except (pa.ArrowException, OSError):
        return True


def replace_redirect(entry: Entry, listed: Takedown) -> Entry:
    """Return ``entry``; if it redirects to a listed address, the failure stored instead."""
    mark = _match_target(entry, listed)
    return Entry(entry.url, 0, RULE, mark) if mark else entry


def find_shared_urls(folder: Path) -> set[str]:
    """Return the URLs whose body in this snapshot is also the body of a later snapshot's answer."""
    urls: set[str] = set()
    for later in find_dependents(folder):
        urls.update(entry.url for entry in _read_lines(later) if entry.held.startswith(f"{folder.name}/"))
    return urls


def count_affected(folder: Path, listed: Takedown, also: Collection[str] = ()) -> int:
    """Return how many answers of the snapshot are listed, redirect to a listed address, or are among ``also``."""
    return sum(bool(listed.url(entry.url) or _match_target(entry, listed) or entry.url in also) for entry in _read_lines(folder))


def _match_target(entry: Entry, listed: Takedown) -> str:
    if not entry.location or listed.url(entry.url):
        return ""
    return listed.url(make_absolute(entry.location, entry.url) or "")


def _segment_sizes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in folder.glob("segment-*.warc.gz")}


def _read_lines(folder: Path) -> list[Entry]:
    """Return every line of the index, superseded entries included."""
    return read_index(folder, _segment_sizes(folder))[0]


def _is_clear(folder: Path, listed: Takedown) -> bool:
    """Return whether a complete snapshot holds nothing listed, so that it need not be opened for writing."""
    with FetchStore(folder) as store:
        completion = store.complete
        if completion is None or completion["digest"] != store.digest() or _without_listed(completion, listed) != completion:
            return False
    lines, ends = _read_lines(folder), dict[str, int]()
    for entry in lines:
        ends[entry.segment] = max(ends.get(entry.segment, 0), entry.offset + entry.length)
    intact = ends == _segment_sizes(folder) and completion.get("index_lines", len(lines)) == len(lines)
    return intact and not any(listed.url(entry.url) or _match_target(entry, listed) for entry in lines)


def _append_to_journal(
    store: FetchStore, lines: Sequence[Entry], removed: Collection[Entry], redirects: dict[Entry, str], listed: Takedown
) -> None:
    last = {entry.url: entry for entry in lines}
    urls = {entry.url for entry in removed}
    after = {url: replace_redirect(entry, listed) for url, entry in last.items() if url not in urls}
    texts, images = _hash_shown(store, removed)
    note = {
        "before": store.digest(),
        "after": digest_value([after[url].essence for url in sorted(after)]),
        "entries": sorted({*(listed.url(url) for url in urls), *redirects.values()} - {""}),
        "answers": len(urls),
        "bodies": sorted({entry.sha256 for entry in removed if entry.sha256}),
        "texts": sorted(texts),
        "images": sorted(images),
    }
    append_removal(store.folder, note)


def _hash_shown(store: FetchStore, removed: Iterable[Entry]) -> tuple[set[str], set[str]]:
    """Return the sha256 of every alt-text (the key of its annotations) and of every image address on the removed pages."""
    texts, images = set[str](), set[str]()
    for entry in removed:
        if "html" in entry.type and store.get(entry.url) == entry:
            try:
                body = store.body(entry.url)
            except HearsightError:  # overwritten already, by a killed call that recorded it, or in its base
                continue
            page = read_page(body, entry.url, parse_charset(entry.type))
            texts.update(sha256_bytes(candidate.alt.encode()) for candidate in page.candidates if candidate.alt)
            images.update(sha256_bytes(candidate.image_url.encode()) for candidate in page.candidates if candidate.image_url)
    return texts, images


def _overwrite(folder: Path, entries: Iterable[Entry]) -> None:
    by_segment: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_segment[entry.segment].append(entry)
    for name, members in sorted(by_segment.items()):
        try:
            with (folder / name).open("r+b", buffering=0) as handle:
                for entry in sorted(members, key=lambda entry: entry.offset):
                    handle.seek(entry.offset)
                    write_all(handle, build_filler(entry.length))
                os.fsync(handle.fileno())
        except OSError as error:
            raise disk_error(error, folder / name) from error


def _renew_complete(folder: Path, listed: Takedown) -> None:
    """Update ``COMPLETE`` of a snapshot after a takedown."""
    with FetchStore(folder, writer=True) as store:
        completion = store.complete
        if completion is None:
            return
        if store.digest() not in follow_digest(folder, completion["digest"]):
            store.verified_digest()  # raises: it was changed by others
        updated = _without_listed(completion, listed)
        if store.digest() != completion["digest"] or updated != completion:
            store.finish({name: value for name, value in updated.items() if name not in COUNTED})


def _without_listed(completion: dict[str, Any], listed: Takedown) -> dict[str, Any]:
    """Return the content of ``COMPLETE`` without the listed seeds."""
    return {name: listed.without(value) for name, value in completion.items()}
