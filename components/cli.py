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
snapshots = typer.Typer(no_args_is_help=True, help="Snapshots of the web that the crawl makes records of.")
app.add_typer(snapshots, name="snapshot")
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
def retry(
    dataset: Dataset = "english",
    classes: Annotated[
        str,
        typer.Option(
            "--class", help="Failure classes, with commas between: timeout, connection, http_503, http_5xx, image_side ..."
        ),
    ] = "timeout,connection,http_5xx",
) -> None:
    """Ask again for the failed answers of a complete snapshot, and for nothing else; complete it anew."""
    from components.core.graph import find_root
    from components.crawl.retry import retry as retry_failed

    _print(retry_failed(find_root(), dataset, [name.strip() for name in classes.split(",") if name.strip()]))


@app.command()
def cost(
    dataset: Dataset = "english",
    language: Annotated[str, typer.Option(help="As if filter.providers.language were this: embedded or google.")] = "",
    vision: Annotated[str, typer.Option(help="As if filter.providers.vision were this: embedded or google.")] = "",
) -> None:
    """Say what a run of the filter would ask of paid providers at most, and for how much; asks nothing."""
    from components.core.graph import find_root
    from components.filter.estimate import estimate

    _table([line.plain() for line in estimate(find_root(), dataset, language, vision)])


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


@snapshots.command("next")
def snapshot_next(
    dataset: Dataset = "english",
    day: Annotated[str, typer.Option("--day", help="The day it is named after, as 2026-11-21; today (UTC) without.")] = "",
) -> None:
    """Move params.yaml on to a new snapshot that stands on the last one: the next crawl asks only for what changed."""
    from datetime import UTC, date, datetime

    from components.core.errors import HearsightError
    from components.core.graph import find_root
    from components.crawl.snapshots import next_snapshot

    try:
        chosen = date.fromisoformat(day) if day else datetime.now(UTC).date()
    except ValueError:
        raise HearsightError(f"'{day}' is no day", where="--day", mend="write it as 2026-11-21") from None
    _print(next_snapshot(find_root(), dataset, chosen))


@app.command()
def pairs(
    what: Annotated[list[str], typer.Argument(help="HTML, WARC or WAT: files, addresses (http, s3), or - for standard input.")],
    base: Annotated[str, typer.Option(help="The address an HTML file's relative ones go by.")] = "",
    every: Annotated[bool, typer.Option("--all", help="Also images without alt-text or address.")] = False,
) -> None:
    """Print page, image address and alt-text as JSON lines; what cannot be read is a line on standard error and exit code 2."""
    from components.core.errors import HearsightError
    from components.core.progress import progress
    from components.crawl.archives.anything import as_pairs, pairs_in

    failed = False
    for path in what:
        pages = pairs_in(path, base)
        try:
            for page in progress(pages, desc=f"{path}: pages") if sys.stderr.isatty() else pages:
                if page.failure:
                    failed = True
                    typer.echo(f"hearsight: {path}: {page.failure} at byte {page.offset}: {page.detail or page.url}", err=True)
                for pair in as_pairs(page, every):
                    sys.stdout.write(json.dumps(pair, ensure_ascii=False) + "\n")
        except HearsightError as error:
            failed = True
            typer.echo(f"hearsight: {error}", err=True)
    sys.stdout.flush()
    if failed:
        raise typer.Exit(2)


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
