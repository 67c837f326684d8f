"""Run evaluate_retrieval: score each model on its test sets, and write tables and page."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq

from components.core.addresses import RETRIEVED_FILE
from components.core.check_warnings import input_warnings
from components.core.ledger import kept, ledger_table
from components.core.shards import write_table
from components.execution.stage import Stage
from components.stages.evaluate_retrieval import PAGE, Params, page, tables
from components.stages.evaluate_retrieval.facts import gather
from components.stages.evaluate_retrieval.scoring import SCORES, read_model_info, score_all


def run(stage: Stage) -> None:
    """Score each model in its own job, aggregate, judge the claims, and write records, tables and page."""
    params: Params = stage.params
    folders = score_all(stage)
    scored = {key: pq.read_table(folder / SCORES) for key, folder in folders.items()}
    results = gather(stage.dataset, scored, {key: read_model_info(folder) for key, folder in folders.items()}, params)
    for number, (key, table) in enumerate(sorted(scored.items())):
        note = f"tried on the {params.split} side of {stage.inputs['speech'].name}"
        stage.write_shard(f"{number:05d}", table, ledger_table([kept(key, kind="model", detail=note)]))
    best = stage.work / RETRIEVED_FILE
    write_table(best, pa.concat_tables([pq.read_table(folder / RETRIEVED_FILE) for _, folder in sorted(folders.items())]))
    stage.write_file(RETRIEVED_FILE, best)
    best.unlink()
    stage.write_file("scores.json", tables.scores_json(results).encode())  # read by later stages
    stage.write_file("claims.json", tables.claims_json(results).encode())
    stage.write_file("table.csv", tables.table_csv(results).encode())
    stage.write_file("summary.txt", tables.render_summary(results).encode())
    stage.export("recall.csv", tables.recall_csv(results).encode())
    stage.write_file(PAGE, page.render_page(results, input_warnings(stage.inputs.values())).encode())
    for names, value in tables.main_figures(results):
        stage.main_figures.add(*names, value=value)
    for name, value in tables.tracking_metrics(results):
        stage.metric(name, value)
    for model, recalls in tables.tracking_scores(results).items():
        stage.score(model, recalls)
