"""Find and delete removed records in what Hearsight keeps for itself: annotations, cached shards, work folders, runs, logs."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.result_files import REPAIR
from components.tools.takedown.file_search import FileSearch, may_hold_crawl_addresses

CHECK_REPORTS = ("data_docs", "warnings")
"""Folders of reports/ that checks write; they quote values of records."""


def find_annotations(state: Path, search: FileSearch) -> Iterator[tuple[Path, list[str]]]:
    """Yield each result cache with its keys to delete: keys of removed content, and keys whose value is removed audio."""
    digests = search.matcher.digests
    removed = digests | search.keys  # a model's rating has the key of its item
    for path in sorted((state / "annotations").glob("*.sqlite")):
        with _open(path) as base:
            is_speech = path.name.startswith("speech-")
            query = "SELECT key, value FROM results" if is_speech else "SELECT key, NULL FROM results"
            keys = [
                key
                for key, value in base.execute(query)
                # The key of an image and its text has both.
                if not removed.isdisjoint((key, *key.split("-"))) or (is_speech and sha256_bytes(value) in digests)
            ]
        if keys:
            yield path, keys


def delete_annotations(path: Path, keys: list[str]) -> None:
    """Delete results from a result cache, including their bytes in free pages and in the write-ahead log."""
    with _open(path) as base:
        base.execute("PRAGMA secure_delete = ON")
        with base:
            base.executemany("DELETE FROM results WHERE key = ?", [(key,) for key in keys])
        compact_database(base)


def compact_database(base: sqlite3.Connection) -> None:
    """Rewrite a database without its free pages, and truncate its write-ahead log."""
    base.commit()
    base.execute("VACUUM")
    base.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _open(path: Path) -> closing[sqlite3.Connection]:
    try:
        base = sqlite3.connect(path, timeout=120)
        base.execute("SELECT count(*) FROM results")
    except sqlite3.Error as error:
        raise HearsightError(f"the annotation cache failed ({error})", where=path, hint=REPAIR) from None
    return closing(base)


def find_files(root: Path, search: FileSearch) -> Iterator[tuple[Path, str]]:
    """Yield what is deleted whole, and what it is: entries of the shard cache, work folders, runs MLflow lacks, checks' pages."""
    state = root / ".hearsight"
    for folder in sorted(path for path in (state / "cache").glob("*/*") if path.is_dir()):
        if search.has_hits(folder, crawl=may_hold_crawl_addresses(folder.relative_to(root) / "entry")):
            yield folder, "a shard-cache entry"
    # Checkpoints and unfinished files of runs that have ended; nothing tells what they hold.
    yield from ((path, "work files of finished runs") for path in sorted((state / "work").glob("*/*")) if any(path.iterdir()))
    for record in sorted((state / "runs").glob("*.json")):
        files = record.with_suffix(".files")
        if search.in_file(record) or search.has_hits(files):
            yield from ((path, "a run not logged to MLflow yet") for path in (record, files) if path.exists())
    for path in sorted(path for name in CHECK_REPORTS for path in (root / "reports" / name).rglob("*")):
        if path.is_file() and search.in_file(path):
            yield path, "a page of an older check"


def delete(path: Path) -> None:
    """Delete a file or folder; one that is gone already is no error."""
    if path.is_dir():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)


def find_logs(state: Path, search: FileSearch) -> Iterator[Path]:
    """Yield the logs with a line that names something listed or removed: an error quotes its record."""
    for path in sorted((state / "logs").rglob("*")):
        if path.is_file() and any(_names(line, search) for line in _lines(path)):
            yield path


def clear_log(path: Path, search: FileSearch) -> None:
    """Delete the lines of a log that name something listed or removed."""
    publish_bytes(path, "".join(line for line in _lines(path) if not _names(line, search)).encode("utf-8", "surrogateescape"))


def _lines(path: Path) -> list[str]:
    return path.read_bytes().decode("utf-8", "surrogateescape").splitlines(keepends=True)


def _names(line: str, search: FileSearch) -> bool:
    return bool(search.removed_names(line)) or bool(search.matcher.find_in_text(line))
