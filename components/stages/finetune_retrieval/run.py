"""Run finetune_retrieval: fine-tune a dual encoder for each row and seed."""

from __future__ import annotations

from components.core.errors import HearsightError
from components.execution.stage import Job, Stage
from components.retrieval.embedding import networks_of
from components.retrieval.hearing import hear_states
from components.retrieval.jobs import START, TRAINED_ON, input_digests, train_dual_encoder
from components.retrieval.settings import LOSSES, STARTS
from components.stages.finetune_retrieval import Params
from components.training.publishing import publish


def run(stage: Stage) -> None:
    """Train a model for each row and seed, and publish the models."""
    params: Params = stage.params
    where = stage.place()
    digests = {
        model["key"]: model["weights_sha256"] for model in stage.inputs[START].table(["key", "weights_sha256"]).to_pylist()
    }
    jobs = []
    for row, tower, kind, percent in params.split_rows():
        for seed in params.seeds:
            model = "-".join(filter(None, (tower, params.pretrained, str(seed))))
            if model not in digests:
                what = f"there is no pretrained model {model}"
                raise HearsightError(
                    what, where=where, hint=f"set pretrained and seeds to models of {', '.join(sorted(digests))}"
                )
            start = {"model": model, "weights_sha256": digests[model], "towers": sorted(STARTS[kind])}
            spec = {
                "row": row, "seed": seed, "loss": LOSSES[params.loss], "settings": params.model.plain(), "percent": percent,
                "towers": None, "start": start, "sets": input_digests(stage.inputs),
            } | params.job_spec()  # fmt: skip
            jobs.append(Job(f"{row}-{seed}", spec, content_addressed=True))
    networks = networks_of(stage.inputs[START], {job.spec["start"]["model"] for job in jobs})
    hear_states(stage, networks.values(), TRAINED_ON, params.voices)
    resources = params.hardware.resources(stage.engine)
    folders = stage.jobs(train_dual_encoder, jobs, step="models", params=params.hardware, version=4, resources=resources)
    publish(stage, jobs, folders)
