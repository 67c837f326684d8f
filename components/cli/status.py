"""``hearsight status`` and ``hearsight logs``: what runs, failed and would run next, and the events of runs."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from components.core.graph import find_root
from components.core.printing import print_json, print_line, print_text

app = typer.Typer()


@app.command()
def status(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on a terminal, too.")] = False,
    page: Annotated[
        bool, typer.Option("--page", help="Instead write a page with time, throughput and cost of each stage over its runs.")
    ] = False,
) -> None:
    """Print what runs now, what failed last, what `dvc repro` would run next and why, and how long it takes."""
    from components.tools.status.report import project_status, text_of  # here: `hearsight --help` needs no stage

    if page:
        from components.tools.status.page import write_page  # here: see above

        print_line({"page": str(write_page(find_root()))})
        return
    found = project_status(find_root())
    if sys.stdout.isatty() and not as_json:
        print_text(text_of(found))
    else:
        print_json(found.plain())


@app.command()
def logs(
    output: Annotated[str, typer.Argument(help="As english/crawl; without one, all.")] = "",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Print new events until Ctrl-C.")] = False,
    failed: Annotated[bool, typer.Option("--failed", help="Only errors.")] = False,
    run: Annotated[str, typer.Option(help="Only the events of this run, or of this flow run.")] = "",
    last: Annotated[int, typer.Option("--last", "-n", help="Print this many of the last events at first; 0: all.")] = 50,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON lines on a terminal, too.")] = False,
) -> None:
    """Print the log of runs of stages: one line for each start, shard, step, end and error."""
    from components.tools.status.reader import Wanted, event_text, select_events  # here: see above

    wanted = Wanted(output, failed=failed, run=run)
    for event in select_events(find_root(), wanted, last=last, follow=follow):
        if sys.stdout.isatty() and not as_json:
            print_text(event_text(event))
        else:
            print_json(event)
