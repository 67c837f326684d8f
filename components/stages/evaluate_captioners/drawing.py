"""Histograms of caption lengths as inline SVG."""

from __future__ import annotations

from typing import NamedTuple

from components.metrics.caption_lengths import LengthComparison
from components.reporting import svg
from components.stages.evaluate_captioners.results import Row, Table

WIDTH, HEIGHT = 260, 150
LEFT, RIGHT, TOP, BOTTOM = 38, 8, 10, 34
ACROSS, DOWN = WIDTH - LEFT - RIGHT, HEIGHT - TOP - BOTTOM
BARS, LONGEST = 20, 80
"""Maximal number of bars, and the caption length from which all captions share the last bar."""


class Axes(NamedTuple):
    """Axes shared by all histograms of a test set."""

    width: int
    """Words per bar."""
    bars: int
    """Number of bars."""
    longest: int
    """Caption length from which all captions are in the last bar."""
    cut: bool
    """Whether some captions are longer than the range of the last bar."""
    most: float
    """Share at the top of the vertical axis."""

    def x(self, bar: float) -> float:
        """Return the left end of a bar, by its number."""
        return LEFT + ACROSS * bar / self.bars

    def y(self, share: float) -> float:
        """Return the height of a share."""
        return TOP + DOWN * (1 - share / self.most)


def draw_histograms(table: Table) -> list[tuple[str, str]]:
    """Return the description and the SVG of each row's histogram."""
    shared = shared_axes(table)
    return [(describe_histogram(row, table), draw_histogram(row, table, shared)) for row in table.rows]


def describe_histogram(row: Row, table: Table) -> str:
    """Return a histogram's text alternative."""
    written, known = row.writing.lengths, table.references_writing.lengths
    return (
        f"{row.network} trained on {row.training}: {written.mean:.1f} ± {written.deviation:.1f} words a caption; "
        f"references {known.mean:.1f} ± {known.deviation:.1f}."
    )


def shared_axes(table: Table) -> Axes:
    """Return axes that hold the longest captions and the highest bar of a test set."""
    lengths = [table.references_writing.lengths, *(row.writing.lengths for row in table.rows)]
    most_words = max(1, *(max(each.words, default=0) for each in lengths))
    longest = min(LONGEST, most_words)
    width = longest // BARS + 1
    shared = Axes(width, longest // width + 1, longest, most_words > longest, 1.0)
    highest = max(share for row in table.rows for series in bar_shares(row, table, shared) for share in series)
    return shared._replace(most=highest * 1.05 or 1.0)


def bar_shares(row: Row, table: Table, shared: Axes) -> tuple[list[float], list[float]]:
    """Return the share of captions in each bar: a network's and the references'."""
    comparison = LengthComparison(row.writing.lengths, table.references_writing.lengths, ())
    histogram = comparison.histogram(shared.width, shared.longest)
    padding = [0.0] * (shared.bars - len(histogram.candidates))
    return [*histogram.candidates, *padding], [*histogram.references, *padding]


def draw_histogram(row: Row, table: Table, shared: Axes) -> str:
    """Return the SVG of a histogram: bars for the network, a stepped line for the references."""
    written, known = bar_shares(row, table, shared)
    edges = [shared.x(n) for n in range(shared.bars + 1)]
    ticks = svg.ticks(shared.most, (0.05, 0.1, 0.2), 4, 0.5)
    label_step, label_y = max(1, round(shared.bars / 5)), HEIGHT - BOTTOM + 14
    parts = [
        *svg.percent_axis([(share, shared.y(share)) for share in ticks], LEFT, WIDTH - RIGHT, 5),
        *(svg.bar(edges[n], shared.y(share), ACROSS / shared.bars, shared.y(0)) for n, share in enumerate(written) if share),
        svg.path(svg.steps(edges, [shared.y(share) for share in known])),
        # Labels count from the last bar, which may hold all longer captions and so always needs one.
        *(svg.text(shared.x(n + 0.5), label_y, _label(n, shared)) for n in range(shared.bars - 1, -1, -label_step)),
        svg.text(LEFT + ACROSS / 2, HEIGHT - 5, "words"),
    ]
    return svg.plot(WIDTH, HEIGHT, describe_histogram(row, table), parts)


def _label(n: int, shared: Axes) -> str:
    start, end = n * shared.width, (n + 1) * shared.width - 1
    if shared.cut and n == shared.bars - 1:
        return f"{start}+"
    return f"{start}" if shared.width == 1 else f"{start}–{end}"
