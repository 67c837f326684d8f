"""Small test sets and trained captioners, written by the stages' own writers."""

from __future__ import annotations

import hashlib
import io
import json
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from safetensors.torch import save

from components.core.ledger import kept, ledger_table
from components.core.stage_output import StageOutput
from components.models import captioners
from components.models.captioners.interface import CaptionerConfig
from components.models.trained_captioner import vocabulary_digest
from components.models.vocabulary import END, SPECIAL
from components.stages import evaluate_captioners
from tests.stages.evaluate_captioners import network
from tests.support import make_stage, row

PARAMS = evaluate_captioners.Params(beam=4, constants=50, seed=1, resamples=100, examples=3, meteor="", spice="")
FEATURES = 8
ENCODER = {"name": "efficientnet_lite0", "side": 256, "weights_sha256": "a" * 64, "trained": False}
COLOURS = ["red", "green", "blue", "black", "white", "yellow", "orange", "grey"]


@contextmanager
def small_networks() -> Iterator[None]:
    """Let ``small1x1`` and ``small8x8`` be networks."""
    names, module = (
        dict.fromkeys(("small1x1", "small8x8"), "components.models.captioners.small:Pointing"),
        "components.models.captioners.small",
    )
    captioners.NETWORKS.update(names)
    sys.modules[module] = network
    try:
        yield
    finally:
        for name in names:
            del captioners.NETWORKS[name]
        del sys.modules[module]


def sha(text: str | bytes) -> str:
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def features_of(place: int, views: int = 1, cells: int = 4, width: int = FEATURES) -> bytes:
    """Features that have a 1 where the image's number is, in every view, in the whole as in each cell."""
    array = np.zeros((views, 1 + cells, width), np.float16)
    array[:, :, place % width] = 1.0
    target = io.BytesIO()
    np.save(target, array)
    return target.getvalue()


def thumbnail(place: int) -> bytes:
    target = io.BytesIO()
    Image.new("RGB", (120, 90), (25 * place, 100, 200 - 20 * place)).save(target, "JPEG")
    return target.getvalue()


def prepared(
    root: Path,
    dataset: str,
    captions: Sequence[Sequence[str]],
    *,
    language: str = "en",
    about: Mapping[str, Any] | None = None,
    test_from: int = 4,
    validation_from: int | None = None,
    images: str = "image",
    media: bytes | None = None,
) -> StageOutput:
    """A prepared set: image n has ``captions[n]``, and is tested on from ``test_from`` on, validated on before."""
    first = test_from if validation_from is None else validation_from
    job = make_stage(root, "extract_features", dataset)
    rows, members = [], {}
    for place, texts in enumerate(captions):
        image = sha(f"{images} {place}")
        members[f"{image}.npy"] = features_of(place, views=2) if media is None else media
        members[f"{image}.thumbnail.jpg"] = thumbnail(place)
        for number, text in enumerate(texts):
            split = "test" if place >= test_from else "validation" if place >= first else "train"
            result = {"split": split, "group": f"g{place}", "language": language}
            result |= {"caption": text, "words": text.lower().split(), "labels": ["square"], "image_sha256": image}
            result |= {"media": f"00000/{image}.npy", "thumbnail": f"00000/{image}.thumbnail.jpg"}
            rows.append(row("extract_features", key=f"k{place}.{number}", **result))
    import pyarrow as pa

    from components.core.records import FEATURES

    table = pa.Table.from_pylist(rows, schema=FEATURES)
    job.write_shard("00000", table, ledger_table(kept(each["key"]) for each in rows), members)
    if about is not None:
        job.write_file("prepared.json", json.dumps(about).encode())
    job.finish()
    return StageOutput(job.out)


def cell(
    root: Path,
    training: str,
    name: str,
    says: Mapping[int, Mapping[int, str]],
    *,
    encoder: Mapping[str, Any] | None = None,
    cut: int | None = None,
    network_name: str = "",
    width: int = FEATURES,
) -> StageOutput:
    """A cell of captioners: seed → image's number → the caption it writes; ``cut``: bytes of the weights that are left."""
    job = make_stage(root, "train_captioner", f"captioners/cells/{training}-{name}")
    rows = []
    for seed, captions in says.items():
        words = sorted({word for caption in captions.values() for word in caption.split()})
        vocabulary = [*SPECIAL, *words]
        longest = 1 + max(len(caption.split()) for caption in captions.values())
        table = torch.zeros(longest, width, len(vocabulary))
        for place, caption in captions.items():
            for at, word in enumerate(caption.split()):
                table[at, place % width, vocabulary.index(word)] = 9.0
            table[len(caption.split()), place % width, END] = 9.0
        config = CaptionerConfig(network_name or name, len(vocabulary), image_features=width, longest=longest)
        result = {"kind": "captioner", "network": config.plain(), "vocabulary": vocabulary, "encoder": dict(encoder or {})}
        result["vocabulary_sha256"] = vocabulary_digest(vocabulary)
        folder = f"models/{name}-{seed}"
        weights = save({"network.table": table})[:cut]
        job.write_file(f"{folder}/weights.safetensors", weights)
        job.write_file(f"{folder}/config.json", json.dumps(result).encode())
        about = {"kind": "captioner", "seed": seed, "weights": f"{folder}/weights.safetensors", "weights_sha256": sha(weights)}
        rows.append(row("train_captioner", key=f"{name}-{seed}", validation=0.5, **about))
    import pyarrow as pa

    from components.core.records import MODEL

    job.write_shard("00000", pa.Table.from_pylist(rows, schema=MODEL), ledger_table(kept(r["key"], kind="model") for r in rows))
    job.finish()
    return StageOutput(job.out)


def squares(article: str = "a", noun: str = "square") -> list[list[str]]:
    """Captions of eight images; the last has two."""
    result = [[f"{article} {colour} {noun}"] for colour in COLOURS]
    result[-1].append(f"one {noun} that is {COLOURS[-1]}")
    return result


def world(root: Path) -> dict[str, StageOutput]:
    """Two wordings of the same images and a Portuguese set, and five cells."""
    right = {n: f"a {colour} square" for n, colour in enumerate(COLOURS)}
    raw = {n: f"photo of {colour} thing by john" for n, colour in enumerate(COLOURS)}
    some = {n: "a white square" if n != 5 else "a a a yellow yellow square" for n in range(8)}
    none = {n: f"{'o' * (1 + n % 2)} quadrado" for n in range(8)}
    sets = {
        "input": prepared(root, "english", squares(), about={"wording": "caption", "encoder": ENCODER}),
        "cleaned": prepared(root, "cleaned", squares("photo of", "thing by john"), about={"wording": "text", "encoder": ENCODER}),
        "portuguese": prepared(root, "portuguese", squares("um", "quadrado"), language="pt", images="imagem"),
    }
    cells = {
        "english-small1x1": cell(root, "english", "small1x1", {0: right, 1: some}, encoder=ENCODER),
        "english-small8x8": cell(root, "english", "small8x8", {0: right, 1: right}, encoder=ENCODER),
        "cleaned-small1x1": cell(root, "cleaned", "small1x1", {0: raw, 1: raw}, encoder=ENCODER),
        "cleaned-small8x8": cell(root, "cleaned", "small8x8", {0: raw, 1: some}, encoder=ENCODER),
        "portuguese-small1x1": cell(root, "portuguese", "small1x1", {0: none, 1: none}),
    }
    return {**sets, **cells}
