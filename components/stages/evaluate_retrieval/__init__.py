"""Evaluate: how dual encoders find pictures by speech and speech by pictures: tables 1 and 2 of CSC and figure 3.

In: ``input`` the MODEL records and weights of ``train`` or ``tune``, ``speech`` UTTERANCE records, ``pictures`` the PREPARED
records of their pictures. Out: SCORED records, one a query, model and crop; ``scores.json``; ``table.csv``; ``claims.json``, what
holds of the paper's claims; ``retrieval.html``. A row is all seeds of a loss and batch, or of a warm start and share of the data.
Not in scope: what people say of the results (section 4.4), captioners (``compare``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from components.core.params import Settings
from components.retrieval.settings import Matching

if TYPE_CHECKING:
    from components.execution.stage import Stage

PAGE = "retrieval.html"


class Params(Settings):
    """On what models are tried, and what is counted."""

    split: Literal["train", "validation", "test"]
    """The side that is asked; table 1 of the paper is of its validation side, table 2 of its test side."""
    crops: list[Literal["centre", "whole"]]
    """What of the pictures is seen; the first is the one that tables tell. The paper: the centre (section 4.4)."""
    depths: list[int]
    """k of R@k; the paper: 1, 5, 10, 50, 100."""
    matching: list[Matching]
    """What makes an item right for a query; the paper: the known pair, so [picture]."""
    resamples: int
    """Bootstrap resamples behind an interval."""
    seed: int
    """Seed of the bootstrap."""


def run(stage: Stage) -> None:
    """Score each model in a job of its own, sum up, judge the claims."""
    import pyarrow.parquet as pq

    from components.core.check_warnings import input_warnings
    from components.core.ledger import kept, ledger_table
    from components.stages.evaluate_retrieval import page, tables
    from components.stages.evaluate_retrieval.facts import gather
    from components.stages.evaluate_retrieval.scoring import SCORES, about_of, score_all

    params: Params = stage.params
    check(params, f"params.yaml: {stage.dataset}.evaluate")
    folders = score_all(stage)
    scored = {key: pq.read_table(folder / SCORES) for key, folder in folders.items()}
    results = gather(stage.dataset, scored, {key: about_of(folder) for key, folder in folders.items()}, params)
    for number, (key, table) in enumerate(sorted(scored.items())):
        note = f"tried on the {params.split} side of {stage.inputs['speech'].name}"
        stage.write_shard(f"{number:05d}", table, ledger_table([kept(key, kind="model", detail=note)]))
    scores = tables.scores_json(results).encode()
    stage.write_file("scores.json", scores)  # for the stages after
    stage.export("scores.json", tables.metrics_json(results).encode())  # for dvc metrics
    stage.write_file("claims.json", tables.claims_json(results).encode())
    stage.write_file("table.csv", tables.table_csv(results).encode())
    stage.write_file("summary.txt", tables.summary(results).encode())
    stage.export("recall.csv", tables.recall_csv(results).encode())
    stage.write_file(PAGE, page.html(results, input_warnings(stage.inputs.values())).encode())
    for name, value in tables.figures(results):
        stage.metric(name, value)
    for line in tables.lines(results):
        stage.row(*line)


def check(params: Params, where: str) -> None:
    """Hold the settings to what can be done; raises HearsightError for the first that cannot."""
    from components.core.errors import HearsightError

    for name in ("crops", "depths", "matching"):
        found = getattr(params, name)
        if not found or len(set(found)) < len(found):
            raise HearsightError(f"{found} names nothing, or something twice", where=f"{where}.{name}", hint="name each once")
    if min(params.depths) < 1:
        raise HearsightError(f"R@{min(params.depths)} is no recall", where=f"{where}.depths", hint="give depths of 1 or more")
    if params.resamples < 1:
        raise HearsightError(f"{params.resamples} cannot be used", where=f"{where}.resamples", hint="give 1 or more")
