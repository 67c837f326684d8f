"""The page of operations: time, throughput, yield, cache hits and cost of each stage over its runs, from the logs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.core.files import publish_bytes
from components.core.graph import load_graph
from components.execution.run_log import FAILED, FINISHED
from components.reporting import svg
from components.reporting.pages import render
from components.reporting.values import ABSENT, count, percent
from components.tools.status.history import Event, History

PAGE = Path("reports") / "operations" / "index.html"
WIDTH, HEIGHT, EDGE = 150.0, 36.0, 4.0
MOST_POINTS = 60
"""Number of runs that a plot shows: the last ones."""


@dataclass(frozen=True)
class Row:
    """One stage on the page."""

    stage: str
    runs: int
    failed: int
    seconds_plot: str
    rate_plot: str
    seconds: str
    rate: str
    records: str
    passed: str
    cached: str
    bytes: str
    cpu: str
    memory: str
    cost: str


def write_page(root: Path) -> Path:
    """Write ``reports/operations/index.html`` and return its path."""
    graph = load_graph(root)
    history, groups = History(graph), dict[str, list[Row]]()
    for stage, dataset, _ in graph.outputs():
        if runs := history.runs(stage, dataset):
            groups.setdefault(dataset, []).append(row(stage, runs))
    page = render(Path(__file__).parent / "data", "operations.html", dark=True, width="90rem", groups=list(groups.items()))
    publish_bytes(root / PAGE, page.encode())
    return root / PAGE


def row(stage: str, runs: Sequence[Event]) -> Row:
    """Return the row of a stage from the ends of its runs."""
    finished = [run for run in runs if run["event"] == FINISHED]
    last = finished[-1] if finished else {}
    return Row(
        stage,
        len(runs),
        sum(run["event"] == FAILED for run in runs),
        line([run.get("seconds", 0.0) for run in finished], f"Seconds of {stage}, run by run"),
        line([run.get("records_per_second", 0.0) for run in finished], f"Records a second of {stage}, run by run"),
        _text(last, "seconds", "{:,.1f}"),
        _text(last, "records_per_second", "{:,.0f}"),
        f"{count(last['records_in'])} → {count(last['records_out'])}" if "records_in" in last else ABSENT,
        percent(last["yield"]) if "yield" in last else ABSENT,
        percent(last["cached_share"]) if "cached_share" in last else ABSENT,
        size(last.get("bytes")),
        _text(last, "cpu_seconds", "{:,.1f} s"),
        size(last.get("peak_bytes")),
        _text(last, "cost_usd", "${:,.2f}"),
    )


def _text(run: Event, name: str, form: str) -> str:
    return form.format(run[name]) if name in run else ABSENT


def size(number: Any) -> str:
    """Format bytes as 1.2 GB, in powers of 1000; a dash for None."""
    if number is None:
        return ABSENT
    for unit in ("B", "kB", "MB"):
        if number < 1000:
            return f"{number:.0f} {unit}"
        number /= 1000
    return f"{number:.1f} GB"


def line(values: Sequence[float], label: str) -> str:
    """Return a small plot of values over runs, from 0 to the greatest; empty for fewer than two."""
    values = values[-MOST_POINTS:]
    if len(values) < 2:
        return ""
    most = max(values) or 1.0
    step = (WIDTH - 2 * EDGE) / (len(values) - 1)
    points = [(EDGE + number * step, HEIGHT - EDGE - value / most * (HEIGHT - 2 * EDGE)) for number, value in enumerate(values)]
    return svg.plot(WIDTH, HEIGHT, label, [svg.horizontal(HEIGHT - EDGE, 0, WIDTH), svg.path(points)])
