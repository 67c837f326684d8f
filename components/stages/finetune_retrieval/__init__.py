"""Fine-tune dual encoders on human speech, from a pretrained model's towers or from scratch (CSC §4.3).

Input: ``input``, UTTERANCE records of human recordings; ``pictures``, the PREPARED records of their pictures; ``start``, the
pretrained models. Output: MODEL records and ``models/<start>-<percent>-<seed>/{weights.safetensors, config.json, history.csv}``;
the curves are exported. A row is the set of towers (none, audio, image, both) that start from the pretrained model of the same
seed (table 2), and a percentage of the training pairs (figure 3); ``rows`` lists the rows to train.
Not in scope: pretraining (``pretrain_retrieval``), scores (``evaluate_retrieval``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.core.errors import HearsightError
from components.core.params import Settings
from components.retrieval.settings import LOSSES, STARTS, FineTuningSettings, check, read_row
from components.training.settings import Hardware

if TYPE_CHECKING:
    from components.execution.stage import Stage


class Params(Settings):
    """What is fitted to what."""

    rows: list[str] = ["none-100", "audio-100", "image-100", "both-100"]
    """``<start>-<percent>`` each: none-100, audio-100, image-100 and both-100 are table 2; other percents draw figure 3. CSC
    table 2: these four."""
    seeds: list[int] = [0]
    """One model of each row is trained for each, from the pretrained model of that seed. CSC names none."""
    pretrained: str = "mms-48"
    """Which row of ``train`` to begin from, as mms-48; its networks are used from scratch, too. CSC §4.3: mms-48."""
    loss: str = "mms"
    """mms or triplet. CSC §4.1: mms."""
    model: FineTuningSettings = FineTuningSettings()
    """How they are trained."""
    hardware: Hardware = Hardware()
    """What it runs on."""


def run(stage: Stage) -> None:
    """Train a model for each row and seed, and publish the models."""
    # The command line imports every stage: only a run loads these modules.
    from components.execution.stage import Job
    from components.retrieval.jobs import WHOLE, train_dual_encoder
    from components.retrieval.provenance import START, input_digests, training_code_digest
    from components.training.publishing import publish

    params: Params = stage.params
    where = f"params.yaml: {stage.dataset}.finetune_retrieval"
    if params.loss not in LOSSES:
        raise HearsightError(f"'{params.loss}' is not a loss", where=f"{where}.loss", hint=f"use {' or '.join(LOSSES)}")
    check(params.model, f"{where}.model")
    digests = {
        model["key"]: model["weights_sha256"] for model in stage.inputs[START].table(["key", "weights_sha256"]).to_pylist()
    }
    jobs = []
    for row in params.rows:
        kind, percent = read_row(row, list(STARTS), "a percentage", f"{where}.rows", most=WHOLE)
        for seed in params.seeds:
            model = f"{params.pretrained}-{seed}"
            if model not in digests:
                what = f"there is no pretrained model {model}"
                raise HearsightError(
                    what, where=where, hint=f"set pretrained and seeds to models of {', '.join(sorted(digests))}"
                )
            start = {"model": model, "weights_sha256": digests[model], "towers": sorted(STARTS[kind])}
            spec = {
                "row": row, "seed": seed, "loss": LOSSES[params.loss], "settings": params.model.plain(), "percent": percent,
                "towers": None, "start": start, "sets": input_digests(stage.inputs),
            }  # fmt: skip
            jobs.append(Job(f"{row}-{seed}", spec, content_addressed=True))
    shared = {"code": training_code_digest(stage.root)}
    folders = stage.jobs(train_dual_encoder, jobs, step="models", params=params.hardware, shared=shared)
    publish(stage, jobs, folders, rows=True)
