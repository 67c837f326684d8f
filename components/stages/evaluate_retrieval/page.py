"""The page people look at: one file that needs no other, no network and no script."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.stages.evaluate_retrieval import drawing, paper
from components.stages.evaluate_retrieval.claims import FAILS, HOLDS, UNMEASURED, UNTOLD
from components.stages.evaluate_retrieval.scoring import WAYS
from components.stages.evaluate_retrieval.values import DEFINITIONS, HIT, SHARE, Cell

if TYPE_CHECKING:
    from components.stages.evaluate_retrieval.columns import Value
    from components.stages.evaluate_retrieval.facts import Facts

DIRECTIONS = {"speech_to_image": "Speech to image", "image_to_speech": "Image to speech"}
CROPS = {"centre": "the centre of each picture", "whole": "whole pictures"}
MARKS = {HOLDS: "yes", FAILS: "no", UNTOLD: "open", UNMEASURED: "none"}
"""Verdict → the class that colours it; the words tell it, too."""


def html(facts: Facts) -> str:
    """The page."""
    from jinja2 import Environment, FileSystemLoader

    environment = Environment(
        loader=FileSystemLoader(Path(__file__).parent / "data"), autoescape=True, trim_blocks=True, lstrip_blocks=True
    )
    filters: dict[str, Any] = {"number": number, "interval": interval, "signed": signed, "share": share}
    environment.filters |= filters | {"count": lambda n: f"{n:,}"}
    papers = dict.fromkeys(table for row in facts.rows if (table := paper.table_of(row.name)))
    return environment.get_template("retrieval.html").render(
        facts=facts,
        ways=WAYS,
        directions=DIRECTIONS,
        crops=CROPS,
        cell=Cell,
        definitions=DEFINITIONS,
        hit=HIT,
        part=SHARE,
        best=best(facts),
        papers={table: (paper.TITLES[table], paper.TABLES[table]) for table in papers},
        paper_depths=paper.DEPTHS,
        reported=paper.reported,
        dots=drawing.dots(facts),
        curves=drawing.curves(facts),
        starts=drawing.STARTS,
        depth=drawing.headline(facts),
        marks=MARKS,
    )


def best(facts: Facts) -> set[tuple[str, Cell]]:
    """Row and cell of each column's best value, as far as it is printed, where there are several rows."""
    if len(facts.rows) < 2:
        return set()
    found = set()
    for cell in facts.main.values:
        most = max(round(row.values[cell].mean, 3) for row in facts.rows)
        found |= {(row.name, cell) for row in facts.rows if round(row.values[cell].mean, 3) == most}
    return found


def number(value: Value) -> str:
    """A value as tables print it: 0.345 ± 0.012, or 0.345 of one seed."""
    return f"{value.mean:.3f}" if value.deviation is None else f"{value.mean:.3f} ± {value.deviation:.3f}"


def signed(value: Value) -> str:
    """A difference with its sign."""
    return f"{value.mean + 0.0:+.3f}".replace("-", "−")


def interval(value: Value) -> str:
    """The ends of an interval."""
    return f"{value.low + 0.0:.3f} to {value.high + 0.0:.3f}".replace("-", "−")


def share(value: float) -> str:
    """A plain recall."""
    return f"{value:.3f}"
