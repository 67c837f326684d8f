"""``hearsight models``: the registered models and their alias ``best``."""

from __future__ import annotations

from typing import Annotated

import typer

from components.core.graph import find_root
from components.core.printing import print_line, print_table

app = typer.Typer(no_args_is_help=True, help="Registered models, and which of their versions is the best.")


@app.command("list")
def list_models() -> None:
    """List the versions of all models: aliases, validation score, spread over seeds, and why `best` moved or not."""
    from components.tracking.best_alias import listed
    from components.tracking.record import connect
    from components.tracking.recorder import flush_or_warn

    flush_or_warn(root := find_root())
    print_table(listed(connect(root)))


@app.command()
def restore(
    name: Annotated[str, typer.Argument(help="A registered model, as english-t2t8x8-captioner.")],
    version: Annotated[str, typer.Option(help="The version that gets the alias. Default: the previous best.")] = "",
) -> None:
    """Move the alias `best` back to the previous version, or to any other; a second call undoes it."""
    from components.tracking.best_alias import restore as restore_best
    from components.tracking.record import connect
    from components.tracking.recorder import flush_or_warn

    flush_or_warn(root := find_root())
    print_line(restore_best(connect(root), name, version))
