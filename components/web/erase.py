"""Taking listed answers out of a fetch store for good: out of its segments, out of its index.

An answer's record is written over where it lies, with a record of the same length that says nothing (``blank``): no other record
moves, so a later snapshot whose entries say ``day-1/segment-00000.warc.gz:offset+length`` needs no change, however many stand
on this one, and a kill between two snapshots leaves no reference that leads elsewhere. What refers to the blanked record is an
answer for the very same URL, and goes when its own snapshot is cleared. The price is that no disk space is won.
The index loses its lines then, and ``COMPLETE`` gets the new digest, which ``removed`` says the old one became.
A redirect that leads to a listed address becomes a failure ``takedown`` under its own, unlisted URL: its target goes, and
it is not asked again. Not in scope: what runs made of the answers (``components/tools/takedown``).
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

from components.core.digests import digest_value, sha256_bytes
from components.core.errors import HearsightError
from components.core.files import disk_error, publish_bytes
from components.web.index import index_line, read_index
from components.web.snapshot_chain import find_dependents, read_chain
from components.web.store import FetchStore
from components.web.takedown_journal import append_removal, follow_digest
from components.web.takedown_list import RULE, Takedown
from components.web.urls import make_absolute
from components.web.warc import Entry
from components.web.warc_filler import build_filler

COUNTED = ("digest", "answers", "index_lines", "bases")
"""What a store counts itself when it is completed."""


def erase_chain(folder: Path, base: str, listed: Takedown) -> None:
    """:func:`erase` from the snapshot at ``folder`` and every one it stands on, or will (``base``: by name, '' for none)."""
    for snapshot in read_chain(folder, base):
        erase(snapshot, listed)


def erase(folder: Path, listed: Takedown, also: Collection[str] = ()) -> int:
    """Remove every answer that ``listed`` names from the snapshot at ``folder``; returns how many went.

    ``also``: further URLs that go, but for those whose body here a later snapshot takes for its own.
    A kill at any moment leaves a store that the next call makes good.

    Raises:
        HearsightError: another process writes the snapshot, it was changed by somebody else, or the disk is full.
    """
    also = set(also) - find_shared_urls(folder) if also else set()
    if not listed or not any(folder.glob("segment-*.warc.gz")) or (not also and _is_clear(folder, listed)):
        return 0
    _complete_again(folder, listed)
    with FetchStore(folder, writer=True) as store:  # takes in, or cuts, what a kill left unindexed
        lines = _lines(folder)
        gone = [entry for entry in lines if listed.url(entry.url) or entry.url in also]
        leading = {entry: mark for entry in lines if entry.url not in also and (mark := _leads(entry, listed))}
        if gone or leading:
            _write_down(store, lines, gone, leading, listed)
            for entry, mark in leading.items():
                if store.get(entry.url) == entry:
                    store.add(Entry(entry.url, 0, RULE, mark))
            store.sync()
            drop = {*gone, *leading}
            _blank(folder, drop)
            kept = [entry for entry in _lines(folder) if entry not in drop]
            publish_bytes(folder / "index.jsonl", b"".join(index_line(entry) for entry in kept))
    _complete_again(folder, listed)
    return len({entry.url for entry in gone})


def replace_redirect(entry: Entry, listed: Takedown) -> Entry:
    """``entry``, or where it is a redirect to a listed address, the failure that is stored instead."""
    mark = _leads(entry, listed)
    return Entry(entry.url, 0, RULE, mark) if mark else entry


def find_shared_urls(folder: Path) -> set[str]:
    """The URLs whose body in this snapshot is that of a later snapshot's answer, too."""
    found: set[str] = set()
    for later in find_dependents(folder):
        found.update(entry.url for entry in _lines(later) if entry.held.startswith(f"{folder.name}/"))
    return found


def count_affected(folder: Path, listed: Takedown, also: Collection[str] = ()) -> int:
    """How many answers of the snapshot are listed, lead to what is, or are among ``also``."""
    return sum(bool(listed.url(entry.url) or _leads(entry, listed) or entry.url in also) for entry in _lines(folder))


def _leads(entry: Entry, listed: Takedown) -> str:
    if not entry.location or listed.url(entry.url):
        return ""
    return listed.url(make_absolute(entry.location, entry.url) or "")


def _sizes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_size for path in folder.glob("segment-*.warc.gz")}


def _lines(folder: Path) -> list[Entry]:
    """Every line of the index, older words on a URL included."""
    return read_index(folder, _sizes(folder))[0]


def _is_clear(folder: Path, listed: Takedown) -> bool:
    """Whether a complete snapshot holds nothing listed, so that it need not be opened for writing."""
    with FetchStore(folder) as store:
        said = store.complete
        if said is None or said["digest"] != store.digest() or _about(said, listed) != said:
            return False
    lines, ends = _lines(folder), dict[str, int]()
    for entry in lines:
        ends[entry.segment] = max(ends.get(entry.segment, 0), entry.offset + entry.length)
    whole = ends == _sizes(folder) and said.get("index_lines", len(lines)) == len(lines)
    return whole and not any(listed.url(entry.url) or _leads(entry, listed) for entry in lines)


def _write_down(
    store: FetchStore, lines: Sequence[Entry], gone: Collection[Entry], leading: dict[Entry, str], listed: Takedown
) -> None:
    last = {entry.url: entry for entry in lines}
    going = {entry.url for entry in gone}
    after = {url: replace_redirect(entry, listed) for url, entry in last.items() if url not in going}
    texts, images = _shown(store, gone)
    note = {
        "before": store.digest(),
        "after": digest_value([after[url].essence for url in sorted(after)]),
        "entries": sorted({*(listed.url(url) for url in going), *leading.values()} - {""}),
        "answers": len(going),
        "bodies": sorted({entry.sha256 for entry in gone if entry.sha256}),
        "texts": sorted(texts),
        "images": sorted(images),
    }
    append_removal(store.folder, note)


def _shown(store: FetchStore, gone: Iterable[Entry]) -> tuple[set[str], set[str]]:
    """Of what the pages that go showed, the sha256 of every alt-text (annotations lie under it) and of every image's address."""
    from components.web.html.page import parse_charset, read_page

    texts, images = set[str](), set[str]()
    for entry in gone:
        if "html" in entry.type and store.get(entry.url) == entry:
            try:
                body = store.body(entry.url)
            except HearsightError:  # blanked already by a call that was killed, which wrote it down, or in its base
                continue
            page = read_page(body, entry.url, parse_charset(entry.type.partition(";")[2]))
            texts.update(sha256_bytes(candidate.alt.encode()) for candidate in page.candidates if candidate.alt)
            images.update(sha256_bytes(candidate.image_url.encode()) for candidate in page.candidates if candidate.image_url)
    return texts, images


def _blank(folder: Path, entries: Iterable[Entry]) -> None:
    by_segment: defaultdict[str, list[Entry]] = defaultdict(list)
    for entry in entries:
        by_segment[entry.segment].append(entry)
    for name, found in sorted(by_segment.items()):
        try:
            with (folder / name).open("r+b", buffering=0) as handle:
                for entry in sorted(found, key=lambda one: one.offset):
                    write_over(handle.fileno(), entry.offset, build_filler(entry.length))
                os.fsync(handle.fileno())
        except OSError as error:
            raise disk_error(error, folder / name) from error


def write_over(handle: int, offset: int, data: bytes) -> None:
    """Put ``data`` at ``offset`` of an open file."""
    view = memoryview(data)
    while view:
        done = os.pwrite(handle, view, offset)
        view, offset = view[done:], offset + done


def _complete_again(folder: Path, listed: Takedown) -> None:
    """Let ``COMPLETE`` tell of a snapshot what a takedown made of it."""
    with FetchStore(folder, writer=True) as store:
        said = store.complete
        if said is None:
            return
        if store.digest() not in follow_digest(folder, said["digest"]):
            store.verified_digest()  # raises: it was changed by somebody else
        about = _about(said, listed)
        if store.digest() != said["digest"] or about != said:
            store.finish({name: value for name, value in about.items() if name not in COUNTED})


def _about(said: dict[str, Any], listed: Takedown) -> dict[str, Any]:
    """What ``COMPLETE`` says, without the listed seeds."""
    return {name: listed.without(value) for name, value in said.items()}
