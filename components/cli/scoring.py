"""``hearsight score`` and ``hearsight submission``: scores of captions, and files for the COCO server."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from components.cli.options import check_outputs
from components.core.files import publish_bytes
from components.core.printing import print_json, print_line, print_table, print_text

if TYPE_CHECKING:
    from components.tools.score import Scores

app = typer.Typer()
Candidates = Annotated[Path, typer.Option("--candidates", help='COCO results: [{"image_id", "caption"}].')]


@app.command()
def score(
    references: Annotated[Path, typer.Option(help='COCO annotations: {"images", "annotations"}.')],
    candidates: Candidates,
    meteor: Annotated[str, typer.Option(help="The file meteor-1.5.jar, or `off`. Default: pycocoevalcap's.")] = "",
    spice: Annotated[str, typer.Option(help="The folder of spice-1.0.jar, with CoreNLP in its lib/.")] = "",
    java: Annotated[str, typer.Option(help="The Java program.")] = "java",
    language: Annotated[str, typer.Option(help="The captions' language (ISO 639-1).")] = "en",
    subset: Annotated[bool, typer.Option("--subset", help="Score only the images that have a candidate.")] = False,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Write the JSON here, with every image's scores.")] = None,
) -> None:
    """Score captions against references by every metric: one JSON object, or on a terminal a table."""
    # Here: `hearsight --help` needs no metrics.
    from components.tools.score import read_captions
    from components.tools.score import score as score_them

    check_outputs(out)
    scores = score_them(
        read_captions(references, candidates, subset=subset), meteor_path=meteor, spice_path=spice, java=java, language=language
    )
    if out is not None:
        publish_bytes(out, (json.dumps(scores.plain(), ensure_ascii=False, allow_nan=False) + "\n").encode())
    if sys.stdout.isatty():
        _show(scores)
    else:
        # With --out the scores of the images are in the file.
        print_json(scores.plain(per_item=out is None), allow_nan=False)


def _show(scores: Scores) -> None:
    print_table(
        [
            {"metric": name, f"of {len(scores.image_ids)} images": "not a number" if value is None else f"{value:.4f}"}
            for name, value in scores.corpus.items()
        ]
    )
    for name, why in scores.left_out.items():
        print_text(f"left out: {name}: {why}")
    for note in scores.notes:
        print_text(f"note: {note}")


@app.command()
def submission(
    candidates: Candidates,
    split: Annotated[str, typer.Option(help="val2014 or test2014.")],
    algorithm: Annotated[str, typer.Option(help="The algorithm's name, part of the files' names.")],
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write; the same for both splits.")],
    images: Annotated[Path | None, typer.Option(help="The split's image ids, to check the captions against.")] = None,
) -> None:
    """Write the results file of one split for COCO's caption server, and the zip to upload."""
    from components.tools.score import write_submission  # here: as above

    print_line(write_submission(candidates, split, algorithm, out, images))
