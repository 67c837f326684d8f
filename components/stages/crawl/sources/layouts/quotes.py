"""Quotation marks that a spreadsheet adds to the cells of a table with tabs, against those that belong to captions.

A spreadsheet puts a cell in quotation marks when it holds a tab, a line break or a quotation mark, which it doubles. Published
tables (Conceptual Captions) have no such rule: a caption may begin with a quotation mark. The whole file decides.
"""

from __future__ import annotations

import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

Quotes = Literal["auto", "spreadsheet", "none"]
UNCLEAR_QUOTES = "unclear_quotes"
_CELL = r'(?:"(?:[^"]|"")*+"(?=\t|\Z)|(?!")[^\t\n]*+)'
_CELLS = re.compile(rf"(?:\A|\t)({_CELL})")
_WHOLE = re.compile(rf"{_CELL}(?:\t{_CELL})*+")
_OPEN = re.compile(rf'(?:{_CELL}\t)*+"(?:[^"\t]|"")*+')
"""A record whose last cell is not closed yet. A cell that holds a line break holds no tab: the tab is of another row."""
_MAX_LINES, _MAX_CHARACTERS = 100, 1_000_000
"""Maximum size of a record; joining is quadratic in its lines."""


class Line(NamedTuple):
    """A line of a text file, without its end; ``fault`` is the ledger's (rule, value, threshold) of one that cannot be read."""

    number: int
    text: str
    fault: tuple[str, str, str] | None = None


class Record(NamedTuple):
    """A row of a table: a line, or the lines that a cell in quotation marks joins."""

    line: Line
    """The first line, with the text of all."""
    kind: str
    """What its quotation marks say: ``none``, ``inner`` (only inside of cells), ``around`` (cells that need none), ``needed``
    (cells that a spreadsheet has to quote), ``torn`` (a cell begins with one and is not closed), ``cut`` (the same, and the
    row goes on in the next line).
    """

    def without_quotes(self) -> str:
        """Return the text without the quotation marks of its cells; white space inside of a cell is one space."""
        return "\t".join(map(_unquoted, _CELLS.findall(self.line.text)))


def read_records(lines: Iterable[Line], columns: int) -> Iterator[Record]:
    """Yield the rows of a table with that many columns, in order; every line is in one of them."""
    source, waiting = iter(lines), deque[Line]()
    while (line := waiting.popleft() if waiting else next(source, None)) is not None:
        if line.fault or '"' not in line.text:
            yield Record(line, "none")
            continue
        text, more = line.text, list[Line]()
        while _OPEN.fullmatch(text) and len(more) < _MAX_LINES and len(text) < _MAX_CHARACTERS:
            following = waiting.popleft() if waiting else next(source, None)
            if following is None:
                break
            more.append(following)
            text = f"{text}\n{following.text}"
        if _WHOLE.fullmatch(text):
            yield Record(line._replace(text=text), _kind(text))
        elif more and line.text.count("\t") + 1 < columns:
            yield Record(line._replace(text=text), "cut")
        else:
            waiting.extendleft(reversed(more))
            yield Record(line, "torn")


def is_of_spreadsheet(lines: Iterable[Line], columns: int) -> bool:
    """Return whether the quotation marks around the cells of a file are a spreadsheet's.

    They are if every cell that begins with one is closed, unless only cells without need are quoted and others hold unquoted
    ones; in a file with both kinds of rows the more frequent kind decides.
    """
    kinds = Counter(record.kind for record in read_records(lines, columns))
    if torn := kinds["torn"] + kinds["cut"]:
        return kinds["needed"] >= torn
    return bool(kinds["needed"] or (kinds["around"] and not kinds["inner"]))


def _kind(text: str) -> str:
    quoted = [cell[1:-1] for cell in _CELLS.findall(text) if cell.startswith('"')]
    if not quoted:
        return "inner"
    return "needed" if any(re.search('[\t\n"]', cell) for cell in quoted) else "around"


def _unquoted(cell: str) -> str:
    return " ".join(cell[1:-1].replace('""', '"').split()) if cell.startswith('"') else cell
