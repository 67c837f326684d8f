"""Eight prepared images with two utterances each, and tiny models trained on them."""

from __future__ import annotations

import io
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import components.retrieval.recipe
import components.training.fit  # noqa: F401  the workers are forks: what is imported here none of them imports again
from components.core.digests import sha256_bytes
from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from components.stages import evaluate_retrieval, extract_features, finetune_retrieval, pretrain_retrieval, synthesize
from components.stages.evaluate_retrieval.run import run as run_evaluate_retrieval
from components.training.settings import REFERENCE
from tests.stages.evaluate_retrieval.params import EVALUATE
from tests.support import make_output, make_stage, row

SIDES = ("train", "train", "train", "train", "validation", "test", "test", "test")
COLOURS = ("red", "green", "blue", "black", "white", "yellow", "orange", "grey")
HARDWARE = REFERENCE.model_dump(mode="json")
MODEL: dict[str, Any] = {
    "optimisation": {
        "epochs": 2, "batch": 4, "optimiser": "adam", "learning_rate": 0.01, "warm_up_steps": 1, "decay_per_1000": 0.9,
        "weight_decay": 0.0, "clip_gradient": 1.0,
    },
    "clips": {"frames": 120, "mask_coefficients": 20, "mask_frames": 40, "held": 10},
    "loss": {
        "margin": 0.001, "margin_factor": 1.002, "margin_every": 1000, "triplet_margin": 1.0,
        "scope": "global", "matching": ["image", "text", "group"],
    },
}  # fmt: skip
TOWERS: dict[str, Any] = {
    "speech": "convolutions", "image": "features", "weights": "", "side": 0, "embedding": 8, "scale": 8.0, "pool_padding": True,
    "norm_momentum": 0.1, "dropout": 0.1, "layers": 1, "channels": 16,
}  # fmt: skip


def images_and_captions(root: Path) -> dict[str, StageOutput]:
    """``crawl`` and ``split``: a caption an image, and a second one of the last image."""
    media: dict[str, bytes] = {}
    rows = []
    for place, (side, colour) in enumerate(zip(SIDES, COLOURS, strict=True)):
        buffer = io.BytesIO()
        Image.fromarray(np.full((40, 40 + 5 * place, 3), 30 * place, dtype=np.uint8)).save(buffer, "PNG")
        sha = sha256_bytes(buffer.getvalue())
        media[f"{sha}.png"] = buffer.getvalue()
        result = {"image_sha256": sha, "media": f"00000/{sha}.png", "language": "en", "group": f"k{place}", "split": side}
        rows.append(result | {"key": f"k{place}", "caption": f"a {colour} square"})
    rows.append(rows[-1] | {"key": "k8", "caption": "a dull thing", "group": "k8"})
    crawled = [row("crawl", **{name: r[name] for name in ("key", "image_sha256", "media")}, format="PNG") for r in rows]
    return {
        "media": make_output(root, "crawl", [crawled], media=[media]),
        "captions": make_output(root, "split", [[row("split", **r, format="PNG") for r in rows]]),
    }


def spoken_set(root: Path) -> dict[str, StageOutput]:
    """``speech`` and ``images``, by the stages that make them."""
    inputs = images_and_captions(root)
    speaking: dict[str, Any] = {
        "voices": ["nanotts-en-us"],
        "rate_sd": 0.1,
        "pitch_sd": 1.0,
        "gain_sd": 2.0,
        "google_shapes": False,
    }
    params = synthesize.Params(seed=1, utterances=2, max_characters=600, **speaking)
    speech = finished(synthesize, make_stage(root, "synthesize", params=params, inputs={"input": inputs["captions"]}))
    encoder = {"name": "efficientnet_lite0", "weights": "", "side": 96, "frozen": True}
    chosen = {"wording": "caption", "encoder": encoder, "views": 1, "crops": "crop_or_pad", "least_area": 0.67, "centre": True}
    preparing = extract_features.Params.model_validate(chosen | {"grid": False, "thumbnail": 0, "thumbnails": "all"})
    inputs = {"input": inputs["captions"], "media": inputs["media"]}
    return {
        "speech": speech,
        "images": finished(extract_features, make_stage(root, "extract_features", params=preparing, inputs=inputs)),
    }


def pretrained(root: Path, spoken: dict[str, StageOutput], rows: list[str], seeds: list[int]) -> StageOutput:
    """``train``."""
    params = pretrain_retrieval.Params.model_validate(
        {"rows": rows, "seeds": seeds, "towers": TOWERS, "model": MODEL, "hardware": HARDWARE}
    )
    inputs = {"input": spoken["speech"], "images": spoken["images"]}
    return finished(pretrain_retrieval, make_stage(root, "pretrain_retrieval", "spoken", params, inputs))


def tuned(root: Path, spoken: dict[str, StageOutput], start: StageOutput, rows: list[str], seeds: list[int]) -> StageOutput:
    """``tune``."""
    chosen = {"rows": rows, "seeds": seeds, "pretrained": "mms-4", "loss": "mms", "model": MODEL, "hardware": HARDWARE}
    inputs = {"input": spoken["speech"], "images": spoken["images"], "start": start}
    return finished(
        finetune_retrieval,
        make_stage(root, "finetune_retrieval", "stamps", finetune_retrieval.Params.model_validate(chosen), inputs),
    )


def evaluation(root: Path, spoken: dict[str, StageOutput], models: StageOutput, **changed: Any) -> Stage:
    """``evaluate``, run and finished, in a root of its own for what it exports."""
    stage = make_stage(
        root,
        "evaluate_retrieval",
        "stamps",
        evaluate_retrieval.Params.model_validate(EVALUATE | changed),
        spoken | {"input": models},
    )
    run_evaluate_retrieval(stage)
    stage.finish()
    return stage


def finished(component: Any, stage: Stage) -> StageOutput:
    """What a stage makes."""
    import_module(f"{component.__name__}.run").run(stage)
    stage.finish()
    return StageOutput(stage.out)
