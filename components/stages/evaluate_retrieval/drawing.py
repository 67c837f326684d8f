"""Figures of the page as SVG in it: recalls of all rows with their intervals, and figure 3, recall by share of the data."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple
from xml.sax.saxutils import escape, quoteattr

from components.stages.evaluate_retrieval.columns import Value
from components.stages.evaluate_retrieval.facts import Facts, Row
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


def headline(facts: Facts) -> int:
    """The depth that figures show: R@10, or the nearest there is."""
    return min(facts.params.depths, key=lambda depth: (abs(depth - 10), depth))


def dots(facts: Facts) -> list[Drawn]:
    """Each direction's recall of every row at one depth, with its interval and its seeds, beside chance."""
    return [_dots(facts, way, headline(facts)) for way in WAYS]


def _dots(facts: Facts, way: str, depth: int) -> Drawn:
    cell = Cell(facts.crop, way, HIT, depth)
    values = [row.values[cell] for row in facts.rows]
    chance = facts.chance[cell._replace(crop="")]
    most = _most([*(value.high for value in values), *(seed for value in values for seed in value.seeds), chance])
    height = TOP + LINE * len(values) + FOOT

    def x(value: float) -> float:
        return LEFT + (WIDTH - LEFT - RIGHT) * value / most

    told = "; ".join(f"{row.name} {value.mean:.3f} ({value.low:.3f} to {value.high:.3f})" for row, value in _zipped(facts, cell))
    title = f"R@{depth}, {way.replace('_', ' ')}"
    found = [_open(height, f"{title}: {told}; chance {chance:.3f}."), *_across(x, most, height)]
    found.append(f'<line class="chance" x1="{x(chance):.1f}" x2="{x(chance):.1f}" y1="{TOP}" y2="{height - FOOT}"/>')
    for number, (row, value) in enumerate(_zipped(facts, cell)):
        y = TOP + LINE * (number + 0.5)
        found.append(f'<text class="end" x="{LEFT - 8}" y="{y + 4:.1f}">{escape(row.name)}</text>')
        found.append(f'<line class="interval" x1="{x(value.low):.1f}" x2="{x(value.high):.1f}" y1="{y:.1f}" y2="{y:.1f}"/>')
        found += [f'<line class="seed" x1="{x(s):.1f}" x2="{x(s):.1f}" y1="{y - 6:.1f}" y2="{y + 6:.1f}"/>' for s in value.seeds]
        found.append(f'<circle class="dot" cx="{x(value.mean):.1f}" cy="{y:.1f}" r="4"/>')
    return Drawn(title, "".join(found) + "</svg>")


def _zipped(facts: Facts, cell: Cell) -> list[tuple[Row, Value]]:
    return [(row, row.values[cell]) for row in facts.rows]


def _across(x: Callable[[float], float], most: float, height: float) -> list[str]:
    found = []
    for value in _ticks(most):
        at = x(value)
        found.append(f'<line class="grid" x1="{at:.1f}" x2="{at:.1f}" y1="{TOP}" y2="{height - FOOT}"/>')
        found.append(f'<text class="mid" x="{at:.1f}" y="{height - FOOT + 16}">{value:g}</text>')
    return found


def curves(facts: Facts) -> list[Drawn]:
    """Figure 3: recall by share of the training pairs, each direction; none unless some start was given two shares."""
    series = {kind: sorted((row for row in facts.rows if row.kind == kind), key=lambda row: row.number) for kind in STARTS}
    if not any(len(rows) > 1 for rows in series.values()):
        return []
    return [_curve(facts, {kind: rows for kind, rows in series.items() if rows}, way, headline(facts)) for way in WAYS]


def _curve(facts: Facts, series: dict[str, list[Row]], way: str, depth: int) -> Drawn:
    cell = Cell(facts.crop, way, HIT, depth)
    chance = facts.chance[cell._replace(crop="")]
    points = {kind: [(row.number, row.values[cell]) for row in rows] for kind, rows in series.items()}
    most = _most([*(value.high for each in points.values() for _, value in each), chance])
    widest = max(100, *(number for each in points.values() for number, _ in each))
    left, bottom = 48, CURVE_HEIGHT - FOOT

    def x(number: float) -> float:
        return left + (WIDTH - left - RIGHT) * number / widest

    def y(value: float) -> float:
        return TOP + (bottom - TOP) * (1 - value / most)

    said = "; ".join(
        f"{STARTS[kind]}: {', '.join(f'{value.mean:.3f} of {part} %' for part, value in each)}" for kind, each in points.items()
    )
    title = f"R@{depth}, {way.replace('_', ' ')}"
    found = [_open(CURVE_HEIGHT, f"{title} by share of the training pairs. {said}; chance {chance:.3f}.")]
    for tick in _ticks(most):
        found.append(f'<line class="grid" x1="{left}" x2="{WIDTH - RIGHT}" y1="{y(tick):.1f}" y2="{y(tick):.1f}"/>')
        found.append(f'<text class="end" x="{left - 6}" y="{y(tick) + 4:.1f}">{tick:g}</text>')
    for number in sorted({number for each in points.values() for number, _ in each}):
        found.append(f'<text class="mid" x="{x(number):.1f}" y="{bottom + 16}">{number}</text>')
    found.append(f'<text class="mid" x="{(left + WIDTH - RIGHT) / 2:.1f}" y="{bottom + 34}">% of the training pairs</text>')
    found.append(f'<line class="chance" x1="{left}" x2="{WIDTH - RIGHT}" y1="{y(chance):.1f}" y2="{y(chance):.1f}"/>')
    # Side by side, so that intervals of one share do not hide each other.
    for place, (kind, each) in enumerate(points.items()):
        shift = 4 * (place - (len(points) - 1) / 2)
        corners = [(x(number) + shift, y(value.mean)) for number, value in each]
        found.append(f'<g class="series {kind}"><path class="run" d="M{"L".join(f"{a:.1f} {b:.1f}" for a, b in corners)}"/>')
        for (number, value), (a, b) in zip(each, corners, strict=True):
            found.append(f'<line class="bars" x1="{a:.1f}" x2="{a:.1f}" y1="{y(value.low):.1f}" y2="{y(value.high):.1f}"/>')
            said = f"{STARTS[kind]}, {number} %: {value.mean:.3f}"
            found.append(f'<circle class="mark" cx="{a:.1f}" cy="{b:.1f}" r="4"><title>{said}</title></circle>')
        found.append("</g>")
    return Drawn(title, "".join(found) + "</svg>")


def _open(height: float, told: str) -> str:
    return f'<svg class="plot" viewBox="0 0 {WIDTH} {height}" role="img" aria-label={quoteattr(told)}>'


def _most(values: Sequence[float]) -> float:
    return min(1.0, 1.05 * max(values)) or 1.0


def _ticks(most: float) -> list[float]:
    step = next((step for step in (0.005, 0.01, 0.02, 0.05, 0.1) if most / step <= 6), 0.2)
    return [round(step * number, 3) for number in range(int(most / step + 1e-9) + 1)]
