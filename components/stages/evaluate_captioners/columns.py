"""The columns of "How they write", in the page as in Markdown: what is looked at first, and the rarer ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

from components.reporting.numbers import ABSENT, count, decimal, percent

Figures = Mapping[str, float]
NAMED = 5
"""Things that are not there and named most often, shown of each network."""


class Cell(NamedTuple):
    """What stands in a table's cell."""

    text: str
    note: str = ""
    """Beside it, smaller."""


class Column(NamedTuple):
    """One column."""

    title: str
    figure: str
    """Without it the cell is empty."""
    cell: Callable[[Figures], Cell]

    def of(self, figures: Figures) -> Cell:
        """The cell of one row."""
        return self.cell(figures) if self.figure in figures else Cell(ABSENT)


class Group(NamedTuple):
    """Columns below one heading."""

    title: str
    columns: Sequence[Column]


def _share(title: str, figure: str) -> Column:
    return Column(title, figure, lambda figures: Cell(percent(figures[figure])))


def _words(figures: Figures) -> Cell:
    return Cell(f"{figures['words']:.1f} ± {figures['words_sd']:.1f}")


def _difference(figures: Figures) -> Cell:
    return Cell(decimal(figures["words_difference"], 1, plus=True))


def _things(figures: Figures) -> Cell:
    return Cell(percent(figures["objects_unseen"]), f"{count(figures['things_unseen'])} of {count(figures['things'])}")


def _vocabulary(figures: Figures) -> Cell:
    share = figures.get("vocabulary_share")
    return Cell(count(figures["vocabulary"]), "" if share is None else f"{percent(share)} of its own")


THINGS = Group(
    "named, not there", (Column("things", "objects_unseen", _things), _share("captions with one", "captions_with_unseen"))
)
FIRST = (
    Group("length", (Column("words a caption", "words", _words), Column("less its references", "words_difference", _difference))),
    Group("repetition", (_share("words said before", "repeated_1"), _share("twice in a row", "doubled"))),
    Group("variety", (_share("different captions", "different_captions"), _share("not learned", "new_captions"))),
)
"""With :data:`THINGS`, where they were looked for."""
RARER = (
    Group("n-grams said before", tuple(_share(f"of {n} words", f"repeated_{n}") for n in (2, 3, 4))),
    Group("variety", (_share("distinct-1", "distinct_1"), _share("distinct-2", "distinct_2"))),
    Group("vocabulary", (Column("words used", "vocabulary", _vocabulary),)),
    Group(
        "captions with a fault",
        (_share("broken off", "broken_off"), _share("marks", "marks"), _share("<UNK>", "unknown"), _share("no word", "wordless")),
    ),
)


def first(marked: bool) -> Sequence[Group]:
    """The groups of the first table; ``marked``: whether anybody looked for things that are not there."""
    return (*FIRST, THINGS) if marked else FIRST
