"""Columns of the tables of writing style, shared by the page and the Markdown file."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from components.reporting.values import ABSENT, count, decimal, percent

Figures = Mapping[str, float]
NAMED = 5
"""Most frequent hallucinated objects shown for each network."""


class Cell(NamedTuple):
    """Text of a table cell."""

    text: str
    note: str = ""
    """Smaller text below it."""


class Column(NamedTuple):
    """A column of a table."""

    title: str
    figure: str
    """Name of the figure it shows; the cell is a dash without it."""
    cell: Callable[[Figures], Cell]

    def of(self, figures: Figures) -> Cell:
        """Return the cell of a row."""
        return self.cell(figures) if self.figure in figures else Cell(ABSENT)


class Group(NamedTuple):
    """Columns under one heading."""

    title: str
    columns: Sequence[Column]


def _share(title: str, figure: str) -> Column:
    return Column(title, figure, lambda figures: Cell(percent(figures[figure])))


def _hallucinated(figures: Figures) -> Cell:
    return Cell(percent(figures["unsupported_share"]), f"{count(figures['objects_unsupported'])} of {count(figures['objects'])}")


def _vocabulary(figures: Figures) -> Cell:
    share = figures.get("vocabulary_share")
    return Cell(count(figures["vocabulary"]), "" if share is None else f"{percent(share)} of its vocabulary")


HALLUCINATED = Group(
    "hallucinated",
    (Column("objects", "unsupported_share", _hallucinated), _share("captions with any", "captions_with_unsupported")),
)
FIRST = (
    Group(
        "length",
        (
            Column("words a caption", "words", lambda of: Cell(f"{of['words']:.1f} ± {of['words_sd']:.1f}")),
            Column("minus references", "words_difference", lambda of: Cell(decimal(of["words_difference"], 1, plus=True))),
        ),
    ),
    Group("repetition", (_share("repeated words", "repeated_1"), _share("immediate repeats", "doubled"))),
    Group("variety", (_share("different captions", "different_captions"), _share("not in training set", "new_captions"))),
)
"""Groups of the first table, to which :func:`first` adds :data:`HALLUCINATED`."""
RARER = (
    Group("repeated n-grams", tuple(_share(f"of {n} words", f"repeated_{n}") for n in (2, 3, 4))),
    Group("variety", (_share("distinct-1", "distinct_1"), _share("distinct-2", "distinct_2"))),
    Group("vocabulary", (Column("words used", "vocabulary", _vocabulary),)),
    Group(
        "captions with a fault",
        (
            _share("broken off", "broken_off"),
            _share("punctuation runs", "marks"),
            _share("<UNK>", "unknown"),
            _share("no words", "wordless"),
        ),
    ),
)


def first(marked: bool) -> Sequence[Group]:
    """Return the groups of the first table; ``marked`` adds those of hallucinated objects."""
    return (*FIRST, HALLUCINATED) if marked else FIRST
