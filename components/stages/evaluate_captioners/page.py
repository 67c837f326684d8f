"""The HTML page of the evaluation: one self-contained file without scripts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from components.reporting.pages import data_uri, render
from components.reporting.verdicts import MARKS, verdict
from components.stages.evaluate_captioners.inputs import EvaluationSet
from components.stages.evaluate_captioners.results import CaptionerResults, Example, ModelCaption
from components.stages.evaluate_captioners.scoring import MAIN, METRICS, SIGNATURE
from components.stages.evaluate_captioners.tables import FREQUENT

if TYPE_CHECKING:
    from components.execution.stage import Stage

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
        signature=SIGNATURE,
        languages={table.name: table.language for table in results.tables},
        wordings=WORDINGS,
        paired={name for pair in results.pairs for name in (pair.first, pair.second)},
        thumbnails=thumbnails,
        alt_text=alt_text,
        split_caption=split_caption,
        marked=results.marked,
        frequent=FREQUENT,
        paper=PAPER_AOANET,
        marks=MARKS,
        verdict=verdict,
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
