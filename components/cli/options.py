"""Options, and checks of them, that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from components.core.addresses import enclosing_project
from components.core.errors import HearsightError

Dataset = Annotated[str, typer.Option("--dataset", "-d", help="A dataset of the chain.")]


OWN = ("datasets", "ratings", "dvc.lock", "mlflow.db", "releases.jsonl", "takedown.jsonl")
"""Files and folders that a project itself reads, also where they do not exist yet."""


def check_outputs(*files: Path | None, replace: bool = False) -> None:
    """Raise HearsightError, before the work starts, unless the files that a user names, if any, may be written.

    Their folders must exist. An existing file is refused, except with ``replace``, for a command that continues its earlier file.
    """
    for file in filter(None, files):
        if not file.parent.is_dir():
            raise HearsightError("there is no such folder", where=file.parent, hint="make it, or write elsewhere")
        root = enclosing_project(path := file.resolve())
        if root and path.relative_to(root).parts[0] in OWN:
            raise HearsightError("is the project's own", where=file, hint="write elsewhere")
        if file.exists() and not (replace and file.is_file()):
            raise HearsightError("is there already", where=file, hint="give another name")


def refuse_empty_paths(command: Any) -> Any:
    """Return Typer's command with its subcommands, each refusing a path that is '', which would be the current folder."""
    for parameter in command.params:
        if parameter.type_descriptor.annotation in (Path, list[str], list[Path]):
            parameter.process_value = partial(_process_path, parameter.process_value, parameter.opts[0])
    for subcommand in getattr(command, "commands", {}).values():
        refuse_empty_paths(subcommand)
    return command


def _process_path(process: Callable[..., Any], name: str, context: Any, value: Any) -> Any:
    if value == "" or (isinstance(value, (list, tuple)) and "" in value):
        raise HearsightError("is empty", where=name, hint="name a file or folder; . is the current folder")
    return process(context, value)
