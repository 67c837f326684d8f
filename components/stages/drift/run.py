"""Run drift: count the day, keep its line in the history, and compare it with the days before."""

from __future__ import annotations

import pyarrow as pa

from components.core.ledger import kept, ledger_table
from components.core.records import DRIFT
from components.execution.stage import Stage
from components.stages.drift import PAGE, page
from components.stages.drift.day import measure_day, read_snapshot
from components.stages.drift.history import before, comparable, history_path, read_history, write_history
from components.stages.drift.series import Judged, measures


def run(stage: Stage) -> None:
    """Write a record for each measure, the page, the summary, and the day's line in ``reports/days/<dataset>.jsonl``.

    Raises:
        HearsightError: the history cannot be read.
    """
    path = history_path(stage.project, stage.dataset)
    history = read_history(path)
    snapshot = read_snapshot(stage.inputs["crawl"])
    past = before(history, snapshot.name)
    base = next((day for day in past if day.snapshot == snapshot.base), None)
    today = measure_day(stage.inputs, snapshot, base)
    write_history(path, history, today)
    days = [*comparable(past, today, stage.params.since), today][-2 * stage.params.days - 1 :]
    shown = days[-stage.params.days - 1 :]
    judged = [
        [Judged(measure, at, stage.params) for at in range(len(days) - len(shown), len(days))] for measure in measures(days)
    ]
    rows = [one.row() for *_, one in judged if one.point]
    stage.write_file(PAGE, page.render_page(stage.dataset, shown, judged, stage.params).encode())
    stage.write_file("summary.txt", page.render_summary(stage.dataset, shown, judged, stage.params).encode())
    ledger = ledger_table(kept(str(row["key"]), kind="model") for row in rows)
    stage.write_shard("00000", pa.Table.from_pylist(rows, schema=DRIFT), ledger)
    stage.metric("days", len(shown) - 1)
    stage.metric("outside", sum(bool(row["finding"]) for row in rows))
