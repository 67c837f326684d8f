"""Options, and checks of them, that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from components.core.errors import HearsightError

Dataset = Annotated[str, typer.Option("--dataset", "-d", help="A dataset of params.yaml:chain.")]


def require_folder(file: Path) -> None:
    """Raise HearsightError unless the folder of a file to write exists, before the work starts."""
    if not file.parent.is_dir():
        raise HearsightError("there is no such folder", where=file.parent, hint="make it, or write elsewhere")
