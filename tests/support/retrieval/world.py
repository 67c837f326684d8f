"""A small spoken set: coloured images as features or files, and short clips of different pitch."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from PIL import Image

from components.core.addresses import PREPARED_FILE
from components.core.digests import sha256_bytes
from components.core.ledger import kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.core.stage_output import StageOutput
from components.retrieval.pairs import SpokenSet
from components.speech.audio.files import to_flac
from tests.support import make_stage, row

FEATURES, VIEWS = 6, 3
FROZEN = {"name": "efficientnet_lite0", "side": 256, "trained": False, "weights_sha256": "0" * 64}
TRAINED = {"name": "inception_resnet_v2", "side": 75, "trained": True}


def split_of(place: int) -> str:
    """Of every four images, two are trained on, one judges and one tests."""
    return ("train", "train", "validation", "test")[place % 4]


def spoken_set(
    root: Path,
    dataset: str = "stamps",
    *,
    images: int = 16,
    voices: int = 1,
    frozen: bool = True,
    stage: str = "import_recordings",
) -> SpokenSet:
    """``images`` images, each spoken of by ``voices``; in two shards each."""
    rows, prepared, clips, files = [], [], {}, {}
    for place in range(images):
        source = np.random.default_rng([place, len(dataset)])
        data = _image(place)
        sha = sha256_bytes(data)
        result = {"split": split_of(place), "group": f"g{place}", "caption": f"caption {dataset} {place}", "language": "fr"}
        if frozen:
            base = source.normal(size=FEATURES)
            views = base + 0.1 * source.normal(size=(VIEWS if result["split"] == "train" else 1, 1, FEATURES))
            files |= {f"{sha}.npy": _npy(views), f"{sha}.centre.npy": _npy(views[:1] + 0.05)}
        else:
            files[f"{sha}.png"] = data
        media = f"00000/{sha}.{'npy' if frozen else 'png'}"
        centre = f"00000/{sha}.centre.npy" if frozen else ""
        prepared.append(
            row("extract_features", key=f"{dataset}{place:02d}", image_sha256=sha, media=media, centre=centre, **result)
        )
        for voice in range(voices):
            key = f"{dataset}{place:02d}.{voice}"
            samples = _clip(place, voice, source)
            clips[f"{key}.flac"] = clip = to_flac(samples)
            spoken = {"record": f"{dataset}{place:02d}", "image_sha256": sha, "media": f"00000/{key}.flac", "voice": f"v{voice}"}
            spoken |= {"origin": "human", "audio_sha256": sha256_bytes(clip)}
            rows.append(row(stage, key=key, seconds=len(samples) / 16_000, **spoken, **result))
    speech = output(root, stage, dataset, rows, clips)
    made = json.dumps({"wording": "text", "encoder": FROZEN if frozen else TRAINED}).encode()
    return SpokenSet(speech, output(root, "extract_features", dataset, prepared, files, {PREPARED_FILE: made}))


def output(
    root: Path,
    stage: str,
    dataset: str,
    rows: list[dict[str, Any]],
    media: dict[str, bytes],
    files: dict[str, bytes] | None = None,
) -> StageOutput:
    """A finished output whose rows lie in two shards and whose media in the first."""
    job = make_stage(root, stage, dataset)
    half = (len(rows) + 1) // 2
    for number, part in enumerate((rows[:half], rows[half:])):
        table = pa.Table.from_pylist(part, schema=OUTPUT_SCHEMAS[stage][1])
        job.write_shard(f"{number:05d}", table, ledger_table(kept(r["key"]) for r in part), {} if number else media)
    for name, data in (files or {}).items():
        job.write_file(name, data)
    job.finish()
    return StageOutput(job.out)


def _clip(place: int, voice: int, source: np.random.Generator) -> Any:
    """A tone of the image's own pitch in a little noise, .1 to .3 s."""
    seconds = 0.1 + 0.01 * (place % 20)
    time = np.arange(int(16_000 * seconds)) / 16_000
    tone = np.sin(2 * np.pi * (200 + 150 * place + 5 * voice) * time)
    return (0.4 * tone + 0.01 * source.normal(size=len(time))).astype(np.float32)


def _image(place: int) -> bytes:
    pixels = np.zeros((40, 60, 3), dtype=np.uint8)
    pixels[...] = (37 * place % 256, 91 * place % 256, 53 * place % 256)
    pixels[:, :20] = 255 - pixels[:, :20]
    target = io.BytesIO()
    Image.fromarray(pixels).save(target, "PNG")
    return target.getvalue()


def _npy(array: Any) -> bytes:
    target = io.BytesIO()
    np.save(target, np.asarray(array, dtype=np.float16))
    return target.getvalue()
