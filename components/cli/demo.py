"""``hearsight demo`` and ``hearsight experiments``: the whole pipeline with overall progress, small and large."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import typer

from components.core.graph import find_root, load_graph
from components.core.printing import print_text
from components.execution.process import die_with_parent, sole_writer

if TYPE_CHECKING:
    from pathlib import Path

app = typer.Typer()


@app.command()
def demo() -> None:
    """Run the whole pipeline on the sample as a Prefect flow with overall progress, then print results and pages."""
    # Here: `hearsight --help` needs no stage.
    from components.tools.demo import restore_params

    root = find_root()
    with _sole(root):
        if restore_params(root):
            typer.echo("restored the settings of datasets, which `hearsight experiments` had replaced")
        _run(root, "demo")


@app.command()
def experiments() -> None:
    """Run the full experiments (experiments.yaml over datasets/*.yaml); a second call continues."""
    # Imported here: the command alone needs them.
    from components.tools.demo import experiment_params

    root = find_root()
    with _sole(root), experiment_params(root):
        _run(root, "experiments")
    typer.echo("the settings are restored: `make demo` or `dvc repro` returns to the demo, `make experiments` to these tables")


def _sole(root: Path) -> AbstractContextManager[None]:
    return sole_writer(root / ".hearsight" / "locks" / "pipeline.lock", "the pipeline")


def _run(root: Path, kind: str) -> None:
    """Run the flow and print its results; raises typer.Exit with its exit code when it fails."""
    # Imported here: the command alone needs them.
    from components.tools.demo import SHOWN, opening
    from components.tracking.overview import shown
    from components.tracking.states import output_states

    graph = load_graph(root)
    typer.echo(f"{opening(graph, kind)}\n")
    if code := _run_flow(root):
        raise typer.Exit(code)
    typer.echo()
    states = output_states(graph)
    for dataset in SHOWN:
        if dataset in graph.datasets:
            print_text(shown(graph, dataset, states))
    print_text("others: hearsight show --dataset NAME")


def _run_flow(root: Path) -> int:
    """Run the Prefect flow as a child with this terminal; it dies with this process. Return its exit code."""
    environment = {**os.environ, "HEARSIGHT_ROOT": str(root)}
    command = [sys.executable, "-m", "flows.pipeline"]  # by name, since components do not import flows
    # A session of its own, so that Ctrl-C comes here alone and is passed on once.
    child = subprocess.Popen(command, env=environment, start_new_session=True, preexec_fn=die_with_parent)
    received: list[int] = []

    def pass_on(number: int, _frame: object) -> None:
        received.append(number)
        child.send_signal(number)

    earlier = {number: signal.signal(number, pass_on) for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
    try:
        code = child.wait()
    finally:
        for number, handler in earlier.items():
            signal.signal(number, handler)
    return 128 + received[0] if received else code if code >= 0 else 128 - code
