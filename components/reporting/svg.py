"""Elements of inline SVG plots, styled by the page's CSS. Coordinates are in the plot's units."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from xml.sax.saxutils import escape, quoteattr


def plot(width: float, height: float, label: str, parts: Iterable[str]) -> str:
    """Return an SVG plot; ``label`` is its text alternative."""
    opening = f'<svg class="plot" viewBox="0 0 {width:g} {height:g}" role="img" aria-label={quoteattr(label)}>'
    return "".join([opening, *parts, "</svg>"])


def horizontal(y: float, left: float, right: float, kind: str = "grid") -> str:
    """Return a horizontal line; ``kind`` is its CSS class."""
    return f'<line class="{kind}" x1="{left:.1f}" x2="{right:.1f}" y1="{y:.1f}" y2="{y:.1f}"/>'


def vertical(x: float, top: float, bottom: float, kind: str = "grid") -> str:
    """Return a vertical line; ``kind`` is its CSS class."""
    return f'<line class="{kind}" x1="{x:.1f}" x2="{x:.1f}" y1="{top:.1f}" y2="{bottom:.1f}"/>'


def text(x: float, y: float, words: str, kind: str = "mid") -> str:
    """Return a text label; ``kind`` is ``mid`` (centred at x), ``end`` (ends at x) or ``start``."""
    return f'<text class="{kind}" x="{x:.1f}" y="{y:.1f}">{escape(words)}</text>'


def path(corners: Iterable[tuple[float, float]], kind: str = "line") -> str:
    """Return a line through points."""
    return f'<path class="{kind}" d="M{"L".join(f"{x:.1f} {y:.1f}" for x, y in corners)}"/>'


def mark(x: float, y: float, kind: str) -> str:
    """Return a point: a small circle, or a large diamond if ``kind`` is ``outside``, so that colour is not needed."""
    if kind == "outside":
        return path([(x, y - 6), (x + 6, y), (x, y + 6), (x - 6, y), (x, y - 6)], kind)
    return f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="2.5"/>'


def ticks(most: float, candidates: Sequence[float], lines: int, widest: float) -> list[float]:
    """Return an axis' ticks from 0 to ``most``, with the finest step that gives at most ``lines`` ticks, or ``widest``."""
    step = next((step for step in candidates if most / step <= lines), widest)
    return [step * number for number in range(int(most / step + 1e-9) + 1)]
