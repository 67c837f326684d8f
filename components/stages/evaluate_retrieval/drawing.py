"""Figures of the page as SVG in it: recalls of all rows with their intervals, and figure 3, recall by share of the data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape

from components.reporting import svg
from components.reporting.numbers import interval
from components.stages.evaluate_retrieval.facts import RetrievalResults, Row
from components.stages.evaluate_retrieval.scoring import WAYS
from components.stages.evaluate_retrieval.values import HIT, Cell

WIDTH, LEFT, RIGHT, TOP, LINE = 520, 96, 14, 10, 26
CURVE_HEIGHT, FOOT = 260, 40
STARTS = {"none": "from scratch", "audio": "speech tower warm", "image": "image tower warm", "both": "both towers warm"}
"""Figure 3's lines; each has a class of its own for its colour, dashes and marks."""


class Drawn(NamedTuple):
    """A figure."""

    title: str
    svg: str


def headline(results: RetrievalResults) -> int:
    """The depth that figures show: R@10, or the nearest there is."""
    return min(results.params.depths, key=lambda depth: (abs(depth - 10), depth))


def dots(results: RetrievalResults) -> list[Drawn]:
    """Each direction's recall of every row at one depth, with its interval and its seeds, beside chance."""
    return [_dots(results, way, headline(results)) for way in WAYS]


def _dots(results: RetrievalResults, way: str, depth: int) -> Drawn:
    cell = Cell(results.crop, way, HIT, depth)
    rows = [(row, row.values[cell]) for row in results.rows]
    chance = results.chance[cell._replace(crop="")]
    most = _most([*(end for _, value in rows for end in (value.high or 0.0, *value.seeds)), chance])
    height = TOP + LINE * len(rows) + FOOT
    bottom = height - FOOT

    def x(value: float | None) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * (value or 0.0) / most

    told = "; ".join(f"{row.name} {value.mean:.3f} ({interval(value)})" for row, value in rows)
    title = f"R@{depth}, {way.replace('_', ' ')}"
    parts = []
    for tick in _ticks(most):
        parts += [svg.vertical(x(tick), TOP, bottom), svg.text(x(tick), bottom + 16, f"{tick:g}")]
    parts.append(svg.vertical(x(chance), TOP, bottom, "chance"))
    for number, (row, value) in enumerate(rows):
        y = TOP + LINE * (number + 0.5)
        parts += [svg.text(LEFT - 8, y + 4, row.name, "end"), svg.horizontal(y, x(value.low), x(value.high), "interval")]
        parts += [svg.vertical(x(seed), y - 6, y + 6, "seed") for seed in value.seeds]
        parts.append(f'<circle class="dot" cx="{x(value.mean):.1f}" cy="{y:.1f}" r="4"/>')
    return Drawn(title, svg.plot(WIDTH, height, f"{title}: {told}; chance {chance:.3f}.", parts))


def curves(results: RetrievalResults) -> list[Drawn]:
    """Figure 3: recall by share of the training pairs, each direction; none unless some start was given two shares."""
    series = {kind: sorted((row for row in results.rows if row.kind == kind), key=lambda row: row.number) for kind in STARTS}
    if not any(len(rows) > 1 for rows in series.values()):
        return []
    return [_curve(results, {kind: rows for kind, rows in series.items() if rows}, way, headline(results)) for way in WAYS]


def _curve(results: RetrievalResults, series: dict[str, list[Row]], way: str, depth: int) -> Drawn:
    cell = Cell(results.crop, way, HIT, depth)
    chance = results.chance[cell._replace(crop="")]
    points = {kind: [(row.number, row.values[cell]) for row in rows] for kind, rows in series.items()}
    most = _most([*(value.high or 0.0 for each in points.values() for _, value in each), chance])
    widest = max(100, *(number for each in points.values() for number, _ in each))
    left, bottom = 48, CURVE_HEIGHT - FOOT

    def x(number: float) -> float:
        return left + (WIDTH - left - RIGHT) * number / widest

    def y(value: float | None) -> float:
        return TOP + (bottom - TOP) * (1 - (value or 0.0) / most)

    said = "; ".join(
        f"{STARTS[kind]}: {', '.join(f'{value.mean:.3f} of {part} %' for part, value in each)}" for kind, each in points.items()
    )
    title = f"R@{depth}, {way.replace('_', ' ')}"
    parts = []
    for tick in _ticks(most):
        parts += [svg.horizontal(y(tick), left, WIDTH - RIGHT), svg.text(left - 6, y(tick) + 4, f"{tick:g}", "end")]
    numbers = sorted({number for each in points.values() for number, _ in each})
    parts += [svg.text(x(number), bottom + 16, str(number)) for number in numbers]
    parts.append(svg.text((left + WIDTH - RIGHT) / 2, bottom + 34, "% of the training pairs"))
    parts.append(svg.horizontal(y(chance), left, WIDTH - RIGHT, "chance"))
    # Side by side, so that intervals of one share do not hide each other.
    for place, (kind, each) in enumerate(points.items()):
        shift = 4 * (place - (len(points) - 1) / 2)
        corners = [(x(number) + shift, y(value.mean)) for number, value in each]
        parts += [f'<g class="series {kind}">', svg.path(corners, "run")]
        for (number, value), (a, b) in zip(each, corners, strict=True):
            parts.append(svg.vertical(a, y(value.low), y(value.high), "bars"))
            words = escape(f"{STARTS[kind]}, {number} %: {value.mean:.3f}")
            parts.append(f'<circle class="mark" cx="{a:.1f}" cy="{b:.1f}" r="4"><title>{words}</title></circle>')
        parts.append("</g>")
    label = f"{title} by share of the training pairs. {said}; chance {chance:.3f}."
    return Drawn(title, svg.plot(WIDTH, CURVE_HEIGHT, label, parts))


def _most(values: Sequence[float]) -> float:
    return min(1.0, 1.05 * max(values)) or 1.0


def _ticks(most: float) -> list[float]:
    return svg.ticks(most, (0.005, 0.01, 0.02, 0.05, 0.1), 6, 0.2)
