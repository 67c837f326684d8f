"""Run evaluate_captioners: caption, score, compare, and write the page."""

from __future__ import annotations

import logging

from components.core.check_warnings import input_warnings
from components.execution.stage import Stage
from components.stages.evaluate_captioners import PAGE, SUMMARY, page, tables
from components.stages.evaluate_captioners.gathering import gather
from components.stages.evaluate_captioners.inputs import add_rows, open_inputs
from components.stages.evaluate_captioners.jobs import score_all, write_all
from components.stages.evaluate_captioners.reranking import rerank_all
from components.stages.evaluate_captioners.scoring import MAIN

log = logging.getLogger(__name__)


def run(stage: Stage) -> None:
    """Caption every test set with every model, score the captions, and write tables, page and records."""
    sets, models = open_inputs(stage)
    models = add_rows(models, ensemble=stage.params.ensemble, reranked=stage.params.consensus.neighbours > 0)
    captions = write_all(stage, sets, models)
    reranked, weights = rerank_all(stage, sets, models)
    captions |= reranked
    scored, constants = score_all(stage, sets, models, captions)
    results = gather(stage.dataset, sets, models, scored, constants, stage.params, weights)
    for table in results.tables:
        for line in table.left_out:
            log.warning("evaluate_captioners: left out on %s: %s", table.name, line)
    tables.write_records(stage, sets, models, scored)
    html = page.render_page(results, page.read_thumbnails(stage, sets, results), input_warnings(stage.inputs.values()))
    stage.write_file(PAGE, html.encode())
    stage.write_file(SUMMARY, tables.render_summary(results).encode())
    stage.write_file("scores.json", tables.scores_json(results).encode())
    stage.write_file("cross.csv", tables.cross_csv(results).encode())
    stage.export("table.csv", tables.own_set_csv(results).encode())
    for _, row in tables.own_set_rows(results):
        stage.main_figures.add(row.training, row.network, MAIN, value=row.values[MAIN].mean)
    for name, value in tables.tracking_metrics(results):
        stage.metric(name, value)
    for model, scores in tables.tracking_scores(results).items():
        stage.score(model, scores)
