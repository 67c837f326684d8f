"""Wikidata's JSON dump as a stream: one entity a line inside one array, plain, ``.gz`` or ``.bz2``.

Form: https://doc.wikimedia.org/Wikibase/master/php/docs_topics_json.html. Kept of an item: English labels and aliases
(``en``, its variants, and ``mul``, where Wikidata now puts names that are alike in every language), P31, P106, P279 and the
number of sitelinks. Statements of deprecated rank are left out, those of preferred rank stand first. Empty maps are
written as ``[]`` in the dump. Memory does not grow with the dump.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple, cast

from components.core.errors import HearsightError

LANGUAGES = ("en", "mul", "en-us", "en-gb", "en-ca")
INSTANCE_OF, OCCUPATION, SUBCLASS_OF = "P31", "P106", "P279"
LONGEST_LINE = 64_000_000
"""Bytes of a line beyond which it is broken: the largest entities have a few million."""
LONGEST_NAME = 200
CLASSES = frozenset({28640, 12737077, 4164871})
"""Profession, occupation, position: what is an instance of one is kept as a class."""


class Item(NamedTuple):
    """What the index needs of one item; QIDs as numbers."""

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
        """Whether other items may be instances of it, or have it for an occupation."""
        return bool(self.subclass_of) or not CLASSES.isdisjoint(self.instance_of)


class Broken(NamedTuple):
    """A line that is no entity: its number from 1, and why."""

    line: int
    why: str


class Dump:
    """A dump, opened for reading; ``position`` tells how many bytes of the file were taken, for a progress bar."""

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
        """Each line's item, or what is wrong with it; None for what is no item (a property, a lexeme).

        Raises:
            HearsightError: the file ends inside a compressed block, or is not what its name says.
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
            f"breaks off after line {line} ({why})", where=self.path, hint="fetch it whole and compare its checksum"
        )

    def _opened(self) -> IO[bytes]:
        head = self._raw.peek(3)[:3]
        if head[:2] == b"\x1f\x8b":
            from isal import igzip

            return cast(IO[bytes], igzip.IGzipFile(fileobj=self._raw, mode="rb"))
        if head == b"BZh":
            import bz2

            return bz2.BZ2File(self._raw)
        return self._raw


def _item(text: bytes, number: int) -> Item | Broken | None:
    import orjson

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
        return Broken(number, f"'{identifier[:20]}' is no item's identifier")
    labels, aliases = _map(entity.get("labels")), _map(entity.get("aliases"))
    label = next((found for language in LANGUAGES if (found := _value(labels.get(language)))), "")
    names = [_value(labels.get(language)) for language in LANGUAGES]
    for language in LANGUAGES:
        given = aliases.get(language)
        names.extend(_value(alias) for alias in given) if isinstance(given, list) else None
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
    """Return the items that a property's statements name, preferred rank first."""
    found: dict[int, bool] = {}
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
            found[number] = found.get(number, False) or rank == "preferred"
    return tuple(sorted(found, key=lambda each: not found[each]))
