"""``hearsight cache``: find damaged results in the annotation stores, and remove them alone."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from components.core.printing import print_table

app = typer.Typer(no_args_is_help=True, help="The stores of results that are not computed twice.")
SERVICES = ("google", "wikidata")
"""How the names of stores begin whose results are answers of services, some of them paid for."""


@app.callback()
def _group() -> None:
    """Typer makes a group of a single command only with a callback."""


@app.command()
def repair(
    yes: Annotated[bool, typer.Option("--yes", help="Remove the damaged results; without it they are only listed.")] = False,
    answers: Annotated[
        bool, typer.Option("--answers", help="Also answers of services, which are asked for and paid again.")
    ] = False,
) -> None:
    """List damaged results in the stores; with --yes remove those and keep all others. They are computed again when needed."""
    from components.core.graph import find_root
    from components.tools.cache.repair import find_damage
    from components.tools.cache.repair import repair as repair_stores

    root = find_root()
    found = find_damage(root / ".hearsight" / "annotations")
    chosen = [damage for damage in found if yes and (answers or not holds_answers(damage.store))]
    left = repair_stores(root, chosen, [damage.store for damage in chosen if holds_answers(damage.store)]) if chosen else {}
    rows = []
    for damage in found:
        need = (
            "" if damage.store in left else "give --yes" if answers or not holds_answers(damage.store) else "give --yes --answers"
        )
        rows.append(
            {
                "store": damage.store.name,
                "damaged": ", ".join(damage.keys) or "the file's structure",
                "problem": damage.problem,
                "done": f"repaired: {left[damage.store]} results kept" if damage.store in left else f"nothing: {need}",
            }
        )
    print_table(rows or [{"store": "all", "damaged": "nothing", "problem": "", "done": "nothing"}])
    if len(left) < len(found):
        raise typer.Exit(2)


def holds_answers(store: Path) -> bool:
    """Whether a store holds answers of services: one with claims beside it, or with a service's name."""
    return store.with_suffix(".claims").exists() or store.name.startswith(SERVICES)
