"""A small project: captioners that know six colours, and a search index of French and Spanish captions."""

from __future__ import annotations

import io
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
import yaml
from PIL import Image

from components.core.digests import digest_value, sha256_bytes, sha256_file
from components.core.ledger import kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.core.stage_output import StageOutput
from components.execution.runner import write_lineage
from components.models.captioners import build
from components.models.captioners.interface import CaptionerConfig
from components.models.trained_captioner import ImageCaptioner, save_trained
from components.models.vocabulary import END, PAD, SPECIAL, START
from components.stages import extract_features
from components.stages.evaluate_captioners.writing import read_features
from components.stages.extract_features.run import run as run_extract_features
from tests.support import PROJECT, make_output, make_stage, row
from tests.support.search_index.world import models, run, spoken_set

COLOURS = {
    "red": (220, 20, 20), "green": (20, 190, 40), "blue": (20, 40, 220), "white": (250, 250, 250), "black": (5, 5, 5),
    "yellow": (240, 220, 20),
}  # fmt: skip
SIDE = 96
CELLS = {"rnn1x1": 16, "t2t8x8": 24}
"""Network → width; the first is the smaller one."""


def drawn_image(colour: str, shade: int = 0, size: tuple[int, int] = (64, 48)) -> bytes:
    """A PNG of one colour, and a shade of it."""
    pixels = np.clip(np.array(COLOURS[colour], dtype=int) + shade, 0, 255).astype(np.uint8)
    target = io.BytesIO()
    Image.fromarray(np.tile(pixels, (size[1], size[0], 1))).save(target, "PNG")
    return target.getvalue()


ENCODER = {"name": "efficientnet_lite0", "weights": "", "side": SIDE, "frozen": True}


def features(root: Path, encoder: dict[str, Any] = ENCODER) -> StageOutput:
    """The prepared set: three shades of each colour for training, one for the test."""
    images, rows = {}, []
    for place, colour in enumerate(COLOURS):
        for number, split in enumerate(("train", "train", "train", "test")):
            data, key = drawn_image(colour, 4 * number - 8), f"k{place}{number}"
            sha = sha256_bytes(data)
            images[f"{sha}.png"] = data
            about = {"image_sha256": sha, "media": f"00000/{sha}.png", "format": "PNG", "language": "en", "labels": []}
            caption = f"a {colour} square"
            rows.append(row("split", key=key, caption=caption, text=caption, group=key, split=split, **about))
    crawled = [row("crawl", **{name: each[name] for name in ("key", "image_sha256", "media")}) for each in rows]
    inputs = {
        "media": make_output(root, "crawl", [crawled], media=[images]),
        "input": make_output(root, "split", [rows]),
    }
    params = extract_features.Params.model_validate({"encoder": encoder, "thumbnail": 0})
    stage = make_stage(root, "extract_features", params=params, inputs=inputs)
    run_extract_features(stage)
    stage.finish()
    write_lineage(stage, {}, digest_value({}))
    return StageOutput(stage.out)


def train(root: Path, network: str, prepared: StageOutput) -> StageOutput:
    """The output of a cell: a captioner that has learned the training images by heart."""
    rows = [each for each in prepared.table().to_pylist() if each["split"] == "train"]
    vocabulary = [*SPECIAL, *sorted({word for each in rows for word in each["words"]})]
    width = CELLS[network]
    arrays = np.stack([read_features(prepared, each["media"]) for each in rows])
    config = CaptionerConfig(
        network, len(vocabulary), image_features=arrays.shape[2], width=width, heads=2 if network == "t2t8x8" else 1, layers=1,
        feedforward=32, pre_norm=True, dropout=0.0, longest=6,
    )  # fmt: skip
    torch.manual_seed(0)
    model = ImageCaptioner(build(config))
    inputs = torch.from_numpy(arrays[:, 1:] if config.grid else arrays[:, :1]).float()
    words = torch.tensor([[START, *(vocabulary.index(word) for word in each["words"]), END, PAD] for each in rows])
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    for _ in range(80):
        optimiser.zero_grad()
        model.network.loss(inputs, words).backward()
        optimiser.step()
    key = f"{network}-0"
    folder = root / "made" / key
    folder.mkdir(parents=True)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    about: dict[str, Any] = {"seed": 0, "parameters": parameters, "set": {"output": prepared.name, "digest": prepared.digest}}
    encoder = json.loads(prepared.file("prepared.json").read_text())["encoder"]
    save_trained(folder, model.state_dict(), vocabulary, about | {"network": config.plain(), "encoder": encoder})
    job = make_stage(root, "train_captioner", f"captioners/cells/english-{network}", inputs={"input": prepared})
    weights = sha256_file(folder / "weights.safetensors")
    made = row(
        "train_captioner", key=key, kind="captioner", seed=0, weights=f"models/{key}/weights.safetensors", weights_sha256=weights,
        parameters=parameters, validation=0.5,
    )  # fmt: skip
    for name in ("weights.safetensors", "config.json"):
        job.write_file(f"models/{key}/{name}", folder / name)
    table = pa.Table.from_pylist([made], schema=OUTPUT_SCHEMAS["train_captioner"][1])
    job.write_shard("00000", table, ledger_table([kept(key, kind="model")]))
    job.finish()
    write_lineage(job, {}, digest_value({}))
    return StageOutput(job.out)


def make_project(root: Path) -> Path:
    """Write the whole project; return its root."""
    make_captioners(root, list(CELLS))
    run(root, spoken_set(root) | {"input": models(root)})
    return root


def make_captioners(root: Path, networks: list[str], encoder: dict[str, Any] = ENCODER) -> None:
    """Write a project with these captioners over features of an encoder."""
    shutil.copy(PROJECT / "dvc.yaml", root / "dvc.yaml")
    chain = {
        "extract_features": {"english": {"input": "english/split", "media": "english/crawl"}},
        "build_search_index": {"stamps": {"input": "stamps/finetune_retrieval"}},
    }
    captioners = {"sets": ["english"], "tests": [], "networks": networks}
    (root / "params.yaml").write_text(yaml.safe_dump({"chain": chain, "captioners": captioners}))
    prepared = features(root, encoder)
    for network in networks:
        train(root, network, prepared)
