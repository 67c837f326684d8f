"""The HTML page of the evaluation: one self-contained file without scripts, with histograms as inline SVG."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from components.metrics.caption_lengths import LengthComparison
from components.reporting import svg
from components.reporting.pages import data_uri, render
from components.stages.evaluate_captioners import columns
from components.stages.evaluate_captioners.inputs import EvaluationSet
from components.stages.evaluate_captioners.results import CaptionerResults, Example, ModelCaption, Row, Table
from components.stages.evaluate_captioners.scoring import MAIN, METRICS

if TYPE_CHECKING:
    from components.execution.stage import Stage

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


PAPER_AOANET = (
    ("MS COCO Captions", "36.5 ± 0.1", "57.5 ± 0.2", "27.7 ± 0.0", "120.5 ± 0.3"),
    ("#PraCegoVer-63K", "1.6 ± 0.2", "14.5 ± 0.4", "7.1 ± 0.1", "4.7 ± 0.7"),
    ("#PraCegoVer-173K", "0.9 ± 0.0", "12.9 ± 0.2", "5.3 ± 0.1", "3.0 ± 0.2"),
)
"""PCV table 2: trained on, then BLEU-4, ROUGE-L, METEOR and CIDEr-D, times 100."""
WORDINGS = {"caption": "captions, with hypernyms in the place of names", "text": "alt-texts as they were"}
"""``extract_features.wording`` → its description."""


class Piece(NamedTuple):
    """A part of a caption."""

    text: str
    unsupported: bool
    """Whether it names an object that is in no reference and no label."""


def render_page(results: CaptionerResults, thumbnails: Mapping[str, str], warnings: Sequence[str] = ()) -> str:
    """Return the page; ``thumbnails``: image → data URI."""
    return render(
        Path(__file__).parent / "data",
        "compare.html",
        warnings=warnings,
        results=results,
        metrics=METRICS,
        main=MAIN,
        languages={table.name: table.language for table in results.tables},
        wordings=WORDINGS,
        paired={name for pair in results.pairs for name in (pair.first, pair.second)},
        thumbnails=thumbnails,
        alt_text=alt_text,
        split_caption=split_caption,
        drawings={table.name: draw_histograms(table) for table in results.tables},
        marked=results.marked,
        columns=columns,
        paper=PAPER_AOANET,
    )


def split_caption(caption: ModelCaption) -> list[Piece]:
    """Split a caption at its hallucinated objects; spans outside the caption or overlapping an earlier span are ignored."""
    pieces, position = [], 0
    for start, end in sorted(caption.objects.spans):
        if position <= start < end <= len(caption.caption):
            pieces += [Piece(caption.caption[position:start], False), Piece(caption.caption[start:end], True)]
            position = end
    return [piece for piece in (*pieces, Piece(caption.caption[position:], False)) if piece.text]


def alt_text(example: Example) -> str:
    """Return the text alternative of an image."""
    return f"Image with the reference: {example.item.references[0]}"


def read_thumbnails(stage: Stage, sets: Sequence[EvaluationSet], results: CaptionerResults) -> dict[str, str]:
    """Return image → data URI of the shown images that have a thumbnail."""
    by_name = {test_set.name: stage.inputs[test_set.input] for test_set in sets}
    shown = [*results.examples, *(example for pair in results.pairs for example in pair.examples)]
    return {
        example.item.image: data_uri(by_name[example.test].read_media(example.item.thumbnail))
        for example in shown
        if example.item.thumbnail
    }
