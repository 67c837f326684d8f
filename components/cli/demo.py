"""``hearsight demo`` and ``hearsight experiments``: the whole pipeline with overall progress, small and large."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated

import typer

from components.core.graph import find_root, load_graph
from components.core.printing import print_text
from components.execution.process import die_with_parent, sole_writer

app = typer.Typer()


@app.command()
def demo() -> None:
    """Run the whole pipeline on the sample as a Prefect flow with overall progress, then print results and pages."""
    # Here: `hearsight --help` needs no stage.
    from components.tools.demo import SHOWN, opening, restore_params

    root = find_root()
    with _sole(root):
        if restore_params(root):
            typer.echo("restored the settings of datasets, which `hearsight experiments` had replaced")
        _run(root, opening(load_graph(root), "demo"), SHOWN)


@app.command()
def experiments(
    data: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="The folder with a profile's files: run that profile, not the sample.")
    ] = None,
    profile: Annotated[str, typer.Option(help="One of `hearsight profile list`; added where it is missing.")] = "flickr8k",
    contact: Annotated[str, typer.Option(help="URL or mail address that requests name; the open web needs one.")] = "",
) -> None:
    """Run the full experiments, of the sample (experiments.yaml over datasets/*.yaml) or of a profile; a second call continues.

    What fails does not stop the rest: the results so far are printed, and the exit code is not 0.
    """
    # Imported here: the command alone needs them.
    from components.tools.demo import SHOWN, experiment_params, opening, opening_of_profile, restore_params
    from components.tools.profiles.profile import read_profile, require_profile

    root = find_root()
    if data is None:
        with _sole(root), experiment_params(root):
            _run(root, opening(load_graph(root), "experiments"), SHOWN)
        text = "the settings are restored: `make demo` or `dvc repro` returns to the demo, `make experiments` to these tables"
        typer.echo(text)
        return
    with _sole(root):
        restore_params(root)
        chosen = read_profile(profile)
        if require_profile(root, chosen, data, contact):
            typer.echo(f"added profile {profile}: its settings are datasets/*.yaml (docs/experiments.md)")
        evaluated = [target.partition("@")[2] for target in chosen.targets]
        _run(root, opening_of_profile(chosen), evaluated, chosen.targets, chosen.minutes)


def _sole(root: Path) -> AbstractContextManager[None]:
    return sole_writer(root / ".hearsight" / "locks" / "pipeline.lock", "the pipeline")


def _run(
    root: Path, opening: str, datasets: Collection[str], targets: Collection[str] = (), minutes: Mapping[str, float] | None = None
) -> None:
    """Run the flow and print the results of these datasets; raises typer.Exit with the flow's exit code when it fails.

    Args:
        targets: stages, with all they need; none: every stage.
        minutes: stage → how long it takes, where it has never run.
    """
    # Imported here: the command alone needs them.
    from components.tracking.overview import finished, shown
    from components.tracking.states import output_states

    typer.echo(f"{opening}\n")
    words = ["--target", " ".join(targets)]
    words += [word for name, about in (minutes or {}).items() for word in ("--expect", f"{name}={round(60 * about)}")]
    code = _run_flow(root, words)
    if code and not targets:
        raise typer.Exit(code)
    typer.echo()
    graph = load_graph(root)
    states = output_states(graph)
    for dataset in dict.fromkeys(datasets):
        if dataset in graph.datasets and finished(graph, dataset):
            print_text(shown(graph, dataset, states))
    print_text("others: hearsight show --dataset NAME")
    if code:
        raise typer.Exit(code)


def _run_flow(root: Path, words: list[str]) -> int:
    """Run the Prefect flow as a child with this terminal; it dies with this process. Return its exit code."""
    environment = {**os.environ, "HEARSIGHT_ROOT": str(root)}
    command = [sys.executable, "-m", "flows.pipeline", *words]  # by name, since components do not import flows
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
