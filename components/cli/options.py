"""Options, and checks of them, that several commands share."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from components.core.errors import HearsightError

Dataset = Annotated[str, typer.Option("--dataset", "-d", help="A dataset of the chain.")]


def require_folder(file: Path) -> None:
    """Raise HearsightError unless the folder of a file to write exists, before the work starts; or if it is no regular file."""
    if not file.parent.is_dir():
        raise HearsightError("there is no such folder", where=file.parent, hint="make it, or write elsewhere")
    if file.exists() and not file.is_file():
        raise HearsightError("is no regular file", where=file, hint="write elsewhere")


def refuse_empty_paths(command: Any) -> Any:
    """Return Typer's command with its subcommands, each refusing a path that is '', which would be the current folder."""
    for parameter in command.params:
        if parameter.type_descriptor.annotation in (Path, list[str]):
            parameter.process_value = partial(_process_path, parameter.process_value, parameter.opts[0])
    for subcommand in getattr(command, "commands", {}).values():
        refuse_empty_paths(subcommand)
    return command


def _process_path(process: Callable[..., Any], name: str, context: Any, value: Any) -> Any:
    if value == "" or (isinstance(value, (list, tuple)) and "" in value):
        raise HearsightError("is empty", where=name, hint="name a file or folder; . is the current folder")
    return process(context, value)
