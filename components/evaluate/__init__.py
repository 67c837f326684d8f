"""Evaluate: every trained model on the test split (missions C11 and S8, at sample size).

In: ``input`` the MODEL records and weights, ``captions`` the SPLIT records, ``speech`` the UTTERANCE records, ``media``
the pictures. Out: SCORED records, one an item and model, and ``scores.json`` (DVC metrics). Captions are written by
beam search and scored by CIDEr, ROUGE-L and BLEU beside the best constant caption of the training split; retrieval
by R@1/5/10 both ways with a bootstrap interval beside chance. Not in scope: METEOR, SPICE, human raters.

References of a picture are all test captions of its near-duplicate group; a query is answered by any item of its
group.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.core.params import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from components.core.stage import Stage


class Params(Settings):
    """How models are scored."""

    beam: int
    """Hypotheses kept by the beam search."""
    length_power: float
    """Captions are compared by score / length^this; 0 takes the most likely one."""
    constants: int
    """Training captions tried as the constant caption, the most frequent first."""
    resamples: int
    """Bootstrap resamples."""
    seed: int
    """Seed of the bootstrap."""


def run(stage: Stage) -> None:
    """Score each model in a job of its own, then sum up."""
    from components.core.stage import Job
    from components.evaluate.captions import score_captioner
    from components.evaluate.retrieval import score_dual_encoder
    from components.evaluate.summary import publish

    params: Params = stage.params
    models = sorted(stage.inputs["input"].table().to_pylist(), key=lambda row: row["key"])
    folders: dict[str, Path] = {}
    for kind, function, settings in (
        ("captioner", score_captioner, {"beam": params.beam, "length_power": params.length_power}),
        ("dual_encoder", score_dual_encoder, {}),
    ):
        jobs = [Job(row["key"], {"key": row["key"], "seed": row["seed"]}) for row in models if row["kind"] == kind]
        folders.update(zip((job.name for job in jobs), stage.jobs(function, jobs, step=kind, params=settings), strict=True))
    publish(stage, models, folders)
