"""The page people look at: one file that needs no other, no network and no script."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from components.reporting.pages import data_uri, render
from components.stages.evaluate_captioners import columns, drawing
from components.stages.evaluate_captioners.inputs import EvaluationSet
from components.stages.evaluate_captioners.results import CaptionerResults, Example, Said
from components.stages.evaluate_captioners.scoring import MAIN, METRICS

if TYPE_CHECKING:
    from components.execution.stage import Stage

PAPER_AOANET = (
    ("MS COCO Captions", "36.5 ± 0.1", "57.5 ± 0.2", "27.7 ± 0.0", "120.5 ± 0.3"),
    ("#PraCegoVer-63K", "1.6 ± 0.2", "14.5 ± 0.4", "7.1 ± 0.1", "4.7 ± 0.7"),
    ("#PraCegoVer-173K", "0.9 ± 0.0", "12.9 ± 0.2", "5.3 ± 0.1", "3.0 ± 0.2"),
)
"""PCV table 2: trained on, then BLEU-4, ROUGE-L, METEOR and CIDEr-D, times 100."""
WORDINGS = {"caption": "captions, with hypernyms in the place of names", "text": "alt-texts as they were"}
"""What ``prepare.wording`` is to a reader; of sets that have such captions."""


class Piece(NamedTuple):
    """A stretch of a caption."""

    text: str
    unseen: bool
    """Whether it names what neither references nor labels know."""


def html(results: CaptionerResults, thumbnails: Mapping[str, str], warnings: Sequence[str] = ()) -> str:
    """Return the page; ``thumbnails``: picture → data URI."""
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
        alt=alt,
        pieces=pieces,
        drawings={table.name: drawing.drawn(table) for table in results.tables},
        marked=results.marked,
        columns=columns,
        paper=PAPER_AOANET,
    )


def pieces(said: Said) -> list[Piece]:
    """A caption cut where it names what is not there; what lies outside of the caption, or in another stretch, is left alone."""
    found, at = [], 0
    for start, end in sorted(said.things.places):
        if at <= start < end <= len(said.caption):
            found += [Piece(said.caption[at:start], False), Piece(said.caption[start:end], True)]
            at = end
    return [piece for piece in (*found, Piece(said.caption[at:], False)) if piece.text]


def alt(example: Example) -> str:
    """What stands for a picture where it cannot be seen."""
    return f"The picture; a reference says: {example.item.references[0]}"


def thumbnails(stage: Stage, sets: Sequence[EvaluationSet], results: CaptionerResults) -> dict[str, str]:
    """Picture → data URI, of the pictures shown of which a small one is kept."""
    by_name = {found.name: stage.inputs[found.input] for found in sets}
    shown = [*results.examples, *(example for pair in results.pairs for example in pair.examples)]
    found = {}
    for example in shown:
        if example.item.thumbnail:
            found[example.item.picture] = data_uri(by_name[example.test].read_media(example.item.thumbnail))
    return found
