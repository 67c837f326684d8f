"""Streams Wikidata's JSON dump: one entity per line inside one array, plain, ``.gz`` or ``.bz2``.

Form: https://doc.wikimedia.org/Wikibase/master/php/docs_topics_json.html. Read from an item: English labels and aliases (``en``,
its variants, and ``mul``, which has names equal in all languages), P31, P106, P279 and the number of sitelinks. Statements of
deprecated rank are skipped, those of preferred rank come first. Empty maps are ``[]`` in the dump. Memory is constant.
"""

from __future__ import annotations

import bz2
from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

import orjson
from isal import igzip

from components.core.errors import HearsightError

LANGUAGES = ("en", "mul", "en-us", "en-gb", "en-ca")
INSTANCE_OF, OCCUPATION, SUBCLASS_OF = "P31", "P106", "P279"
LONGEST_LINE = 64_000_000
"""Maximum bytes of a line; the largest entities have a few million."""
LONGEST_NAME = 200
CLASSES = frozenset({28640, 12737077, 4164871})
"""Profession, occupation, position: their instances count as classes."""


class Item(NamedTuple):
    """One item; QIDs as numbers."""

    number: int
    label: str
    names: tuple[str, ...]
    """Label and aliases, each once."""
    instance_of: tuple[int, ...]
    occupations: tuple[int, ...]
    subclass_of: tuple[int, ...]
    sitelinks: int

    @property
    def is_class(self) -> bool:
        """Whether other items may have it as class or occupation."""
        return bool(self.subclass_of) or not CLASSES.isdisjoint(self.instance_of)


class Broken(NamedTuple):
    """An invalid line: its number from 1, and why."""

    line: int
    why: str


class Dump:
    """A dump opened for reading; ``position`` is the number of bytes read, for a progress bar."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            self.size = path.stat().st_size
            self._raw = path.open("rb")
        except OSError as error:
            raise HearsightError(
                f"cannot be read ({error.strerror})", where=path, hint="name Wikidata's dump, e.g. latest-all.json.gz"
            ) from None
        self._file = self._opened()

    def __enter__(self) -> Dump:
        return self

    def __exit__(self, *rest: object) -> None:
        self._file.close()
        self._raw.close()

    @property
    def position(self) -> int:
        """Bytes of the file read so far, of ``size``; 0 for a pipe."""
        try:
            return self._raw.tell()
        except OSError:
            return 0

    def items(self) -> Iterator[Item | Broken | None]:
        """Yield each line's item or error; None for other entities (properties, lexemes).

        Raises:
            HearsightError: the file is cut short or damaged.
        """
        number, within = 0, False
        try:
            while line := self._file.readline(LONGEST_LINE):
                number += 1
                text = line.strip().rstrip(b",")
                if text in (b"", b"[", b"]"):
                    within = text == b"[" or (within and text == b"")
                    continue
                if len(line) >= LONGEST_LINE and not line.endswith(b"\n"):
                    while rest := self._file.readline(LONGEST_LINE):
                        if rest.endswith(b"\n"):
                            break
                    yield Broken(number, f"longer than {LONGEST_LINE} bytes")
                    continue
                yield _item(text, number)
        except (EOFError, OSError, ValueError) as error:
            raise self._broken_off(number, " ".join(str(error).split()) or type(error).__name__) from None
        if within:
            raise self._broken_off(number, "the array has no end")

    def _broken_off(self, line: int, why: str) -> HearsightError:
        return HearsightError(
            f"breaks off after line {line} ({why})", where=self.path, hint="download it again and compare its checksum"
        )

    def _opened(self) -> IO[bytes]:
        head = self._raw.peek(3)[:3]
        if head[:2] == b"\x1f\x8b":
            return cast(IO[bytes], igzip.IGzipFile(fileobj=self._raw, mode="rb"))
        if head == b"BZh":
            return bz2.BZ2File(self._raw)
        return self._raw


def _item(text: bytes, number: int) -> Item | Broken | None:
    try:
        entity = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        return Broken(number, f"not JSON: {error}")
    if not isinstance(entity, dict) or not isinstance(entity.get("id"), str):
        return Broken(number, "not an entity")
    if entity.get("type") != "item":
        return None
    identifier = entity["id"]
    if identifier[:1] != "Q" or not identifier[1:].isascii() or not identifier[1:].isdigit() or len(identifier) > 11:
        return Broken(number, f"'{identifier[:20]}' is not an item's identifier")
    labels, aliases = _map(entity.get("labels")), _map(entity.get("aliases"))
    label = next((value for language in LANGUAGES if (value := _value(labels.get(language)))), "")
    names = [_value(labels.get(language)) for language in LANGUAGES]
    for language in LANGUAGES:
        terms = aliases.get(language)
        names.extend(_value(alias) for alias in terms) if isinstance(terms, list) else None
    claims = _map(entity.get("claims"))
    return Item(
        int(identifier[1:]),
        label,
        tuple(dict.fromkeys(name for name in names if name)),
        _targets(claims.get(INSTANCE_OF)),
        _targets(claims.get(OCCUPATION)),
        _targets(claims.get(SUBCLASS_OF)),
        len(_map(entity.get("sitelinks"))),
    )


def _map(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _value(term: Any) -> str:
    value = term.get("value") if isinstance(term, dict) else None
    return " ".join(value.split()) if isinstance(value, str) and len(value) <= LONGEST_NAME else ""


def _targets(statements: Any) -> tuple[int, ...]:
    """Return the items of a property's statements, preferred rank first."""
    preferred: dict[int, bool] = {}
    for statement in statements if isinstance(statements, list) else ():
        rank = statement.get("rank") if isinstance(statement, dict) else "deprecated"
        value = _map(_map(_map(statement).get("mainsnak")).get("datavalue")).get("value")
        if rank == "deprecated" or not isinstance(value, dict):
            continue
        number = value.get("numeric-id")
        if not isinstance(number, int) or isinstance(number, bool):
            text = str(value.get("id", ""))
            number = int(text[1:]) if text[:1] == "Q" and text[1:].isascii() and text[1:].isdigit() else -1
        if 0 < number < 2**32:
            preferred[number] = preferred.get(number, False) or rank == "preferred"
    return tuple(sorted(preferred, key=lambda number: not preferred[number]))
