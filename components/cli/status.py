"""``hearsight status``, ``logs`` and ``doctor``: what runs, failed and would run next, events of runs, what a machine lacks."""

from __future__ import annotations

from typing import Annotated

import typer

from components.core.graph import find_root
from components.core.printing import print_result

app = typer.Typer()


@app.command()
def status(
    dataset: Annotated[str, typer.Option("--dataset", "-d", help="Only the stages of this dataset. Default: all.")] = "",
) -> None:
    """Print what runs now, what failed last, what `dvc repro` would run next and why, and how long it takes."""
    from components.tools.status.report import project_status, text_of  # here: `hearsight --help` needs no stage

    found = project_status(find_root(), dataset)
    print_result(found.plain(), text_of(found))


@app.command()
def logs(
    output: Annotated[str, typer.Argument(help="As english/crawl; without one, all.")] = "",
    failed: Annotated[bool, typer.Option("--failed", help="Only errors.")] = False,
    run: Annotated[str, typer.Option(help="Only the events of this run, or of this flow run.")] = "",
    last: Annotated[int, typer.Option("--last", "-n", help="Print this many of the last events; 0: all.")] = 50,
) -> None:
    """Print the log of runs of stages: one line for each start, shard, step, end and error."""
    from components.tools.status.history import event_text, select_events  # here: see above

    for event in select_events(find_root(), output, failed=failed, run=run, last=last):
        print_result(event, event_text(event))


@app.command()
def doctor() -> None:
    """List what this machine lacks, with the command that fixes it; exit code 2 if `make demo` cannot succeed."""
    # Here: see above.
    from components.tools.doctor.checks import examine
    from components.tools.doctor.finding import MISSING

    findings = examine(find_root())
    for finding in findings:
        print_result(finding.plain(), finding.text())
    if missing := [finding.name for finding in findings if finding.state == MISSING]:
        typer.echo(f"hearsight: `make demo` cannot succeed without: {', '.join(missing)}", err=True)
        raise typer.Exit(2)
