"""Train speech–image dual encoders from scratch on all sets of synthetic speech (CSC §4.2).

Input: ``input`` and ``more``, UTTERANCE records with audio; ``pictures`` and ``more_pictures``, the PREPARED records of their
pictures. Output: MODEL records and ``models/<loss>-<batch>-<seed>/{weights.safetensors, config.json, history.csv}``; the curves
are exported. A row of table 1 is a loss and a batch size; ``rows`` lists the rows to train. Each model is a cached job.
Not in scope: fine-tuning on human speech (``finetune_retrieval``), scores (``evaluate_retrieval``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.core.params import Settings
from components.retrieval.settings import LOSSES, DualEncoderSettings, Towers, check, read_row
from components.training.settings import Hardware

if TYPE_CHECKING:
    from components.execution.stage import Stage


class Params(Settings):
    """What is trained."""

    rows: list[str] = ["triplet-48", "mms-12", "mms-24", "mms-48"]
    """``<loss>-<batch>`` each: mms-48, mms-24, mms-12, triplet-48 are those of table 1. CSC table 1: all four."""
    seeds: list[int] = [0]
    """One model of each row is trained for each. CSC names none."""
    towers: Towers = Towers()
    """The networks."""
    model: DualEncoderSettings = DualEncoderSettings()
    """How they are trained. ``epochs`` are those of a row of ``batch``; another row has its own batch, and as many steps."""
    hardware: Hardware = Hardware()
    """What it runs on."""


def run(stage: Stage) -> None:
    """Train a model for each row and seed, and publish the models."""
    # The command line imports every stage: only a run loads these modules.
    from components.execution.stage import Job
    from components.retrieval.jobs import WHOLE, train_dual_encoder
    from components.retrieval.provenance import input_digests, starting_weights, training_code_digest
    from components.training.publishing import publish

    params: Params = stage.params
    towers = params.towers.plain() | {"weights_sha256": starting_weights(params.towers, stage.root)}
    check(params.model, f"params.yaml: {stage.dataset}.pretrain_retrieval.model")
    jobs = []
    for row in params.rows:
        kind, batch = read_row(row, list(LOSSES), "a batch size", f"params.yaml: {stage.dataset}.pretrain_retrieval.rows")
        settings = params.model.plain()
        optimisation = settings["optimisation"]
        # All rows train for the same number of steps, as in the paper (3 M at any batch size).
        optimisation["epochs"] = max(1, round(optimisation["epochs"] * batch / optimisation["batch"]))
        optimisation["batch"] = batch
        spec = {"row": row, "loss": LOSSES[kind], "settings": settings, "towers": towers, "percent": WHOLE, "start": None}
        spec["sets"] = input_digests(stage.inputs)
        jobs += [Job(f"{row}-{seed}", spec | {"seed": seed}, content_addressed=True) for seed in params.seeds]
    shared = {"code": training_code_digest(stage.root)}
    folders = stage.jobs(train_dual_encoder, jobs, step="models", params=params.hardware, shared=shared)
    publish(stage, jobs, folders, rows=True)
