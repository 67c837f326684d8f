"""``hearsight demo`` and ``hearsight experiments``: the whole pipeline with overall progress, small and large."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import typer

from components.core.graph import find_root, load_graph
from components.core.printing import escape_controls, print_text
from components.execution.process import sole_writer

if TYPE_CHECKING:
    from pathlib import Path

app = typer.Typer()


@app.command()
def demo() -> None:
    """Run the whole pipeline on the sample (`dvc repro`) with overall progress, then print results and pages."""
    # Here: `hearsight --help` needs no stage.
    from components.tools.demo.overlay import restore_params

    root = find_root()
    with _sole(root):
        if restore_params(root):
            typer.echo("restored the settings of datasets, which `hearsight experiments` had replaced")
        _run(root, "demo")


@app.command()
def experiments() -> None:
    """Run the full experiments (experiments.yaml over datasets/*.yaml); a second call continues."""
    # Imported here: the command alone needs them.
    from components.tools.demo.overlay import experiment_params

    root = find_root()
    with _sole(root), experiment_params(root):
        _run(root, "experiments")
    typer.echo("the settings are restored: `make demo` or `dvc repro` returns to the demo, `make experiments` to these tables")


def _sole(root: Path) -> AbstractContextManager[None]:
    return sole_writer(root / ".hearsight" / "locks" / "pipeline.lock", "the pipeline")


def _run(root: Path, kind: str) -> None:
    """Run the pipeline; raises typer.Exit with dvc's exit code when it fails."""
    # Imported here: the command alone needs them.
    from components.tools.demo.closing import opening, results
    from components.tools.demo.lanes import lanes, new_lanes
    from components.tools.demo.progress import Progress, count_stages
    from components.tools.demo.repro import LOG, reason, reproduce
    from components.tracking import recorder

    graph = load_graph(root)
    typer.echo(opening(graph, kind))
    typer.echo(f"dvc's output: {root / LOG}\n")
    progress = Progress(count_stages(graph))
    # Later runs have little to do, and each lane takes seconds to start dvc.
    code, lines = reproduce(root, progress, new_lanes(root, graph) if kind == "demo" else lanes(graph))
    try:
        recorder.flush(root)
    except Exception as error:  # the results are written; the tracker must not fail the command
        typer.echo(f"hearsight: warning: not all runs are in MLflow yet ({error})", err=True)
    if code:
        typer.echo(escape_controls("\n".join(["", "last lines of the log:", *(f"  {line}" for line in lines), ""])), err=True)
        what = f"'{progress.current}' failed" if progress.current else "dvc failed"
        typer.echo(f"{what}: {escape_controls(reason(lines))}\nlog: {root / LOG}; the same command continues", err=True)
        raise typer.Exit(code)
    typer.echo(f"\ndone in {progress.elapsed()}: {progress.ran} stages ran, {progress.visited - progress.ran} were up to date\n")
    for line in results(root, graph):
        print_text(line)
