"""The command ``hearsight doctor``."""

from __future__ import annotations

import typer

from components.core.graph import find_root
from components.core.printing import print_result

app = typer.Typer()


@app.command()
def doctor() -> None:
    """List what this machine lacks, with the command that fixes it; exit code 2 if `make demo` cannot succeed."""
    # Here: `hearsight --help` needs no checks.
    from components.tools.doctor.checks import examine
    from components.tools.doctor.finding import MISSING

    findings = examine(find_root())
    for finding in findings:
        print_result(finding.plain(), finding.text())
    if missing := [finding.name for finding in findings if finding.state == MISSING]:
        typer.echo(f"hearsight: `make demo` cannot succeed without: {', '.join(missing)}", err=True)
        raise typer.Exit(2)
