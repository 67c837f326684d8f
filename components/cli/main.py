"""``hearsight``: the command line, assembled from its groups of commands. Each command calls one library function.

Nothing heavy is imported before a command needs it, so ``--help`` is quick. Errors a user can correct are one line on
standard error and exit code 2; when standard output is not a terminal, tables of results are JSON lines.
"""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path
from typing import Annotated

import typer

from components.cli import app as application
from components.cli import (
    cache,
    consent,
    datasets,
    demo,
    describe,
    heal,
    knowledge,
    ratings,
    results,
    runs,
    scoring,
    search,
    status,
    storage,
    takedown,
    texts,
    voices,
)
from components.cli.options import refuse_empty_paths
from components.core.streams import report_errors, run_program

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Turn web pages into described, spoken, de-duplicated image sets, and train and compare models on them.",
    epilog="Commands work on the project around the current folder: the nearest folder upwards that holds dvc.yaml and "
    "params.yaml. Set the environment variable HEARSIGHT_ROOT to that folder to run them from anywhere.",
)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"hearsight {metadata.version('hearsight')}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    pass


for group in (runs, status, results, texts, voices, scoring, search, describe, heal, demo, application):
    app.add_typer(group.app)
for name, group_app in {
    "dataset": datasets.app,
    "profile": datasets.profiles,
    "consent": consent.app,
    "takedown": takedown.app,
    "cache": cache.app,
    "storage": storage.app,
    "knowledge": knowledge.knowledge,
    "models": results.models,
    "ratings": ratings.app,
}.items():
    app.add_typer(group_app, name=name)


def main() -> None:
    """The console script."""
    run_program(lambda: report_errors(refuse_empty_paths(typer.main.get_command(app))))


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    main()
