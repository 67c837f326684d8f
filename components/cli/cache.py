"""``hearsight cache``: find and remove damaged results in the result caches."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from components.core.graph import find_root
from components.core.printing import print_table

app = typer.Typer(no_args_is_help=True, help="The caches of expensive results.")
SERVICES = ("google", "server")
"""Prefixes of the names of caches that hold answers of services, some of them paid."""


@app.callback()
def _group() -> None:
    """Typer makes a group of a single command only with a callback."""


@app.command()
def repair(
    yes: Annotated[bool, typer.Option("--yes", help="Remove the damaged results; without it they are only listed.")] = False,
    answers: Annotated[
        bool, typer.Option("--answers", help="Also remove answers of services, which are then requested and paid again.")
    ] = False,
) -> None:
    """List damaged results in the caches; with --yes remove them and keep the others. They are computed again when needed."""
    # Here: `hearsight --help` needs no stage.
    from components.tools.cache import find_damage
    from components.tools.cache import repair as repair_stores

    root = find_root()
    damages = find_damage(root / ".hearsight" / "annotations")
    chosen = [damage for damage in damages if yes and (answers or not holds_answers(damage.store))]
    repaired = repair_stores(root, chosen, [damage.store for damage in chosen if holds_answers(damage.store)]) if chosen else {}
    rows = []
    for damage in damages:
        option = "--yes" if answers or not holds_answers(damage.store) else "--yes --answers"
        need = "" if damage.store in repaired else f"give {option}"
        rows.append(
            {
                "store": damage.store.name,
                "damaged": ", ".join(damage.keys) or "the file's structure",
                "problem": damage.problem,
                "done": f"repaired: {repaired[damage.store]} results kept" if damage.store in repaired else f"nothing: {need}",
            }
        )
    print_table(rows or [{"store": "all", "damaged": "nothing", "problem": "", "done": "nothing"}])
    if len(repaired) < len(damages):
        raise typer.Exit(2)


def holds_answers(store: Path) -> bool:
    """Return whether a cache holds answers of services: it has a lock file of keys, or a service's name."""
    return store.with_suffix(".claims").exists() or store.name.startswith(SERVICES)
