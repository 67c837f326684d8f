"""Evaluate every captioner on every test set.

Input: PREPARED test sets, each named by its dataset, and a ``train_captioner`` output for each cell of the matrix. Each model
captions every picture of each test split by beam search. The best constant caption of the set's training split is the baseline.
Output: COMPARED records, ``scores.json``, ``cross.csv``, ``compare.html``, ``compare.md``, ``summary.txt``.
An item is a picture. Its references are the distinct captions of its near-duplicate group in the test split.
Sources: CC §5.2 to §5.4, tables 5 to 7, figures 3 and 5; PCV §5.4. Not in scope: human raters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.core.errors import HearsightError
from components.core.params import Settings

if TYPE_CHECKING:
    from components.execution.stage import Stage

PAGE, MARKDOWN, SUMMARY = "compare.html", "compare.md", "summary.txt"


class Params(Settings):
    """How captions are written, scored and shown."""

    beam: int = 4
    """Hypotheses kept by the beam search. CC §5.2: 4."""
    length_power: float = 0.0
    """Captions are compared by score / length^this; 0 takes the most likely one. Ours."""
    constants: int = 1000
    """Training captions tried as the constant caption, the most frequent first. Ours."""
    seed: int = 1
    """Seed of the bootstrap and of the pictures on the page. Ours."""
    resamples: int = 1000
    """Bootstrap samples behind an interval. Ours."""
    examples: int = 24
    """Pictures of each test set on the page: drawn, not chosen. Ours."""
    meteor: str = ""
    """``meteor-1.5.jar``, or ``packaged`` for an installed pycocoevalcap's; empty leaves METEOR out. It needs Java, and seconds a
    model and test set. CC table 5 has it."""
    spice: str = ""
    """The folder of ``spice-1.0.jar`` and CoreNLP (docs/metrics.md); empty leaves SPICE out. CC tables 6 and 7 have it."""


def run(stage: Stage) -> None:
    """Caption every test set with every model, score the captions, and write tables, page and records."""
    # The command line imports every stage: only a run loads numpy and the metrics.
    from components.core.check_warnings import input_warnings
    from components.stages.evaluate_captioners import page, tables
    from components.stages.evaluate_captioners.gathering import gather
    from components.stages.evaluate_captioners.inputs import open_inputs
    from components.stages.evaluate_captioners.jobs import score_all, write_all
    from components.stages.evaluate_captioners.training_captions import read_training_texts

    check(stage)
    sets, models = open_inputs(stage)
    captions = write_all(stage, sets, models)
    scored, constants = score_all(stage, sets, models, captions)
    results = gather(stage.dataset, sets, models, scored, constants, read_training_texts(stage, sets, models), stage.params)
    tables.write_records(stage, sets, models, scored)
    html = page.render_page(results, page.read_thumbnails(stage, sets, results), input_warnings(stage.inputs.values()))
    stage.write_file(PAGE, html.encode())
    stage.write_file(MARKDOWN, tables.render_markdown(results).encode())
    stage.write_file(SUMMARY, tables.render_summary(results).encode())
    stage.write_file("scores.json", tables.scores_json(results).encode())
    stage.write_file("cross.csv", tables.cross_csv(results).encode())
    stage.export("scores.json", tables.scores_json(results).encode())
    stage.export("table.csv", tables.own_set_csv(results).encode())
    for name, value in tables.tracking_metrics(results):
        stage.metric(name, value)
    for row in tables.tracking_rows(results):
        stage.row(*row)


def check(stage: Stage) -> None:
    """Raise HearsightError for the first setting that is out of range."""
    params, where = stage.params, f"params.yaml: {stage.dataset}.evaluate_captioners"
    for name, minimum in (("beam", 1), ("length_power", 0), ("constants", 1), ("resamples", 1), ("examples", 0)):
        if getattr(params, name) < minimum:
            raise HearsightError(f"{getattr(params, name)} is too small", where=f"{where}.{name}", hint=f"give {minimum} or more")
