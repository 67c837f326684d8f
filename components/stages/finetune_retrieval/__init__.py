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
from components.retrieval.settings import LOSSES, STARTS, DualEncoderSettings, check, read_row
from components.training.settings import Hardware

if TYPE_CHECKING:
    from components.execution.stage import Stage


class Params(Settings):
    """What is fitted to what."""

    rows: list[str]
    """``<start>-<percent>`` each: none-100, audio-100, image-100 and both-100 are table 2; other percents draw figure 3."""
    seeds: list[int]
    """One model of each row is trained for each, from the pretrained model of that seed."""
    pretrained: str
    """Which row of ``train`` to begin from, as mms-48; its networks are used from scratch, too."""
    loss: str
    """mms or triplet."""
    model: DualEncoderSettings
    """How they are trained."""
    hardware: Hardware
    """What it runs on."""


def run(stage: Stage) -> None:
    """Train a model for each row and seed, and publish the models."""
    # The command line imports every stage: only a run loads these modules.
    from components.execution.stage import Job
    from components.retrieval.jobs import WHOLE, train_dual_encoder
    from components.retrieval.provenance import START, code_of, contents_of
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
                "towers": None, "start": start, "sets": contents_of(stage.inputs),
            }  # fmt: skip
            jobs.append(Job(f"{row}-{seed}", spec, content_addressed=True))
    shared = {"code": code_of(stage.root)}
    folders = stage.jobs(train_dual_encoder, jobs, step="models", params=params.hardware, shared=shared)
    publish(stage, jobs, folders, rows=True)
