"""A dump in the form of Wikidata's JSON dump, of invented items: written plain, as gzip or as bzip2."""

from __future__ import annotations

import bz2
import gzip
import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any


def statements(prop: str, targets: Sequence[Any]) -> list[dict[str, Any]]:
    """Statements of a property: QID numbers, or (number, rank)."""
    result = []
    for target in targets:
        number, rank = target if isinstance(target, tuple) else (target, "normal")
        value = {"entity-type": "item", "numeric-id": number, "id": f"Q{number}"}
        snak = {
            "snaktype": "value", "property": prop, "hash": "0" * 40, "datatype": "wikibase-item",
            "datavalue": {"value": value, "type": "wikibase-entityid"},
        }  # fmt: skip
        result.append({"mainsnak": snak, "type": "statement", "id": f"Q1${number}", "rank": rank})
    unknown = {"mainsnak": {"snaktype": "somevalue", "property": prop}, "type": "statement", "rank": "normal"}
    return [*result, unknown]


def item(
    number: int,
    label: str,
    *,
    aliases: Sequence[str] = (),
    p31: Sequence[Any] = (),
    p106: Sequence[Any] = (),
    p279: Sequence[Any] = (),
    sitelinks: int = 3,
    language: str = "en",
) -> dict[str, Any]:
    """One item; empty maps are lists, as PHP writes them."""
    claims = {prop: statements(prop, given) for prop, given in (("P31", p31), ("P106", p106), ("P279", p279)) if given}
    links = {f"w{n}wiki": {"site": f"w{n}wiki", "title": label, "badges": []} for n in range(sitelinks)}
    return {
        "type": "item",
        "id": f"Q{number}",
        "labels": {language: {"language": language, "value": label}} if label else [],
        "descriptions": [],
        "aliases": {"en": [{"language": "en", "value": alias} for alias in aliases]} if aliases else [],
        "claims": claims or [],
        "sitelinks": links or [],
        "lastrevid": 1,
    }


HUMAN, ACTOR, PAINTER, MANGAKA, FILM, CITY, MAKER, BUSINESS, WARD, DISTRICT, BAND, STATE = (
    5, 1001, 1002, 1003, 1010, 1011, 1012, 1013, 1014, 1015, 1016, 1017,
)  # fmt: skip
CLASSES = [
    item(HUMAN, "human", p279=[1], sitelinks=200),
    item(ACTOR, "actor", p31=[28640]),
    item(PAINTER, "painter", p279=[1999]),
    item(MANGAKA, "mangaka", p279=[1998]),
    item(FILM, "film", p279=[1997]),
    item(CITY, "city", p279=[1996]),
    item(MAKER, "automobile manufacturer", p279=[BUSINESS]),
    item(BUSINESS, "business", p279=[1995]),
    item(WARD, "ohrdruf", p279=[DISTRICT], sitelinks=0),
    item(DISTRICT, "city district", p279=[CITY]),
    item(BAND, "musical group", p279=[1994]),
    item(STATE, "sovereign state", p279=[1993]),
]
ENTITIES = [
    item(20, "Mira Tolland", aliases=["M. Tolland"], p31=[HUMAN], p106=[(PAINTER, "normal"), (ACTOR, "preferred")], sitelinks=40),
    item(21, "Mira Tolland", p31=[FILM], sitelinks=90),
    item(22, "Jaro Venn", p31=[HUMAN], p106=[MANGAKA, PAINTER], language="mul"),
    item(23, "Ostrava Nova", p31=[CITY], sitelinks=80),
    item(24, "Ostrava Nova", p31=[BUSINESS, MAKER], sitelinks=12),
    item(25, "Quellbach", p31=[WARD]),
    item(26, "The Blue Anvils", p31=[BAND]),
    item(27, "Vorland", p31=[STATE]),
    item(28, "Nobody Known", p31=[HUMAN], p106=[ACTOR], sitelinks=0),
    item(29, "Lost Page", p31=[4167410]),
    item(30, "Old Trade", p31=[HUMAN], p106=[(ACTOR, "deprecated"), PAINTER]),
]
OTHERS: list[Any] = [{"type": "property", "id": "P31", "labels": {"en": {"language": "en", "value": "instance of"}}}]


def lines(entities: Iterable[Any] = (*CLASSES, *ENTITIES, *OTHERS)) -> list[bytes]:
    """The dump's lines: an array with one entity a line."""
    bodies = [each if isinstance(each, bytes) else json.dumps(each, separators=(",", ":")).encode() for each in entities]
    return [b"[\n", *(body + (b",\n" if place < len(bodies) - 1 else b"\n") for place, body in enumerate(bodies)), b"]\n"]


def write_dump(path: Path, entities: Iterable[Any] = (*CLASSES, *ENTITIES, *OTHERS)) -> Path:
    """Write a dump; the name's ending says how."""
    data = b"".join(lines(entities))
    path.write_bytes({".gz": gzip.compress, ".bz2": bz2.compress}.get(path.suffix, bytes)(data))
    return path
