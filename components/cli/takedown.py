"""``hearsight takedown``: add, list, answer, purge, scan. Imports are inside the commands: ``hearsight --help`` needs none."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from components.cli.options import check_outputs
from components.core.errors import HearsightError
from components.core.graph import find_root, load_graph
from components.core.printing import print_error, print_json, print_line, print_table

app = typer.Typer(no_args_is_help=True, help="Remove listed pages, images, hosts and accounts everywhere, and verify it.")
Url = Annotated[str, typer.Option("--url", help="The address of a page or image.")]
Host = Annotated[str, typer.Option("--host", help="A host and its subdomains; *.host is the same.")]
Owner = Annotated[str, typer.Option("--owner", help="An account: name, name@server, or its page's address.")]


def _given(url: str, host: str, owner: str) -> list[tuple[str, str]]:
    return [(kind, value) for kind, value in (("url", url), ("host", host), ("owner", owner)) if value]


@app.command()
def add(
    url: Url = "",
    host: Host = "",
    owner: Owner = "",
    reason: Annotated[str, typer.Option(help="The reason, stored as readable text: do not name what is removed.")] = "",
    in_advance: Annotated[bool, typer.Option("--in-advance", help="List it although it covers nothing yet.")] = False,
) -> None:
    """List a URL, host or owner as a hash and print what it covers; the next run drops it. What covers nothing is refused."""
    from components.tools.takedown.listing import add as add_to_list
    from components.tools.takedown.listing import find_listed_settings, normalise
    from components.tools.takedown.scan import count_covered
    from components.web.takedown_list import NAME, read_takedown

    root = find_root()
    if not (given := _given(url, host, owner)):
        raise HearsightError("names nothing", where="takedown add", hint="give --url, --host or --owner")
    graph, listed = load_graph(root), read_takedown(root / NAME)
    covered = [count_covered(graph, kind, value) for kind, value in given]
    for (kind, value), counts in zip(given, covered, strict=True):
        if not any(counts) and not in_advance and listed.find(kind, normalise(kind, value)) is None:
            hint = "check how it is spelled, or give --in-advance to list it before it is crawled; nothing was listed"
            raise HearsightError(f"{kind} '{value}' covers no record and no stored answer", where="takedown add", hint=hint)
    for (kind, value), (records, answers) in zip(given, covered, strict=True):
        entry, new = add_to_list(root, kind, value, reason)
        totals = {"records": sum(records.values()), "in": records, "answers": sum(answers.values()), "snapshots": answers}
        then = "dvc repro, then hearsight takedown purge --yes"
        print_line({"listed": kind, "sha256": entry.sha256, "new": new, **totals, "next": then})
    for place in find_listed_settings(graph.params, read_takedown(root / NAME)):
        print_error(f"warning: the settings name it in {place}: take it out")


@app.command("list")
def list_entries() -> None:
    """Print the list: kind, hash, date, reason."""
    from components.web.takedown_list import NAME, read_takedown

    entries = read_takedown(find_root() / NAME).entries
    print_table({"kind": e.kind, "sha256": e.sha256, "date": e.date, "reason": e.reason} for e in entries)


@app.command()
def answer(
    url: Url = "",
    host: Host = "",
    owner: Owner = "",
    date: Annotated[str, typer.Option(help="The day of the request, as 2026-11-30. Default: that of the list's entry.")] = "",
    releases: Annotated[
        list[Path] | None, typer.Option("--release", help="A release that releases.jsonl lacks. Repeatable.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the receipt as one line of JSON, with keys of records.")] = False,
    out: Annotated[
        list[Path] | None, typer.Option("--out", "-o", help="A file for the receipt: .html to print, or .json. Repeatable.")
    ] = None,
) -> None:
    """Answer a request: what came from an address, when it is removed, and which releases and models had it; changes nothing."""
    from components.tools.takedown.answer import answer as answer_request

    given = _given(url, host, owner)
    if len(given) != 1:
        raise HearsightError("answers one request", where="takedown answer", hint="give one --url, --host or --owner")
    for path in out or []:
        check_outputs(path)
        if path.suffix not in (".html", ".json"):
            raise HearsightError("is no .html or .json", where=path, hint="print the page from a browser for other kinds")
    receipt = answer_request(find_root(), *given[0], date, releases or [])
    for path in out or []:
        receipt.write(path)
    if as_json:
        print_json(receipt.plain())
        return
    print_table({name: value for name, value in row.items() if name != "keys"} for row in receipt.found)
    for rows in (receipt.copies, receipt.releases, receipt.models):
        print_table(rows)
    for command in receipt.again:
        print_line({"train or build again": command})
    about = {"date": receipt.date, "listed": receipt.listed, "nothing found": not receipt.found and not receipt.copies}
    print_line(about | {"not searched": receipt.not_searched, "removed before, not compared": receipt.not_compared})


@app.command()
def purge(yes: Annotated[bool, typer.Option("--yes", help="Remove it; without this option, only list it.")] = False) -> None:
    """Remove the data of older runs from caches, DVC's objects and remotes, and MLflow's artefacts."""
    from components.tools.takedown.plan import purge as purge_older

    plan = purge_older(find_root(), apply=yes)
    print_table(item.plain() for item in plan.items)
    for (name, version), grade in plan.models.items():
        print_line({"model": f"{name}/{version}", "tainted": grade})
    for line in plan.manual:
        print_line({"to do by hand": line})
    print_line({"removed" if yes else "would remove": len(plan.items), **({} if yes else {"next": "give --yes to do it"})})


@app.command()
def scan(url: Url = "", host: Host = "", owner: Owner = "") -> None:
    """Search every file for what is listed, or for a given value: exit code 0 when nothing is left, else 2."""
    from components.tools.takedown.scan import scan as scan_project

    given = _given(url, host, owner)
    report = scan_project(find_root(), given)
    print_table(report.left)
    for model in report.models:
        print_line(model)
    totals = {"files": report.files, "stores": ", ".join(report.remotes)}
    print_line({"nothing left" if not report.left else "left": not report.left or len(report.left), **totals})
    if report.left:
        what = "was asked for" if given else "is listed"
        hint = "run `hearsight takedown purge --yes`, which removes what is listed"
        raise HearsightError(f"{len(report.left)} places hold what {what}", where="takedown scan", hint=hint)
