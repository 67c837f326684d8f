"""Run evaluate_ratings: count the votes, and write tables, page and rated items."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from components.core.check_warnings import input_warnings
from components.core.ledger import DROPPED, KEPT
from components.core.records import LEDGER, RATED_ITEM
from components.execution.stage import Stage
from components.ratings.tables import paper
from components.ratings.tables.shares import is_complete, raters_of
from components.ratings.tables.uses import DATASET, MODEL, TRUTH, Uses, Votes
from components.reporting.pages import render
from components.stages.evaluate_ratings import PAGE, Params, files
from components.stages.evaluate_ratings.files import NOT_DEFINED, paper_figure
from components.stages.evaluate_ratings.results import RatingResults, gather

SHARD = 250_000
"""Items of a shard."""
TOO_FEW = "too_few_ratings"


def write(stage: Stage, votes: Votes, uses: Uses, params: Params) -> None:
    """Write the records in shards; an item with too few ratings is a ledger row.

    A dataset's own caption is counted by as many raters as its table, so that a threshold has one meaning for all records.
    """
    items = stage.inputs["items"].table(["key", "crop", "uses"])
    own = uses.of_table(DATASET)
    whole = own.of_crop("whole")
    asked = votes.asked.copy()
    asked[own.items] = np.minimum(asked[own.items], raters_of(votes, own, params.counting))
    answered, good = votes.count(np.arange(items.num_rows), asked)
    complete = is_complete(answered, asked, params.counting)
    table = pa.table(
        [items["key"], _records(items.num_rows, whole), pa.array(asked), pa.array(answered), pa.array(good), items["uses"]],
        names=RATED_ITEM.names,
    )
    ledger = _ledger(items["key"], answered, asked, complete, params)
    for number, start in enumerate(range(0, max(items.num_rows, 1), SHARD)):
        part = table.slice(start, SHARD).filter(pa.array(complete[start : start + SHARD]))
        stage.write_shard(f"{number:05d}", part, ledger.slice(start, SHARD).combine_chunks())


def _records(items: int, own: Uses) -> pa.ListArray:
    """Return of each item the keys of the records whose caption it is."""
    order = np.argsort(own.items, kind="stable")
    offsets = np.concatenate([[0], np.cumsum(np.bincount(own.items, minlength=items))]).astype(np.int32)
    keys = own.columns["query"].combine_chunks().take(pa.array(order))
    return pa.ListArray.from_arrays(pa.array(offsets), keys)


def _ledger(
    keys: pa.ChunkedArray, answered: NDArray[np.int64], asked: NDArray[np.int64], complete: NDArray[np.bool_], params: Params
) -> pa.Table:
    needed = np.minimum(params.min_ratings, asked) if params.min_ratings else asked
    kept, empty = pa.array(complete), pa.scalar("")
    value, threshold = (pa.array(numbers).cast(pa.string()) for numbers in (answered, needed))
    columns = {
        "kind": pa.repeat("record", len(keys)),
        "key": keys,
        "verdict": pc.if_else(kept, KEPT, DROPPED),
        "rule": pc.if_else(kept, empty, TOO_FEW),
        "value": pc.if_else(kept, empty, value),
        "threshold": pc.if_else(kept, empty, threshold),
        "detail": pa.repeat("", len(keys)),
    }
    return pa.table([columns[name] for name in LEDGER.names], schema=LEDGER)


TITLES = {
    DATASET: ("captions", "Captions of the dataset", "CC table 2"),
    MODEL: ("models", "Captions of models", "CC table 4"),
    TRUTH: ("truth", "Known pairs, whole and cropped", "CSC table 3"),
}
"""Table of shares → its place on the page, its title, and the paper's table."""
DIRECTIONS = {"speech_to_image": "speech to image", "image_to_speech": "image to speech"}


def render_page(results: RatingResults, warnings: Sequence[str] = ()) -> str:
    """Return the page."""
    return render(
        Path(__file__).parent / "data",
        "ratings.html",
        warnings=warnings,
        results=results,
        tables=[(table, *title, results.rows_of(table)) for table, title in TITLES.items() if results.rows_of(table)],
        directions=DIRECTIONS,
        paper_shares=paper.shares,
        paper_figure=paper_figure,
        coco={network: shares for (training, network), shares in paper.CC_TABLE_4.items() if training == "coco"},
        not_defined=NOT_DEFINED,
    )


log = logging.getLogger(__name__)


def run(stage: Stage) -> None:
    """Write the records of the items that count, the tables in all forms, and the page."""
    params: Params = stage.params
    results = gather(stage.dataset, stage.inputs, params)
    _warn(results)
    write(stage, results.votes, results.uses, params)
    stage.write_file("scores.json", files.scores_json(results).encode())
    stage.write_file("table.csv", files.table_csv(results).encode())
    stage.write_file("summary.txt", files.render_summary(results).encode())
    stage.write_file(PAGE, render_page(results, input_warnings(stage.inputs.values())).encode())
    stage.export("ratings.csv", files.plot_csv(results).encode())
    for name, value in files.majorities(results):
        stage.main_figures.add(*name.split("/"), "good_by_majority", value=value)
    for name, value in files.tracking_metrics(results):
        stage.metric(name, value)
    for source, figures in files.tracking_scores(results):
        stage.score(source, figures)


def _warn(results: RatingResults) -> None:
    incomplete = sum(row.incomplete for row in results.shares) + sum(row.incomplete for row in results.recalls)
    if incomplete:
        log.warning(
            "evaluate_ratings: %s: %s places of tables have fewer ratings than asked for and do not count",
            results.dataset,
            f"{incomplete:,}",
        )
