"""Compare: every captioner on every test set, as cross tables and as a page of what they write.

In: PREPARED test sets (a set is named by its dataset) and a ``caption`` output for each cell of the matrix. Each model writes
a caption for each picture of a test split, by beam search; captions are scored beside the best constant caption of the set's
training split. Out: COMPARED records, ``scores.json``, ``cross.csv``, ``compare.html``, ``compare.md``, ``summary.txt``.
An item is a picture: a captioner says one thing of it, whatever the number of its references, which are the different captions
of its near-duplicate group in the test split.
Sources: CC, sections 5.2 to 5.4, tables 5 to 7, figures 3 and 5; PCV, section 5.4. Not in scope: human raters.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.core.params import Settings

if TYPE_CHECKING:
    from components.execution.stage import Stage

PAGE, MARKDOWN, SUMMARY = "compare.html", "compare.md", "summary.txt"


class Params(Settings):
    """How captions are written, scored and shown."""

    beam: int
    """Hypotheses kept by the beam search."""
    length_power: float
    """Captions are compared by score / length^this; 0 takes the most likely one."""
    constants: int
    """Training captions tried as the constant caption, the most frequent first."""
    seed: int
    """Seed of the bootstrap and of the pictures on the page."""
    resamples: int
    """Bootstrap samples behind an interval."""
    examples: int
    """Pictures of each test set on the page: drawn, not chosen."""
    meteor: str
    """``meteor-1.5.jar``, or ``packaged`` for an installed pycocoevalcap's; empty leaves METEOR out. It needs Java, and seconds a
    model and test set."""
    spice: str
    """The folder of ``spice-1.0.jar`` and CoreNLP (docs/metrics.md); empty leaves SPICE out."""


def run(stage: Stage) -> None:
    """Write captions in a job each, score them in another, sum up."""
    from components.core.check_warnings import input_warnings
    from components.stages.evaluate_captioners import page, tables
    from components.stages.evaluate_captioners.gathering import gather
    from components.stages.evaluate_captioners.inputs import open_inputs
    from components.stages.evaluate_captioners.jobs import score_all, write_all
    from components.stages.evaluate_captioners.training_captions import read_learnt

    check(stage)
    sets, models = open_inputs(stage)
    captions = write_all(stage, sets, models)
    scored, constants = score_all(stage, sets, models, captions)
    results = gather(stage.dataset, sets, models, scored, constants, read_learnt(stage, sets, models), stage.params)
    tables.write_records(stage, sets, models, scored)
    html = page.html(results, page.thumbnails(stage, sets, results), input_warnings(stage.inputs.values()))
    stage.write_file(PAGE, html.encode())
    stage.write_file(MARKDOWN, tables.markdown(results).encode())
    stage.write_file(SUMMARY, tables.summary(results).encode())
    stage.write_file("scores.json", tables.scores_json(results).encode())
    stage.write_file("cross.csv", tables.cross_csv(results).encode())
    stage.export("scores.json", tables.scores_json(results).encode())
    stage.export("table.csv", tables.own_csv(results).encode())
    for name, value in tables.figures(results):
        stage.metric(name, value)
    for line in tables.lines(results):
        stage.row(*line)


def check(stage: Stage) -> None:
    """Hold the settings to what can be done; raises HearsightError for the first that cannot."""
    from components.core.errors import HearsightError

    params, where = stage.params, f"params.yaml: {stage.dataset}.compare"
    for name, least in (("beam", 1), ("length_power", 0), ("constants", 1), ("resamples", 1), ("examples", 0)):
        if getattr(params, name) < least:
            raise HearsightError(f"{getattr(params, name)} cannot be used", where=f"{where}.{name}", hint=f"give {least} or more")
