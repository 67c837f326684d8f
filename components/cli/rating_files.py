"""``hearsight ratings import``, ``tasks`` and ``write``: ratings from and for other labelling tools."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from components.cli.options import Dataset
from components.core.graph import find_root, load_graph
from components.core.printing import print_line

app = typer.Typer()


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(help="CSV, or JSON of Label Studio.")],
    dataset: Dataset = "english",
) -> None:
    """Copy a file of ratings into ratings/DATASET as CSV, with raters' names replaced by pseudonyms."""
    from components.tools.rating_files.importing import import_file  # here: pyarrow, and --help needs none

    print_line(import_file(load_graph(find_root()), dataset, file))


@app.command()
def tasks(
    out: Annotated[Path, typer.Option("--out", "-o", help="The folder to write.")],
    dataset: Dataset = "english",
    address: Annotated[
        str, typer.Option("--address", help="Stands before the paths of images and speech: where the tool finds the folder.")
    ] = "",
) -> None:
    """Write a dataset's items as tasks for Label Studio, with images, speech and its configuration."""
    from components.tools.rating_files.exporting import export_tasks  # here: as above

    print_line(export_tasks(load_graph(find_root()), dataset, out, address))


@app.command()
def write(
    out: Annotated[Path, typer.Option("--out", "-o", help="The file to write.")],
    dataset: Dataset = "english",
) -> None:
    """Write the imported ratings of a dataset as CSV; raters are pseudonyms."""
    from components.tools.rating_files.exporting import export_ratings  # here: as above

    print_line(export_ratings(load_graph(find_root()), dataset, out))
