"""The local index of Wikidata, built from the JSON dump by ``hearsight knowledge index``.

``index.json`` names a folder beside it with a SQLite database: items with their sitelinks, classes (P31) and occupations (P106),
their names, and classes with label and superclasses. It is written last, so an index is complete or the previous one.

Of names there are 64-bit hashes: among 10^8 names a collision has probability 3 in 10^4, and a false match of another name
5 in 10^12.
"""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import unicodedata
from functools import lru_cache
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.knowledge.kinds import HypernymAnswer
from components.knowledge.wikidata.choosing import Candidate, Chooser

FORMAT = 2
DATABASE = "wikidata.sqlite"
MAKE = "make one: hearsight knowledge index DUMP --out FOLDER"
MOST = 16
"""Items of a name that are considered, those with most sitelinks."""
_CANDIDATES = """
    SELECT number, sitelinks, classes, occupations FROM names JOIN items ON items.id = names.item
    WHERE key = ? ORDER BY sitelinks DESC, items.id LIMIT ?
"""
_MARKS = re.compile(r"\s*([^\w\s])\s*")


def name_key(name: str) -> int:
    """Return the key of a name, ignoring case, a leading "the", the form of apostrophes, and spaces beside punctuation."""
    plain = unicodedata.normalize("NFKC", name).casefold().replace("’", "'").strip()
    plain = " ".join(_MARKS.sub(r"\1", plain.removeprefix("the ")).split())
    # Signed, as SQLite's integers.
    return int.from_bytes(hashlib.blake2b(plain.encode("utf-8", "replace"), digest_size=8).digest(), "big", signed=True)


def read_about(folder: Path) -> dict[str, Any]:
    """Return the content of ``index.json``: counts, the dump, and the digest of the content.

    Raises:
        HearsightError: no index, or one of another format.
    """
    path = folder / "index.json"
    try:
        about = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise HearsightError("there is no index of Wikidata", where=folder, hint=MAKE) from None
    except (OSError, ValueError) as error:
        raise HearsightError(f"cannot be read ({error})", where=path, hint=MAKE) from None
    if not isinstance(about, dict) or about.get("format") != FORMAT or not isinstance(about.get("digest"), str):
        raise HearsightError("is no index of this version", where=path, hint=MAKE)
    return about


class WikidataIndex:
    """The local index as a source."""

    name = "wikidata_index"

    def __init__(self, folder: Path, chooser: Chooser) -> None:
        self.about = read_about(folder)
        self.chooser = chooser
        self.path = folder / self.about["digest"] / DATABASE
        try:
            self._database = sqlite3.connect(f"{self.path.resolve().as_uri()}?immutable=1", uri=True)
        except sqlite3.Error as error:
            raise self._unreadable(error) from None
        self._ask("SELECT id FROM items LIMIT 1")

    def lookup(self, name: str, kind: str) -> HypernymAnswer | None:
        candidates = self.candidates(name)
        if not candidates and name.endswith(("'s", "’s")):
            candidates = self.candidates(name[:-2])
        return self.chooser.choose(candidates, self, kind)

    def candidates(self, name: str) -> list[Candidate]:
        """Return the items with the name, by falling number of sitelinks."""
        rows = self._ask(_CANDIDATES, name_key(name), MOST)
        return [Candidate(number, links, json.loads(classes), json.loads(jobs)) for number, links, classes, jobs in rows]

    def label(self, item: int) -> str:
        return self._class(item)[0]

    def above(self, item: int) -> tuple[int, ...]:
        return self._class(item)[1]

    @lru_cache(maxsize=65536)  # noqa: B019 - lives as long as the process
    def _class(self, item: int) -> tuple[str, tuple[int, ...]]:
        rows = self._ask("SELECT label, above FROM classes WHERE number = ?", item)
        return (rows[0][0], tuple(json.loads(rows[0][1]))) if rows else ("", ())

    def _ask(self, query: str, *values: int) -> list[Any]:
        try:
            return self._database.execute(query, values).fetchall()
        except sqlite3.Error as error:
            raise self._unreadable(error) from None

    def _unreadable(self, error: sqlite3.Error) -> HearsightError:
        return HearsightError(
            f"the index cannot be read ({error})", where=self.path, hint="make it again: hearsight knowledge index"
        )
