"""Run evaluate_ratings: count the votes, and write tables, page and rated items."""

from __future__ import annotations

import logging

from components.core.check_warnings import input_warnings
from components.execution.stage import Stage
from components.stages.evaluate_ratings import PAGE, Params, files, page, rated_items
from components.stages.evaluate_ratings.results import RatingResults, gather

log = logging.getLogger(__name__)


def run(stage: Stage) -> None:
    """Write the records of the items that count, the tables in all forms, and the page."""
    params: Params = stage.params
    results = gather(stage.dataset, stage.inputs, params)
    _warn(results)
    rated_items.write(stage, results.votes, results.uses, params)
    stage.write_file("scores.json", files.scores_json(results).encode())
    stage.write_file("table.csv", files.table_csv(results).encode())
    stage.write_file("summary.txt", files.render_summary(results).encode())
    stage.write_file(PAGE, page.render_page(results, input_warnings(stage.inputs.values())).encode())
    stage.export("ratings.json", files.metrics_json(results).encode())
    stage.export("ratings.csv", files.plot_csv(results).encode())
    for name, value in files.tracking_metrics(results):
        stage.metric(name, value)
    for row in files.tracking_rows(results):
        stage.row(*row)


def _warn(results: RatingResults) -> None:
    incomplete = sum(row.incomplete for row in results.shares) + sum(row.incomplete for row in results.recalls)
    if incomplete:
        log.warning(
            "evaluate_ratings: %s: %s places of tables have fewer ratings than asked for and do not count",
            results.dataset,
            f"{incomplete:,}",
        )
