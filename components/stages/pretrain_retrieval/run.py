"""Run pretrain_retrieval: train a dual encoder for each row and seed."""

from __future__ import annotations

from components.execution.stage import Job, Stage
from components.retrieval.hearing import hear_states
from components.retrieval.jobs import TRAINED_ON, WHOLE, input_digests, plain_towers, starting_weights, train_dual_encoder
from components.retrieval.settings import LOSSES
from components.stages.pretrain_retrieval import Params
from components.training.publishing import publish


def run(stage: Stage) -> None:
    """Train a model for each row and seed, and publish the models."""
    params: Params = stage.params
    weights, jobs, rows = starting_weights(params.towers, stage.project), [], params.split_rows()
    networks = {row: plain_towers(params.towers, tower, stage.project) for row, tower, _, _ in rows}
    hear_states(stage, networks.values(), TRAINED_ON, params.voices)
    for row, _, kind, batch in rows:
        towers = networks[row] | {"weights_sha256": weights}
        settings = params.model.plain()
        optimisation = settings["optimisation"]
        # All rows train for the same number of steps, as in the paper (3 M at any batch size).
        optimisation["epochs"] = max(1, round(optimisation["epochs"] * batch / optimisation["batch"]))
        optimisation["batch"] = batch
        spec = {"row": row, "loss": LOSSES[kind], "settings": settings, "towers": towers, "percent": WHOLE, "start": None}
        spec |= params.job_spec() | {"sets": input_digests(stage.inputs)}
        jobs += [Job(f"{row}-{seed}", spec | {"seed": seed}, content_addressed=True) for seed in params.seeds]
    resources = params.hardware.resources(stage.engine)
    folders = stage.jobs(train_dual_encoder, jobs, step="models", params=params.hardware, version=4, resources=resources)
    publish(stage, jobs, folders)
