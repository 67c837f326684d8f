"""Histograms of caption lengths as SVG in the page, so that they follow its colours and need no file."""

from __future__ import annotations

from typing import NamedTuple

from components.metrics.caption_lengths import LengthComparison
from components.reporting import svg
from components.stages.evaluate_captioners.results import Row, Table

WIDTH, HEIGHT = 260, 150
LEFT, RIGHT, TOP, BOTTOM = 38, 8, 10, 34
ACROSS, DOWN = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
BARS, LONGEST = 20, 80
"""Bars at most, and words from which all is in the last one."""


class Axes(NamedTuple):
    """The same for all histograms of a test set, so that its networks can be compared by eye."""

    width: int
    """Words a bar."""
    bars: int
    """Bars."""
    longest: int
    """Words from which all is in the last bar."""
    cut: bool
    """Whether some captions are longer than the last bar says."""
    most: float
    """The share at the top."""

    def x(self, place: float) -> float:
        """Where the bar of a number begins."""
        return LEFT + ACROSS * place / self.bars

    def y(self, share: float) -> float:
        """Where a share lies."""
        return TOP + DOWN * (1 - share / self.most)


def drawn(table: Table) -> list[tuple[str, str]]:
    """Each row's histogram: in a sentence, and as SVG."""
    shared = axes(table)
    return [(told(row, table), histogram(row, table, shared)) for row in table.rows]


def told(row: Row, table: Table) -> str:
    """A histogram in a sentence."""
    found, known = row.writing.lengths, table.references_writing.lengths
    return (
        f"{row.network} trained on {row.training}: {found.mean:.1f} ± {found.deviation:.1f} words a caption; "
        f"references {known.mean:.1f} ± {known.deviation:.1f}."
    )


def axes(table: Table) -> Axes:
    """What the longest captions and the highest bar of a test set ask for."""
    found = [table.references_writing.lengths, *(row.writing.lengths for row in table.rows)]
    most = max(1, *(max(lengths.words, default=0) for lengths in found))
    longest = min(LONGEST, most)
    width = longest // BARS + 1
    shared = Axes(width, longest // width + 1, longest, most > longest, 1.0)
    highest = max(share for row in table.rows for each in shares(row, table, shared) for share in each)
    return shared._replace(most=highest * 1.05 or 1.0)


def shares(row: Row, table: Table, shared: Axes) -> tuple[list[float], list[float]]:
    """The share of captions in each bar, of a network and of the references."""
    both = LengthComparison(row.writing.lengths, table.references_writing.lengths, ())
    found = both.histogram(shared.width, shared.longest)
    rest = [0.0] * (shared.bars - len(found.candidates))
    return [*found.candidates, *rest], [*found.references, *rest]


def histogram(row: Row, table: Table, shared: Axes) -> str:
    """Bars for what a network writes, a stepped line for the references."""
    written, known = shares(row, table, shared)
    edges = [shared.x(n) for n in range(shared.bars + 1)]
    ticks = svg.ticks(shared.most, (0.05, 0.1, 0.2), 4, 0.5)
    every, down = max(1, round(shared.bars / 5)), HEIGHT - BOTTOM + 14
    parts = [
        *svg.percent_axis([(share, shared.y(share)) for share in ticks], LEFT, WIDTH - RIGHT, 5),
        *(svg.bar(edges[n], shared.y(share), ACROSS / shared.bars, shared.y(0)) for n, share in enumerate(written) if share),
        svg.path(svg.steps(edges, [shared.y(share) for share in known])),
        # The last bar's label always, since that bar may hold all that is longer.
        *(svg.text(shared.x(n + 0.5), down, _label(n, shared)) for n in range(shared.bars - 1, -1, -every)),
        svg.text(LEFT + ACROSS / 2, HEIGHT - 5, "words"),
    ]
    return svg.plot(WIDTH, HEIGHT, told(row, table), parts)


def _label(n: int, shared: Axes) -> str:
    start, end = n * shared.width, (n + 1) * shared.width - 1
    if shared.cut and n == shared.bars - 1:
        return f"{start}+"
    return f"{start}" if shared.width == 1 else f"{start}–{end}"
