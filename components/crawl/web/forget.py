"""Taking listed answers out of a fetch store: out of the WARC segments, out of the index, for good.

What stays is copied as it lies, member by member, into a new segment; then the index changes over by one rename, and the
old segments go. ``removed.jsonl`` keeps the digests before and after and what was removed, by hash alone, so that lineage can
tell which runs saw it. A kill at any moment leaves a store that the next call makes good.
A redirect that leads to a listed address becomes a failure ``takedown`` under its own, unlisted URL: its target goes, and
it is not asked again. Not in scope: what runs made of the answers (``components/takedown``).
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

from components.core.digests import digest_value, sha256_bytes
from components.core.errors import HearsightError
from components.core.files import disk_error, fsync_folder, publish, publish_bytes
from components.core.process import sole_writer
from components.crawl.takedown import RULE, Takedown
from components.crawl.urls import absolute
from components.crawl.web.store import FetchStore, _line
from components.crawl.web.warc import Entry, warc_record

JOURNAL = "removed.jsonl"


def target_of(entry: Entry) -> str:
    """Where a stored redirect leads, or ''."""
    return (absolute(entry.location, entry.url) or "") if entry.location else ""


def forget(folder: Path, listed: Takedown) -> int:
    """Remove every answer that ``listed`` names from the snapshot at ``folder``; returns how many answers went.

    Raises:
        HearsightError: another process writes the snapshot, a segment cannot be read, or the disk is full.
    """
    if not listed or not (folder / "index.jsonl").exists():
        return 0
    if not (folder / "COMPLETE").exists():
        FetchStore(folder, writer=True).close()  # takes in what a kill left unindexed
    with sole_writer(folder / "lock", f"the snapshot {folder.name}"):
        with FetchStore(folder) as store:
            lines, _ = store._read_index({path.name: path.stat().st_size for path in folder.glob("segment-*.warc.gz")})
            gone = [entry for entry in lines if listed.url(entry.url)]
            leading = [entry for entry in lines if not listed.url(entry.url) and listed.url(target_of(entry))]
            complete = _complete(folder)
            if gone or leading:
                lines = _rewrite(folder, lines, gone, leading, listed, store.digest())
        _finish(folder, complete, {entry.segment for entry in lines}, listed)
    return len({entry.url for entry in gone})


def journal(folder: Path) -> list[dict[str, Any]]:
    """The removals of a snapshot, oldest first: digests before and after, bodies and texts by sha256, the entries' hashes."""
    try:
        lines = (folder / JOURNAL).read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line.strip()]
    except FileNotFoundError:
        return []
    except ValueError:
        raise HearsightError("is damaged", where=folder / JOURNAL, mend="restore it, or remove the snapshot") from None


def _rewrite(
    folder: Path, lines: list[Entry], gone: list[Entry], leading: list[Entry], listed: Takedown, before: str
) -> list[Entry]:
    """Put what stays of the segments concerned into a new one and change the index over; returns the new index."""
    touched = {entry.segment for entry in [*gone, *leading]}
    numbers = [int(path.name[8:13]) for path in folder.glob("segment-*.warc.gz")]
    name = f"segment-{max(numbers) + 1:05d}.warc.gz"
    drop, turn = set(gone), set(leading)
    kept: list[Entry] = []

    def fill(path: Path) -> None:
        with ExitStack() as opened:
            out = opened.enter_context(path.open("wb"))
            sources = {segment: opened.enter_context((folder / segment).open("rb")) for segment in touched}
            for entry in lines:
                if entry in drop:
                    continue
                if entry.segment not in touched:
                    kept.append(entry)
                    continue
                placed, record = entry, b""
                if entry in turn:
                    placed = Entry(entry.url, 0, RULE, f"{RULE}:{listed.url(target_of(entry))}")
                    record = warc_record(placed, b"", [], "")
                else:
                    sources[entry.segment].seek(entry.offset)
                    record = sources[entry.segment].read(entry.length)
                kept.append(replace(placed, segment=name, offset=out.tell(), length=len(record)))
                out.write(record)

    publish(folder / name, fill)
    note = {
        "before": before,
        "after": _digest(kept),
        "entries": sorted({listed.url(entry.url) or listed.url(target_of(entry)) for entry in [*gone, *leading]}),
        "answers": len({entry.url for entry in gone}),
        "bodies": sorted({entry.sha256 for entry in gone if entry.sha256}),
        "texts": sorted(_texts(folder, gone)),
    }
    _note(folder, note)
    publish_bytes(folder / "index.jsonl", b"".join(_line(entry) for entry in kept))
    return kept


def _texts(folder: Path, gone: Iterable[Entry]) -> set[str]:
    """The sha256 of every alt-text on the pages that go: annotations are kept under them."""
    from components.crawl.html import read_page
    from components.crawl.walk import _charset

    found: set[str] = set()
    with FetchStore(folder) as store:
        for entry in gone:
            if "html" in entry.type and store.get(entry.url) == entry:
                page = read_page(store.body(entry.url), entry.url, _charset(entry.type.partition(";")[2]))
                found.update(sha256_bytes(candidate.alt.encode()) for candidate in page.candidates if candidate.alt)
    return found


def _digest(lines: Iterable[Entry]) -> str:
    last = {entry.url: entry for entry in lines}
    return digest_value([last[url].essence for url in sorted(last)])


def _note(folder: Path, note: dict[str, Any]) -> None:
    notes = [*journal(folder), note]
    publish_bytes(folder / JOURNAL, b"".join(json.dumps(item, sort_keys=True).encode() + b"\n" for item in notes))


def _complete(folder: Path) -> dict[str, Any] | None:
    with FetchStore(folder) as store:
        return store.complete


def _finish(folder: Path, complete: dict[str, Any] | None, used: set[str], listed: Takedown) -> None:
    """Complete the changed snapshot again if it was complete, and remove the segments nothing refers to."""
    if complete is not None:
        with FetchStore(folder) as store:
            digest = store.digest()
            known = {note["after"] for note in journal(folder)}
            about = {name: _without(value, listed) for name, value in complete.items()}
            if digest in known or about != complete:
                about |= {"digest": digest if digest in known else complete["digest"], "answers": len(store)}
                if about != complete:
                    publish_bytes(folder / "COMPLETE", (json.dumps(about, indent=1, sort_keys=True) + "\n").encode())
    try:
        for path in folder.glob("segment-*.warc.gz"):
            if path.name not in used:
                path.unlink()
        fsync_folder(folder)
    except OSError as error:
        raise disk_error(error, folder) from error


def _without(value: Any, listed: Takedown) -> Any:
    """A list of seeds without the listed ones; anything else as it is."""
    return [item for item in value if not listed.url(str(item))] if isinstance(value, list) else value
