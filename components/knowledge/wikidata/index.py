"""The local index of Wikidata, built from the JSON dump by ``hearsight knowledge index``.

``index.json`` names a folder beside it with two tables: name → items (sitelinks, P31, P106), and class → label and
superclasses. It is written last, so an index is complete or the previous one.
"""

from __future__ import annotations

import json
import struct
from functools import lru_cache
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.knowledge.kinds import HypernymAnswer
from components.knowledge.wikidata.choosing import Candidate, Chooser
from components.knowledge.wikidata.table import Table, name_key, number_key

FORMAT = 1
MAKE = "make one: hearsight knowledge index DUMP --out FOLDER"
_HEAD = struct.Struct("<IHBB")
MOST = 15
"""Maximum classes, occupations and superclasses per item."""


def pack_item(number: int, sitelinks: int, classes: tuple[int, ...], occupations: tuple[int, ...]) -> bytes:
    """Return an item's record."""
    classes, occupations = classes[:MOST], occupations[:MOST]
    head = _HEAD.pack(number, min(sitelinks, 65535), len(classes), len(occupations))
    return head + struct.pack(f"<{len(classes) + len(occupations)}I", *classes, *occupations)


def unpack_item(record: bytes) -> Candidate:
    """Return the item of a record from :func:`pack_item`."""
    number, sitelinks, classes, occupations = _HEAD.unpack_from(record)
    both = struct.unpack_from(f"<{classes + occupations}I", record, _HEAD.size)
    return Candidate(number, sitelinks, both[:classes], both[classes:])


def pack_class(label: str, above: tuple[int, ...]) -> bytes:
    """Return a class's record."""
    above = above[:MOST]
    return bytes([len(above)]) + struct.pack(f"<{len(above)}I", *above) + label.encode()


def unpack_class(record: bytes) -> tuple[str, tuple[int, ...]]:
    """Return label and superclasses of a record from :func:`pack_class`."""
    count = record[0]
    return record[1 + 4 * count :].decode(), struct.unpack_from(f"<{count}I", record, 1)


def read_about(folder: Path) -> dict[str, Any]:
    """Return the content of ``index.json``: counts, the dump, and the digest of the tables.

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
        self._names = Table(folder / self.about["digest"], "names")
        self._classes = Table(folder / self.about["digest"], "classes")

    def lookup(self, name: str, kind: str) -> HypernymAnswer | None:
        candidates = self.candidates(name)
        if not candidates and name.endswith(("'s", "’s")):
            candidates = self.candidates(name[:-2])
        return self.chooser.choose(candidates, self, kind)

    def candidates(self, name: str) -> list[Candidate]:
        """Return the items with the name, by falling number of sitelinks."""
        return [unpack_item(record) for record in self._names.get(name_key(name))]

    def label(self, item: int) -> str:
        return self._class(item)[0]

    def above(self, item: int) -> tuple[int, ...]:
        return self._class(item)[1]

    @lru_cache(maxsize=65536)  # noqa: B019 - lives as long as the process
    def _class(self, item: int) -> tuple[str, tuple[int, ...]]:
        records = self._classes.get(number_key(item), 1)
        return unpack_class(records[0]) if records else ("", ())
