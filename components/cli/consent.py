"""``hearsight consent``: what is stated about the use of an address, and a changed policy for a finished snapshot."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from components.cli.options import Dataset, check_outputs
from components.core.graph import find_root
from components.core.printing import print_line, print_result

app = typer.Typer(no_args_is_help=True, help="What hosts, pages and images state about their use, and what is decided by it.")


@app.command()
def check(
    url: Annotated[str, typer.Argument(help="The address of a page or an image.")],
    dataset: Dataset = "english",
) -> None:
    """Ask a host, politely, what it states about one address, and explain the decision under the dataset's policy."""
    from components.tools.consent import check as check_consent

    found = check_consent(find_root(), url, dataset)
    lines = [f"{found['decision']}: {found['url']}" + (f" ({found['rule']}: {found['statement']})" if found["rule"] else "")]
    for each in found["statements"]:
        says = "; ".join(f"{word} to {', '.join(uses)}" for word, uses in each["says"].items())
        lines.append(f"  {each['place']}: {' '.join(each['text'].split())[:200]}  ->  {says or 'nothing about these uses'}")
    print_result(found, "\n".join(lines))


@app.command()
def redecide(
    dataset: Dataset = "english",
    out: Annotated[Path | None, typer.Option(help="A file for the changes, one JSON line each.")] = None,
) -> None:
    """Apply the consent settings as they are now to the finished snapshot, without a request, and count what changes."""
    from components.tools.consent import redecide as decide_anew

    check_outputs(out)
    print_line(decide_anew(find_root(), dataset, out))
