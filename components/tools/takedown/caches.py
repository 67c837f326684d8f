"""What Hearsight's own caches keep of removed records: annotations, shards, scratch, and runs not yet told to MLflow."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.result_cache import REPAIR
from components.tools.takedown.file_search import Seeker, of_the_crawl


def annotated(state: Path, seeker: Seeker) -> Iterator[tuple[Path, list[str]]]:
    """Each annotator's file with the keys in it that go: by the content they describe, or whose value is removed audio."""
    digests = seeker.wanted.digests
    for path in sorted((state / "annotations").glob("*.sqlite")):
        with _open(path) as base:
            spoken = path.name.startswith("speech-")
            query = "SELECT key, value FROM results" if spoken else "SELECT key, NULL FROM results"
            keys = [key for key, value in base.execute(query) if key in digests or (spoken and sha256_bytes(value) in digests)]
        if keys:
            yield path, keys


def forget_annotations(path: Path, keys: list[str]) -> None:
    """Remove results so that nothing of them is left in the file's free pages or its log."""
    with _open(path) as base:
        base.execute("PRAGMA secure_delete = ON")
        with base:
            base.executemany("DELETE FROM results WHERE key = ?", [(key,) for key in keys])
        clean(base)


def clean(base: sqlite3.Connection) -> None:
    """Rewrite a database without its free pages, and empty its log."""
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


def entries(state: Path, seeker: Seeker) -> Iterator[Path]:
    """The shard cache's entries that hold something removed."""
    for folder in sorted(path for path in (state / "cache").glob("*/*") if path.is_dir()):
        crawled = of_the_crawl(folder.relative_to(state.parent) / "entry")
        if any(seeker.file(path).settle(crawled).hits for path in sorted(folder.rglob("*")) if path.is_file()):
            yield folder


def scratch(state: Path) -> Iterator[Path]:
    """The stages' work folders: checkpoints and half-made things of runs that are over."""
    yield from sorted(path for path in (state / "work").glob("*/*") if any(path.iterdir()))


def untold(state: Path, seeker: Seeker) -> Iterator[Path]:
    """Records that wait for an MLflow that is away, and the files kept for them, when any of these name what is listed."""
    for record in sorted((state / "runs").glob("*.json")):
        of_it = [record, *(path for path in sorted(record.with_suffix(".files").rglob("*")) if path.is_file())]
        if any(seeker.file(path).hits for path in of_it):
            yield from of_it
