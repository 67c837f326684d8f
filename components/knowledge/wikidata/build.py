"""Builds the local index from the dump in one pass with constant memory, and publishes it atomically.

A killed build leaves a folder ``.building``, which the next one deletes; an earlier index stays valid until the new
``index.json`` replaces it. Builds are not resumed: a pass takes hours, and a compressed dump cannot be read from the middle.
"""

from __future__ import annotations

import errno
import hashlib
import json
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from tqdm import tqdm

from components.core.errors import HearsightError
from components.core.files import disk_error, move_into_place, publish_json, sync
from components.execution.process import sole_writer
from components.knowledge.wikidata.dump import Broken, Dump, Item
from components.knowledge.wikidata.index import DATABASE, FORMAT, name_key

INTERNAL = frozenset({4167410, 4167836, 11266439, 13406463, 17442446, 13442814})
"""Excluded classes: disambiguation pages, categories, templates, lists, other internal items; scholarly articles."""
_SCHEMA = """
    PRAGMA journal_mode = OFF;
    PRAGMA synchronous = OFF;
    CREATE TABLE items (id INTEGER PRIMARY KEY, number INTEGER, sitelinks INTEGER, classes TEXT, occupations TEXT);
    CREATE TABLE names (key INTEGER, item INTEGER);
    CREATE TABLE classes (number INTEGER PRIMARY KEY, label TEXT, above TEXT);
"""
MOST = 15
"""Maximum classes, occupations and superclasses per item."""
NAMED = 20
"""Broken lines listed in ``index.json``; others are counted."""


def build_index(dump: Path, out: Path, min_sitelinks: int = 1) -> dict[str, Any]:
    """Build the index of ``dump`` in ``out``.

    Args:
        dump: latest-all.json, .gz or .bz2.
        out: a folder, empty, absent, or holding an earlier index.
        min_sitelinks: items with fewer have no names in the index (but may be classes).

    Returns:
        The content of ``index.json``: counts, broken lines, digest.

    Raises:
        HearsightError: the dump is incomplete or has no item, or the disk is full; an earlier index stays.
    """
    if out.exists() and (not out.is_dir() or (any(out.iterdir()) and not (out / "index.json").is_file() and not _begun(out))):
        raise HearsightError("exists and is no index", where=out, hint="name another folder with --out")
    with Dump(dump) as source:
        try:
            out.mkdir(parents=True, exist_ok=True)
            with sole_writer(out / "lock", f"the index {out}"):
                return _build(source, out, min_sitelinks)
        except OSError as error:
            raise disk_error(error, out) from error


def _build(source: Dump, out: Path, min_sitelinks: int) -> dict[str, Any]:
    work = out / ".building"
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir()
    counts = {"lines": 0, "items": 0, "entities": 0, "names": 0, "classes": 0, "broken": 0}
    broken: list[str] = []
    index = _Index(work / DATABASE, min_sitelinks)
    try:
        for item in _with_progress(source):
            counts["lines"] += 1
            if isinstance(item, Broken):
                counts["broken"] += 1
                if len(broken) < NAMED:
                    broken.append(f"line {item.line}: {item.why}")
            elif item is not None:
                counts["items"] += 1
                names = index.add_entity(item)
                counts["names"] += names
                counts["entities"] += names > 0
                counts["classes"] += index.add_class(item)
        if not counts["items"]:
            why = f" ({broken[0]})" if broken else ""
            raise HearsightError(f"holds no item of Wikidata{why}", where=source.path, hint="name the JSON dump of all entities")
        index.finish()
    except sqlite3.Error as error:
        raise OSError(errno.ENOSPC if "full" in str(error) else errno.EIO, str(error)) from error
    finally:
        index.database.close()
    about = {
        "format": FORMAT,
        "digest": index.digest.hexdigest()[:16],
        "dump": source.path.name,
        "min_sitelinks": min_sitelinks,
        "bytes": (work / DATABASE).stat().st_size,
        **counts,
        "broken_lines": broken,
    }
    _publish(work, out, about)
    return about


class _Index:
    """The database while it is written; its digest is that of the rows, so equal dumps have equal ones with any SQLite."""

    def __init__(self, path: Path, min_sitelinks: int) -> None:
        self.database = sqlite3.connect(path)
        self.database.executescript(_SCHEMA)
        self.min_sitelinks, self.digest = min_sitelinks, hashlib.sha256()

    def add_entity(self, item: Item) -> int:
        """Add an item that may be named, and return the number of its names; 0 for another."""
        described = item.instance_of or item.occupations
        if not described or item.sitelinks < self.min_sitelinks or not INTERNAL.isdisjoint(item.instance_of):
            return 0
        keys = dict.fromkeys(map(name_key, item.names))
        if keys:
            lists = (json.dumps(numbers[:MOST]) for numbers in (item.instance_of, item.occupations))
            number = self._insert("items (number, sitelinks, classes, occupations)", item.number, item.sitelinks, *lists)
            for key in keys:
                self._insert("names", key, number)
        return len(keys)

    def add_class(self, item: Item) -> bool:
        """Add an item if it is a class, and return whether it is."""
        if item.is_class:
            self._insert("classes", item.number, item.label, json.dumps(item.subclass_of[:MOST]))
        return item.is_class

    def finish(self) -> None:
        """Sort the names."""
        self.database.execute("CREATE INDEX by_key ON names (key, item)")
        self.database.commit()

    def _insert(self, table: str, *values: str | int) -> int:
        self.digest.update(repr((table, values)).encode())
        marks = ", ".join("?" * len(values))
        return self.database.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", values).lastrowid or 0


def _publish(work: Path, out: Path, about: dict[str, Any]) -> None:
    sync(work)
    target = out / about["digest"]
    shutil.rmtree(target, ignore_errors=True) if not (out / "index.json").is_file() else None
    if target.exists():
        shutil.rmtree(work)  # an identical index exists
    else:
        move_into_place(work, target)
    publish_json(out / "index.json", about)
    for path in out.iterdir():
        if path.is_dir() and path != target:
            shutil.rmtree(path, ignore_errors=True)


def _with_progress(source: Dump) -> Iterator[Item | Broken | None]:
    """Yield the dump's items under a progress bar of the file's bytes, the only size known in advance."""
    live = sys.stderr.isatty()
    with tqdm(
        total=source.size, desc=source.path.name, unit="B", unit_scale=True, mininterval=0.2 if live else 30, dynamic_ncols=live
    ) as bar:
        for number, item in enumerate(source.items()):
            if number % 1000 == 0:
                bar.update(source.position - bar.n)
            yield item
        bar.update(source.size - bar.n)


def _begun(out: Path) -> bool:
    return all(path.name in (".building", "lock") for path in out.iterdir())
