"""Find and delete what people's ratings hold of removed records: files of ratings, and the database of a running rating.

Ratings name items, records, utterances and images by keys and digests, never by text. A file may be a CSV table, JSON or lines
of JSON; its rows and list elements that name something removed are deleted.
"""

from __future__ import annotations

import csv
import io
import json
import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.text_encoding import decode_text
from components.ratings.running import ADDRESS, FILE, database_url
from components.ratings.store import RatingStore
from components.tools.takedown.file_search import FileSearch, iterate_cells

FILES = Path("ratings")
"""Ratings as raters' tools export them, in git."""


def holds_ratings(path: Path) -> bool:
    """Return whether a path relative to the project is a file of ratings or the database."""
    return path.is_relative_to(FILES) or path.is_relative_to(FILE.parent)


def find_names(path: Path, search: FileSearch) -> set[str]:
    """Return what a file of ratings, or a database, names of removed content."""
    if path.suffix == ".sqlite":
        return set(_cells(path, search))
    if path.name.endswith(("-wal", "-shm")):
        return set()
    return search.removed_names(path.read_text(encoding="utf-8", errors="replace"))


def find_files(root: Path, search: FileSearch) -> Iterator[Path]:
    """Yield the files of ratings that name something removed."""
    for path in sorted((root / FILES).rglob("*")):
        if path.is_file() and find_names(path, search):
            yield path


def clear_file(path: Path, search: FileSearch) -> None:
    """Delete the rows of a file of ratings that name something removed.

    Raises:
        HearsightError: it is neither CSV nor JSON, or names something outside of rows and lists.
    """
    text = decode_text(path.read_bytes(), "surrogateescape")
    try:
        cleared = json.dumps(_without(json.loads(text), search), ensure_ascii=False, indent=1) + "\n"
    except ValueError:
        try:
            cleared = _without_rows(text, search)
        except csv.Error as error:
            hint = "delete the ratings that `hearsight takedown scan` names by hand"
            raise HearsightError(f"is neither JSON nor CSV ({error})", where=path, hint=hint) from None
    if search.removed_names(cleared):
        hint = "delete the ratings that `hearsight takedown scan` names by hand"
        raise HearsightError("names something removed outside of its rows", where=path, hint=hint)
    publish_bytes(path, cleared.encode("utf-8", "surrogateescape"))


def _without(value: Any, search: FileSearch) -> Any:
    if isinstance(value, list):
        return [each for each in value if not search.removed_names(json.dumps(each))]
    if isinstance(value, dict):
        return {name: _without(each, search) for name, each in value.items()}
    return value


def _without_rows(text: str, search: FileSearch) -> str:
    lines = text.splitlines(keepends=True)
    if lines and lines[0].lstrip().startswith("{"):  # lines of JSON
        return "".join(line for line in lines if not search.removed_names(line))
    target = io.StringIO()
    writer = csv.writer(target, lineterminator="\n")
    for row in csv.reader(io.StringIO(text, newline="")):
        if not search.removed_names(" ".join(row)):
            writer.writerow(row)
    return target.getvalue()


def _cells(path: Path, search: FileSearch) -> Iterator[str]:
    try:
        with closing(sqlite3.connect(path, timeout=120)) as base:
            for table, column, value in iterate_cells(base):
                if isinstance(value, str) and search.removed_names(value):
                    yield f"table {table}, column {column}"
    except sqlite3.Error as error:
        hint = "stop the application that uses it, and run again"
        raise HearsightError(f"cannot be searched ({error})", where=path, hint=hint) from None


def find_running_items(root: Path, search: FileSearch) -> tuple[list[str], str]:
    """Return the keys of removed items in the database of the project's running ratings, and why it was not reached."""
    if not os.environ.get(ADDRESS) and not (root / FILE).exists():
        return [], ""
    try:
        with closing(RatingStore(database_url(root))) as store:
            return sorted(key for key in store.item_keys() if search.removed_names(key)), ""
    except HearsightError as error:
        return [], f"not reached: the database of running ratings ({error.what}): purge again when it can be"


def erase_running_items(root: Path, keys: list[str]) -> None:
    """Erase items in the database of the project's running ratings, with the bytes of their keys."""
    with closing(RatingStore(database_url(root))) as store:
        store.erase(keys)
        store.database.compact()
