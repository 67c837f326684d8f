"""A small spoken set with an untrained model: coloured images, and clips with varying level."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from PIL import Image

from components.core.addresses import PREPARED_FILE
from components.core.digests import digest_value, sha256_bytes, sha256_file
from components.core.ledger import kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.core.stage_output import StageOutput
from components.execution.runner import clear, write_lineage
from components.models.dual_encoder import DualEncoder, DualEncoderConfig
from components.models.dual_encoder_files import save_dual_encoder
from components.speech.audio.files import to_flac
from components.stages import build_search_index
from components.stages.build_search_index.run import run as run_build_search_index
from tests.support import make_stage, row

SIDE = 16
CONFIG = DualEncoderConfig(speech="convolutions", image="convolutions", embedding=8, channels=8, layers=2, side=SIDE, scale=8.0)
PARAMS: dict[str, Any] = {
    "model": "best", "splits": ["train", "test"], "crop": "centre",
    "page": {"split": "test", "seed": 1, "queries": 2, "neighbours": 3},
}  # fmt: skip
SPLITS = ("train", "test", "validation", "test")


def clip(place: int, seconds: float = 0.6) -> Any:
    """A tone whose level rises and falls as syllables do: float32 at 16 kHz."""
    time = np.arange(int(16_000 * seconds)) / 16_000
    syllables = np.sin(2 * np.pi * 2.5 * time) ** 2
    return (0.5 * syllables * np.sin(2 * np.pi * (200 + 90 * place) * time)).astype(np.float32)


def drawn_image(place: int, size: tuple[int, int] = (60, 40)) -> bytes:
    """A PNG of two colours."""
    pixels = np.zeros((size[1], size[0], 3), dtype=np.uint8)
    pixels[...] = (37 * place % 256, 91 * place % 256, 53 * place % 256)
    pixels[:, : size[0] // 2] = 255 - pixels[:, : size[0] // 2]
    target = io.BytesIO()
    Image.fromarray(pixels).save(target, "PNG")
    return target.getvalue()


def output(
    root: Path,
    stage: str,
    rows: list[dict[str, Any]],
    media: dict[str, bytes],
    files: dict[str, Any],
    dropped: Any = (),
) -> StageOutput:
    """A finished output of one shard, with a lineage; ``dropped`` are rows of its ledger."""
    job = make_stage(root, stage, "stamps")
    table = pa.Table.from_pylist(rows, schema=OUTPUT_SCHEMAS[stage][1])
    job.write_shard("00000", table, ledger_table([*(kept(r["key"]) for r in rows), *dropped]), media or None)
    for name, data in files.items():
        job.write_file(name, data)
    job.finish()
    write_lineage(job, {}, digest_value({}))
    return StageOutput(job.out)


def spoken_set(root: Path, images: int = 8, thumbnails: bool = True) -> dict[str, StageOutput]:
    """Each image spoken of in French and in Spanish; the last two are two images with one caption and one recording."""
    rows, prepared, clips, files = [], [], {}, {}
    for place in range(images):
        data = drawn_image(place)
        sha, split = sha256_bytes(data), SPLITS[place % 4]
        files |= {f"{sha}.png": data} | ({f"{sha}.thumbnail.jpg": _jpeg(data)} if thumbnails else {})
        for language in ("es", "fr"):
            key = f"{place:02d}{language}"
            same = place == images - 1 and language == "fr"
            caption = f"<{language}> & caption {place - 4 if same else place}"
            sound = to_flac(clip(2 * (place - 4 if same else place) + (language == "fr")))
            clips[f"{key}.0.flac"] = sound
            result = {"split": split, "group": f"g{place}", "caption": caption, "language": language, "image_sha256": sha}
            thumbnail = f"00000/{sha}.thumbnail.jpg" if thumbnails else ""
            prepared.append(row("extract_features", key=key, media=f"00000/{sha}.png", thumbnail=thumbnail, **result))
            spoken = {
                "record": key,
                "origin": "human",
                "voice": f"human-{language}",
                "seconds": 0.6,
                "media": f"00000/{key}.0.flac",
            }
            rows.append(row("import_recordings", key=f"{key}.0", audio_sha256=sha256_bytes(sound), **spoken, **result))
    encoder = {"wording": "caption", "encoder": {"name": "inception_resnet_v2", "side": SIDE, "trained": True}}
    speech = output(root, "import_recordings", rows, clips, {})
    return {
        "speech": speech,
        "images": output(root, "extract_features", prepared, files, {PREPARED_FILE: json.dumps(encoder).encode()}),
    }


def models(root: Path, validations: dict[str, float] | None = None, **config: Any) -> StageOutput:
    """Trained models, as `tune` gives them out: random weights."""
    rows, files = [], {}
    for seed, (key, validation) in enumerate((validations or {"both-100-0": 0.5, "both-100-1": 0.25}).items()):
        torch.manual_seed(seed)
        folder = root / "made" / key
        folder.mkdir(parents=True)
        about = {
            "network": CONFIG.plain(),
            "frames": 80,
            "matching": ["image", "text", "group"],
            "row": "both-100",
            "seed": seed,
        }
        about["encoder"] = {"name": "inception_resnet_v2", "side": SIDE, "trained": True}
        save_dual_encoder(folder, DualEncoder(CONFIG).state_dict(), about | config)
        files |= {f"models/{key}/{name}": folder / name for name in ("weights.safetensors", "config.json")}
        rows.append(
            row(
                "finetune_retrieval", key=key, kind="dual_encoder", seed=seed, weights=f"models/{key}/weights.safetensors",
                weights_sha256=sha256_file(folder / "weights.safetensors"), parameters=5000, validation=validation,
            )
        )  # fmt: skip
    return output(root, "finetune_retrieval", rows, {}, files)


def run(root: Path, inputs: dict[str, StageOutput], **changed: Any) -> Any:
    """The stage, run; the Stage, whose output is finished."""
    stage = make_stage(root, "build_search_index", "stamps", build_search_index.Params.model_validate(PARAMS | changed), inputs)
    clear(stage.out)
    run_build_search_index(stage)
    stage.manifest = stage.finish()
    write_lineage(stage, stage.params.plain(), digest_value(stage.params.plain()))
    return stage


def _jpeg(data: bytes) -> bytes:
    target = io.BytesIO()
    Image.open(io.BytesIO(data)).save(target, "JPEG")
    return target.getvalue()
