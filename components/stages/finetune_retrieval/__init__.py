"""Tune: dual encoders fitted to human speech, from a pretrained model's towers or from scratch (CSC, section 4.3).

In: ``input`` UTTERANCE records of people's recordings, ``pictures`` the PREPARED records of their pictures, ``start`` the
pretrained models. Out: MODEL records and ``models/<start>-<percent>-<seed>/{weights.safetensors, config.json, history.csv}``; the
curves are exported. A row of table 2 says which towers are taken over (none, audio, image, both) from the pretrained model of the
same seed, and a point of figure 3 on how many percent of the training pairs; ``rows`` says which are trained. Not in scope:
pretraining (``train``), how good the models are (``evaluate``).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

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
    """Train every row and seed, list the models."""
    from components.core.errors import HearsightError
    from components.execution.stage import Job
    from components.retrieval.jobs import WHOLE, train_dual_encoder
    from components.retrieval.provenance import START, input_digests, training_code_digest
    from components.training.publishing import publish

    params: Params = stage.params
    where = f"params.yaml: {stage.dataset}.tune"
    if params.loss not in LOSSES:
        raise HearsightError(f"'{params.loss}' is no loss", where=f"{where}.loss", hint=f"write {' or '.join(LOSSES)}")
    check(params.model, f"{where}.model")
    there = {model["key"]: model["weights_sha256"] for model in stage.inputs[START].table(["key", "weights_sha256"]).to_pylist()}
    jobs = []
    for row in params.rows:
        kind, percent = read_row(row, list(STARTS), "a percentage", f"{where}.rows", most=WHOLE)
        for seed in params.seeds:
            model = f"{params.pretrained}-{seed}"
            if model not in there:
                what = f"there is no pretrained model {model}"
                raise HearsightError(what, where=where, hint=f"take pretrained and seeds from {', '.join(sorted(there))}")
            start = {"model": model, "weights_sha256": there[model], "towers": sorted(STARTS[kind])}
            spec = {
                "row": row, "seed": seed, "loss": LOSSES[params.loss], "settings": params.model.plain(), "percent": percent,
                "towers": None, "start": start, "sets": input_digests(stage.inputs),
            }  # fmt: skip
            jobs.append(Job(f"{row}-{seed}", spec, content_addressed=True))
    shared = {"code": training_code_digest(stage.root)}
    folders = stage.jobs(train_dual_encoder, jobs, step="models", params=params.hardware, shared=shared)
    publish(stage, jobs, folders, rows=True)
