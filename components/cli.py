"""``hearsight``: the one face of it all. Each verb is a thin cover over a library function.

Nothing heavy is imported before a verb needs it, so ``--help`` is quick. Errors a person can mend are one line on
standard error and exit code 2; when standard output is not a terminal, results are JSON lines.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

app = typer.Typer(
    add_completion=False,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    help="Turn web pages into described, spoken, de-duplicated image sets, and train and compare models on them.",
)
Dataset = Annotated[str, typer.Option("--dataset", "-d", help="A dataset of params.yaml's chain.")]


@app.command()
def run(stage: Annotated[str, typer.Argument(help="A stage of dvc.yaml.")], dataset: Dataset = "english") -> None:
    """Run one stage for one dataset (what `dvc repro` calls)."""
    from components.core.graph import find_root
    from components.core.process import die_with_ancestor
    from components.core.runner import run_stage, summary

    die_with_ancestor("dvc")
    _print(summary(run_stage(find_root(), stage, dataset)))


@app.command()
def check(stage: Annotated[str, typer.Argument(help="The stage whose output to check.")], dataset: Dataset = "english") -> None:
    """Hold a stage's output to its manifest, its schema and its expectations."""
    from components.check import check as check_boundary
    from components.core.graph import find_root, load_graph
    from components.core.process import die_with_ancestor

    die_with_ancestor("dvc")
    root = find_root()
    load_graph(root).require(stage, dataset)
    gate = check_boundary(root, dataset, stage)
    _print({"checked": f"{dataset}/{stage}", "expectations": gate.expectations, "gate": str(gate.path)})


@app.command()
def explain(
    what: Annotated[str, typer.Argument(help="A record's key (or its beginning), or a page's or picture's URL.")],
) -> None:
    """Tell a record's life through the stages, from the ledger."""
    from components.core.explain import explain as explain_record
    from components.core.graph import find_root, load_graph

    lives = explain_record(load_graph(find_root()), what)
    if sys.stdout.isatty():
        for life in lives:
            typer.echo(life.text())
    else:
        for life in lives:
            typer.echo(json.dumps(life.plain(), ensure_ascii=False))


@app.command()
def lineage(
    target: Annotated[str, typer.Argument(help="A registered model (name@alias or name/version), a weights file, or dvc.lock.")],
) -> None:
    """Walk from a model to the pages it came from, by digests; refuse when one does not match."""
    from components.core.graph import find_root
    from components.core.lineage import lineage as walk

    _table([step.plain() for step in walk(find_root(), target)])


@app.command()
def show(dataset: Dataset = "english") -> None:
    """Print a finished run: its funnel, its scores, and where to look."""
    from components.core.boundary import Boundary
    from components.core.graph import find_root, load_graph

    root = find_root()
    graph = load_graph(root)
    graph.require("report", dataset)
    report = Boundary(graph.output("report", dataset))
    typer.echo(report.file("summary.txt").read_text())
    typer.echo("where to look")
    for what, place in (
        ("report", report.path / "report.html"),
        ("checks (Data Docs)", root / "reports" / "data_docs"),
        ("experiments, models, flow runs, all in a browser", "make ui"),
    ):
        typer.echo(f"  {what}: {place}")


@app.command()
def data(
    serve: Annotated[bool, typer.Option("--serve", help="Then serve the sample web on loopback until Ctrl-C.")] = False,
) -> None:
    """Fetch the sample's packages of real pages and pictures (a second call fetches nothing)."""
    from components.core.graph import find_root
    from components.core.progress import progress
    from components.crawl.sample.packages import fetch_packages

    root = find_root()
    fetched = fetch_packages(root, progress)
    _print({"packages": str(root / "data" / "packages"), "fetched": ", ".join(fetched) or "nothing: all were there"})
    if serve:
        from components.crawl.sample.serving import serve as serve_web

        serve_web(root)


takedown = typer.Typer(no_args_is_help=True, help="Give up what somebody asked us to, everywhere, and prove it.")
app.add_typer(takedown, name="takedown")
Url = Annotated[str, typer.Option("--url", help="One page or picture.")]
Host = Annotated[str, typer.Option("--host", help="A host with its subdomains.")]
Owner = Annotated[str, typer.Option("--owner", help="Whoever published it.")]


def _given(url: str, host: str, owner: str) -> list[tuple[str, str]]:
    return [(kind, value) for kind, value in (("url", url), ("host", host), ("owner", owner)) if value]


@takedown.command("add")
def takedown_add(
    url: Url = "",
    host: Host = "",
    owner: Owner = "",
    reason: Annotated[str, typer.Option("--reason", help="Written in plain: name nothing in it.")] = "",
) -> None:
    """List a URL, host or owner as a hash; the next run drops it."""
    from components.core.errors import HearsightError
    from components.core.graph import find_root, load_graph
    from components.crawl.takedown import NAME, read_takedown
    from components.takedown.listing import add, named_in_params

    root = find_root()
    if not (given := _given(url, host, owner)):
        raise HearsightError("names nothing", where="takedown add", mend="give --url, --host or --owner")
    for kind, value in given:
        entry, new = add(root, kind, value, reason)
        _print({"listed": kind, "sha256": entry.sha256, "new": new, "next": "dvc repro, then hearsight takedown purge --yes"})
    for place in named_in_params(load_graph(root).params, read_takedown(root / NAME)):
        typer.echo(f"hearsight: warning: params.yaml names it in {place}: take it out", err=True)


@takedown.command("list")
def takedown_list() -> None:
    """Print the list: kind, hash, date, reason."""
    from components.core.graph import find_root
    from components.crawl.takedown import NAME, read_takedown

    entries = read_takedown(find_root() / NAME).entries
    _table({"kind": e.kind, "sha256": e.sha256, "date": e.date, "reason": e.reason} for e in entries)


@takedown.command("purge")
def takedown_purge(yes: Annotated[bool, typer.Option("--yes", help="Do it; without, only say what would go.")] = False) -> None:
    """Remove what older runs left: caches, DVC's objects and remotes, MLflow's artefacts."""
    from components.core.graph import find_root
    from components.takedown.purge import purge

    plan = purge(find_root(), apply=yes)
    _table(item.plain() for item in plan.items)
    for (name, version), grade in plan.models.items():
        _print({"model": f"{name}/{version}", "tainted": grade})
    for line in plan.yours:
        _print({"yours": line})
    _print({"removed" if yes else "would remove": len(plan.items), **({} if yes else {"next": "give --yes to do it"})})


@takedown.command("scan")
def takedown_scan(url: Url = "", host: Host = "", owner: Owner = "") -> None:
    """Look into every file for what is listed (or for a plain value): exit 0 when nothing is left, else 2."""
    from components.core.errors import HearsightError
    from components.core.graph import find_root
    from components.takedown.scan import scan

    report = scan(find_root(), _given(url, host, owner))
    _table(report.left)
    for model in report.models:
        _print(model)
    seen = {"files": report.files, "bytes": report.bytes, "mentions": report.mentions, "stores": ", ".join(report.remotes)}
    _print({"nothing left" if not report.left else "left": not report.left or len(report.left), **seen})
    if report.left:
        raise HearsightError(
            f"{len(report.left)} places hold what is listed", where="takedown scan", mend="run `hearsight takedown purge --yes`"
        )


def _print(line: Mapping[str, Any]) -> None:
    if sys.stdout.isatty():
        typer.echo("  ".join(f"{key} {_plain(value)}" for key, value in line.items() if value not in ({}, [], None)))
    else:
        typer.echo(json.dumps(line, ensure_ascii=False, default=str))


def _plain(value: Any) -> str:
    if isinstance(value, Mapping):
        return ", ".join(f"{key} {inner}" for key, inner in value.items())
    return str(value)


def _table(rows: Iterable[Mapping[str, Any]]) -> None:
    rows = list(rows)
    if not sys.stdout.isatty():
        for row in rows:
            typer.echo(json.dumps(row, ensure_ascii=False, default=str))
        return
    names = list(dict.fromkeys(name for row in rows for name in row))
    widths = {name: max(len(name), *(len(_plain(row.get(name, ""))) for row in rows)) for name in names}
    typer.echo("  ".join(name.ljust(widths[name]) for name in names))
    for row in rows:
        typer.echo("  ".join(_plain(row.get(name, "")).ljust(widths[name]) for name in names))


def main() -> None:
    """The console script."""
    from components.core.errors import HearsightError

    try:
        app(standalone_mode=True)
    except HearsightError as error:
        typer.echo(f"hearsight: {error}", err=True)
        raise SystemExit(2) from None
    except BrokenPipeError:
        # The reader (head, say) has seen enough.
        raise SystemExit(0) from None


if __name__ == "__main__":
    sys.path.insert(0, str(Path.cwd()))
    main()
