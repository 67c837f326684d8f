"""Find damaged results in the result caches and delete only these.

A result whose bytes do not match its checksum is deleted. If the file's structure is damaged, the results that SQLite still reads
are copied into a new file: most of them if pages of results are damaged, none if the file's beginning is. :func:`find_damage`
changes nothing.
"""

from __future__ import annotations

import os
import sqlite3
import zlib
from collections.abc import Collection, Iterator
from contextlib import closing
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.files import disk_error, move_into_place
from components.core.graph import load_graph
from components.core.result_files import sqlite_backend
from components.execution.runner import lock_all_outputs


@dataclass(frozen=True)
class Damage:
    """The damage of one store, a cache's SQLite file."""

    store: Path
    keys: tuple[str, ...]
    """Results whose bytes do not match their checksum, sorted; empty where the file's structure is damaged."""
    problem: str

    @property
    def structural(self) -> bool:
        """Whether SQLite cannot read the file as a whole."""
        return not self.keys


def find_damage(folder: Path) -> list[Damage]:
    """Read every store in ``folder`` completely; return the damaged ones."""
    damages = (_damage_of(path) for path in sorted(folder.glob("*.sqlite")))
    return [damage for damage in damages if damage is not None]


def _damage_of(path: Path) -> Damage | None:
    try:
        with closing(sqlite3.connect(path, timeout=120)) as base:
            answer = [str(line) for (line,) in base.execute("PRAGMA quick_check(1)")]
            if answer != ["ok"]:
                return Damage(path, (), " ".join(answer))
            rows = base.execute("SELECT key, value, crc FROM results ORDER BY key")
            keys = tuple(key for key, value, crc in rows if not _is_intact(value, crc))
    except sqlite3.OperationalError as error:
        if "locked" in str(error):
            raise HearsightError("is in use", where=path, hint="wait until no stage runs") from None
        return Damage(path, (), str(error))
    except sqlite3.Error as error:
        return Damage(path, (), str(error))
    return Damage(path, keys, "the bytes do not match the checksum") if keys else None


def _is_intact(value: Any, crc: Any) -> bool:
    return isinstance(value, bytes) and zlib.crc32(value) == crc


def repair(root: Path, damages: Collection[Damage], copies_of: Collection[Path] = ()) -> dict[Path, int]:
    """Delete the damaged results; return the number of results left in each store.

    Args:
        root: the project; none of its stages may run.
        damages: from :func:`find_damage`.
        copies_of: stores whose damaged file is kept as ``<name>.damaged``.

    Raises:
        HearsightError: a stage is running, or the disk is full or not writable; the store is then unchanged.
    """
    remaining = {}
    with lock_all_outputs(load_graph(root)):
        for damage in damages:
            try:
                if damage.structural:
                    remaining[damage.store] = _rebuild(damage.store, copy=damage.store in copies_of)
                else:
                    remaining[damage.store] = _delete(damage)
            except OSError as error:
                raise disk_error(error, damage.store) from error
            except sqlite3.Error as error:
                raise HearsightError(
                    f"cannot be repaired ({error})", where=damage.store, hint="free some disk space and repeat the command"
                ) from error
    return remaining


def _delete(damage: Damage) -> int:
    with closing(sqlite3.connect(damage.store, timeout=120)) as base:
        with base:
            base.executemany("DELETE FROM results WHERE key = ?", [(key,) for key in damage.keys])
        return int(base.execute("SELECT count(*) FROM results").fetchone()[0])


def _rebuild(path: Path, *, copy: bool) -> int:
    """Replace a damaged file by a new one with the undamaged results that SQLite reads; return their number."""
    fresh = path.with_name(f".{path.name}.repaired")
    for old in (fresh, *_log_files(fresh)):
        old.unlink(missing_ok=True)
    with sqlite_backend(fresh) as backend:
        batch = []
        for row in readable_rows(path):
            batch.append(row)
            if len(batch) == 500:
                backend.write(batch)
                batch.clear()
        backend.write(batch, durable=True)
    with closing(sqlite3.connect(fresh)) as base:
        count = int(base.execute("SELECT count(*) FROM results").fetchone()[0])
        base.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    if copy:
        kept = path.with_name(f"{path.name}.damaged")
        for source in (path, *_log_files(path)):
            if source.exists():
                target = kept.with_name(source.name.replace(path.name, kept.name))
                target.unlink(missing_ok=True)
                os.link(source, target)
    for log in _log_files(path):  # before the rename: SQLite would apply the old log to the new file
        log.unlink(missing_ok=True)
    move_into_place(fresh, path)
    fresh.with_suffix(".lock").unlink(missing_ok=True)
    return count


def readable_rows(path: Path) -> Iterator[tuple[str, bytes, int]]:
    """Yield the undamaged results: of each range of keys, those before and behind what SQLite cannot read. They may repeat."""
    with closing(sqlite3.connect(path, timeout=120)) as base:
        base.text_factory = lambda raw: raw.decode("utf-8", "replace")
        base.execute("PRAGMA writable_schema=ON")  # then SQLite reads what a truncated file still has
        for low, high in pairwise(["", *(f"{number:03x}" for number in range(1, 4096)), "\U0010ffff"]):  # keys are digests
            for order in ("ASC", "DESC"):
                query = f"SELECT key, value, crc FROM results WHERE key >= ? AND key < ? ORDER BY key {order}"
                try:
                    yield from (row for row in base.execute(query, (low, high)) if _is_intact(*row[1:]))
                    break
                except sqlite3.Error as error:
                    if error.sqlite_errorcode == sqlite3.SQLITE_BUSY:
                        raise


def _log_files(path: Path) -> tuple[Path, Path]:
    """Return a database's write-ahead log and the log's index."""
    return path.with_name(f"{path.name}-wal"), path.with_name(f"{path.name}-shm")
