"""``hearsight feedback``: which filter rules an alt-text passes, and what it lacks as a description."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from components.core.graph import find_root
from components.core.printing import print_result

if TYPE_CHECKING:
    from components.tools.feedback.guidelines import Remark

app = typer.Typer()
MARKS = {True: "ok ", False: "NO ", None: "?  "}


@app.command()
def feedback(
    text: Annotated[str, typer.Argument(help="The alt-text; - reads it from standard input.")] = "-",
    image: Annotated[
        Path | None, typer.Option(help="Its image: also compare format, size and content with an English text.")
    ] = None,
    language: Annotated[Literal["en", "pt"], typer.Option("--language", "-l", help="The language of the text.")] = "en",
    notes: Annotated[Literal["en", "pt"], typer.Option(help="The language of the remarks.")] = "en",
) -> None:
    """Say which filter rules of the paper an alt-text passes, what it lacks as a description, and what is not checked."""
    from components.tools.feedback.feedback import feedback as remarks_on
    from components.vision.image_files import read_image_file

    given = sys.stdin.buffer.read(1 << 20).decode("utf-8", "replace") if text == "-" else text
    data = read_image_file(image) if image is not None else None
    for remark in remarks_on(given, language, image=data, root=find_root(), interface=notes, where=str(image)):
        print_result(remark.plain(), _line(remark))


def _line(remark: Remark) -> str:
    detail = f"   ({remark.detail})" if remark.detail else ""
    return f"{MARKS[remark.passed]} {remark.text}{detail}   [{remark.source}]"
