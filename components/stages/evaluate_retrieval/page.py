"""The HTML page of the evaluation: one self-contained file without scripts.

Its figures are inline SVG: recall by share of the data (CSC figure 3).
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple
from xml.sax.saxutils import escape

from components.reporting import svg
from components.reporting.pages import render
from components.reporting.values import beside_chance
from components.reporting.verdicts import MARKS, verdict
from components.stages.evaluate_retrieval.claims import DEPTHS, TABLES, TITLES, table_of
from components.stages.evaluate_retrieval.columns import Cell
from components.stages.evaluate_retrieval.facts import STARTS, RetrievalResults, Row
from components.stages.evaluate_retrieval.scoring import DIRECTIONS

WIDTH, RIGHT, TOP = 520, 14, 10
CURVE_HEIGHT, FOOT = 260, 40


class Plot(NamedTuple):
    """A figure with its title."""

    title: str
    svg: str


def curve_plots(results: RetrievalResults) -> list[Plot]:
    """Return figure 3 of the main row's tower, a plot per direction of recall by share of the training pairs; none unless some
    start has two shares."""
    own = sorted((row for row in results.rows if row.tower == results.main.tower), key=lambda row: row.number)
    series = {kind: [row for row in own if row.kind == kind] for kind in STARTS}
    if not any(len(rows) > 1 for rows in series.values()):
        return []
    return [_curve_plot(results, {kind: rows for kind, rows in series.items() if rows}, direction) for direction in DIRECTIONS]


def _curve_plot(results: RetrievalResults, series: dict[str, list[Row]], direction: str) -> Plot:
    depth = results.params.main_depth
    cell = Cell(results.crop, direction, depth)
    chance = results.chance[cell._replace(crop="")]
    points = {kind: [(row.number, row.values[cell]) for row in rows] for kind, rows in series.items()}
    most = min(1.0, 1.05 * max([*(value.high or 0.0 for line in points.values() for _, value in line), chance])) or 1.0
    widest = max(100, *(number for line in points.values() for number, _ in line))
    left, bottom = 48, CURVE_HEIGHT - FOOT

    def x(number: float) -> float:
        return left + (WIDTH - left - RIGHT) * number / widest

    def y(value: float | None) -> float:
        return TOP + (bottom - TOP) * (1 - (value or 0.0) / most)

    described = "; ".join(
        f"{STARTS[kind]}: {', '.join(f'{value.mean:.3f} of {part} %' for part, value in line)}" for kind, line in points.items()
    )
    title = f"R@{depth}, {DIRECTIONS[direction]}"
    parts = []
    for tick in svg.ticks(most, (0.005, 0.01, 0.02, 0.05, 0.1), 6, 0.2):
        parts += [svg.horizontal(y(tick), left, WIDTH - RIGHT), svg.text(left - 6, y(tick) + 4, f"{tick:g}", "end")]
    numbers = sorted({number for line in points.values() for number, _ in line})
    parts += [svg.text(x(number), bottom + 16, str(number)) for number in numbers]
    parts.append(svg.text((left + WIDTH - RIGHT) / 2, bottom + 34, "% of the training pairs"))
    parts.append(svg.horizontal(y(chance), left, WIDTH - RIGHT, "chance"))
    # Shifted sideways, so that intervals of one share do not overlap.
    for index, (kind, line) in enumerate(points.items()):
        shift = 4 * (index - (len(points) - 1) / 2)
        corners = [(x(number) + shift, y(value.mean)) for number, value in line]
        parts += [f'<g class="series {kind}">', svg.path(corners, "run")]
        for (number, value), (a, b) in zip(line, corners, strict=True):
            parts.append(svg.vertical(a, y(value.low), y(value.high), "bars"))
            words = escape(f"{STARTS[kind]}, {number} %: {value.mean:.3f}")
            parts.append(f'<circle class="mark" cx="{a:.1f}" cy="{b:.1f}" r="4"><title>{words}</title></circle>')
        parts.append("</g>")
    label = f"{title} by share of the training pairs. {described}; chance {chance:.3f}."
    return Plot(title, svg.plot(WIDTH, CURVE_HEIGHT, label, parts))


CROPS = {"centre": "the centre of each image", "whole": "whole images"}
"""Crop → its description."""


def render_page(results: RetrievalResults, warnings: Sequence[str] = ()) -> str:
    """Return the page."""
    paper_tables = dict.fromkeys(table for row in results.rows if (table := table_of(row.experiment)))
    return render(
        Path(__file__).parent / "data",
        "retrieval.html",
        warnings=warnings,
        results=results,
        directions=DIRECTIONS,
        crops=CROPS,
        cell=Cell,
        beside_chance=beside_chance,
        best=results.best,
        paper_tables={table: (TITLES[table], TABLES[table]) for table in paper_tables},
        paper_depths=DEPTHS,
        curves=curve_plots(results),
        starts=STARTS,
        depth=results.params.main_depth,
        marks=MARKS,
        verdict=verdict,
    )
