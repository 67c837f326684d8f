"""Small outputs that are right in every way, one a stage, made with the same writers the stages use."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa

from components.core.ledger import dropped, kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.core.seeded_rng import seeded_rng
from components.execution.stage import Stage

Change = Callable[[list[dict[str, Any]], list[dict[str, str]]], object]
"""Edits the records and the ledger rows of the last shard before they are written."""


def sha(text: str | bytes) -> str:
    """sha256 in hexadecimal."""
    return hashlib.sha256(text.encode() if isinstance(text, str) else text).hexdigest()


def make(
    root: Path, stage: str, change: Change | None = None, dataset: str = "english", records: int = 4, shards: int = 2
) -> Path:
    """Write ``data/<dataset>/<stage>`` with ``shards`` of ``records``; ``change`` corrupts the second, honestly listed."""
    job = _job(root, stage, dataset)
    fill(job, change, records, shards)
    job.finish()
    return job.out


def fill(job: Stage, change: Change | None = None, records: int = 4, shards: int = 2) -> None:
    """Write the shards and files of an output, as :func:`make`."""
    stage = job.name
    files: dict[str, bytes] = {}
    for shard in (f"{number:05d}" for number in range(shards)):
        media: dict[str, bytes] = {}
        rows = [row for n in range(records) for row in _records(stage, shard, f"{shard}{n}", media, files)]
        ledger = _ledger(stage, rows, shard)
        if shard == "00001" and change:
            change(rows, ledger)
        schema = OUTPUT_SCHEMAS[stage][1]
        table = pa.Table.from_pylist([{name: row[name] for name in schema.names} for row in rows], schema=schema)
        job.write_shard(shard, table, ledger_table(ledger), media or None)
    if stage == "synthesize":
        files["draws.json"] = json.dumps(DRAWS).encode()
    for name, data in files.items():
        job.write_file(name, data)


def relist(root: Path, stage: str, dataset: str = "english") -> None:
    """Write the manifest anew for the files as they are now."""
    job = _job(root, stage, dataset)
    job._written = [path.stem for path in sorted((job.out / "shards").glob("*.parquet"))]
    job.finish()


def _job(root: Path, stage: str, dataset: str) -> Stage:
    engine: Any = None
    out = root / "data" / dataset / stage
    return Stage(
        name=stage,
        dataset=dataset,
        params=None,
        project=root,
        inputs={},
        out=out,
        engine=engine,
        state=root / ".hearsight",
        code="",
    )


DRAWS: dict[str, Any] = {
    "voices": {"en": ["en-us"]},
    "parameters": {
        name: {"mean": mean, "sd": sd, "clip": 2.0, "decimals": 4}
        for name, mean, sd in (("rate", 1.0, 0.1), ("pitch", 0.0, 1.0), ("gain", 0.0, 2.0))
    },
}
"""What the utterances' manners are drawn from."""
OWN = {"extract_descriptions": {"labels": [], "caption": "a dog runs on grass.", "types": []}}
"""What a stage's records hold that is not what the others' hold."""


def _ledger(stage: str, rows: list[dict[str, Any]], shard: str) -> list[dict[str, str]]:
    keys = list(dict.fromkeys(row.get("record", row["key"]) for row in rows))
    return [kept(key) for key in keys] + [dropped(sha(f"gone{shard}")[:16], "too_small", 3, 100)]


def _records(stage: str, shard: str, name: str, media: dict[str, bytes], files: dict[str, bytes]) -> list[dict[str, Any]]:
    key = sha(name)[:16]
    if stage in ("pretrain_retrieval", "finetune_retrieval", "train_captioner"):
        row, kind = {
            "pretrain_retrieval": ("mms-48", "dual_encoder"),
            "finetune_retrieval": ("both-100", "dual_encoder"),
            "train_captioner": ("t2t8x8", "captioner"),
        }[stage]
        weights = f"models/{row}-{int(name)}/weights.safetensors"
        files[weights] = f"weights {name}".encode()
        base = {"kind": kind, "seed": int(name), "weights": weights, "weights_sha256": sha(files[weights])}
        return [dict(key=f"{row}-{int(name)}", parameters=5000, steps=10, best_epoch=1, validation=0.25, **base)]
    if stage == "build_search_index":
        result = {"captions": [{"language": "en", "caption": "a dog runs"}], "languages": ["en"], "splits": ["test"]}
        result |= {"caption": "a dog runs", "origin": "human", "voice": "human-en", "seconds": 1.5, "thumbnail": ""}
        return [
            dict(key=key, kind="speech", image_sha256=sha(name), audio_sha256=sha(key), media=f"{shard}/{key}.flac", **result)
        ]
    if stage == "build_rating_items":
        media |= {f"{sha(name)}.whole.jpg": f"image {name}".encode(), f"{sha(key)}.flac": f"sound {key}".encode()}
        place = {"table": "retrieval", "source": "mms-48-0", "direction": "speech_to_image", "query": f"{key}.0"}
        heard = (
            {"audio_sha256": sha(key), "audio": f"{shard}/{sha(key)}.flac"}
            if int(name) % 2
            else {"audio_sha256": "", "audio": ""}
        )
        shown = {"image_sha256": sha(name), "crop": "whole", "caption": "a dog runs", "language": "en", **heard}
        uses = [place | {"candidate": sha(name), "rank": 1, "known": True}]
        return [dict(key=key, image=f"{shard}/{sha(name)}.whole.jpg", raters=5, uses=uses, **shown)]
    if stage == "evaluate_retrieval":
        base = {"model": "mms-48-0", "kind": "dual_encoder", "row": "mms-48", "seed": 0, "crop": "centre"}
        results = {"direction": "speech_to_image", "rank": 2, "relevant_ranks": [2, 3], "relevant": 2, "items": 8}
        return [dict(key=f"{key}.0", query=key, **base, **results)]
    if stage == "import_ratings":
        place = {
            "query": "r1",
            "candidate": "",
            "rank": 0,
            "time": "2026-01-01T09:30:00.000000Z",
            "seconds": 2.5,
            "source": "csv",
        }
        return [dict(key=f"{key}.a", item=key, rater="a", verdict="GOOD", **place)]
    if stage == "evaluate_ratings":
        place = {
            "table": "dataset",
            "source": "english",
            "direction": "",
            "query": "r1",
            "candidate": "",
            "rank": 0,
            "known": True,
        }
        counts = {"raters": 3, "ratings": 3, "good": 2}
        return [{"key": key, "records": ["r1"], "uses": [place]} | counts]
    if stage == "evaluate_captioners":
        base = {"test": "english", "model": "english-t2t8x8-0", "training": "english", "network": "t2t8x8", "seed": 0}
        results = {"cider_d": 0.5, "rouge_l": 0.3, "objects": 2, "unsupported": ["cat"]}
        return [dict(key=key, output="a dog and a cat", references=["a dog runs"], **base, **results)]
    if stage == "extract_features":
        features = f"features {name}".encode()
        media[f"{sha(name)}.npy.zst"] = features
        result = {"group": key, "language": "en", "caption": "a dog runs on grass", "words": ["a", "dog", "runs", "on", "grass"]}
        result |= {"labels": ["dog"], "image_sha256": sha(name), "media": f"{shard}/{sha(name)}.npy.zst", "thumbnail": ""}
        result |= {"centre": f"{shard}/{sha(name)}.centre.npy"}
        media[f"{sha(name)}.centre.npy"] = features
        return [dict(key=key, split="test" if name.endswith("3") else "train", **result)]
    if stage == "cluster":
        return [{"key": key, "cluster": int(name) % 3 - 1, "round": 1, "x": 0.5, "y": -2.0}]
    if stage == "evaluate_speech":
        heard = {
            "recogniser": "whisper-tiny.en",
            "verdict": "heard",
            "heard": "A dog runs on glass.",
            "words": 5,
            "word_errors": 1,
        }
        result = {"language": "en", "origin": "synthetic", "voice": "en-us", "spoken": "a dog runs on grass", "seconds": 1.5}
        result |= {"characters": 19, "character_errors": 1, "audio_sha256": sha(f"sound {key}")}
        return [dict(key=f"{key}.0", record=key, split="train", **result, **heard)]
    if stage == "drift":
        limits = {"low": 0.1, "high": 0.4, "finding": ""}
        measure = {"group": "languages", "measure": "language en", "value": 0.2, "of": 9, "days": 30}
        return [{"key": f"languages/candidates/{name}", **measure, **limits}]
    if stage in ("report", "posts_report"):
        files[f"figures/{name}.png"] = f"figure {name}".encode()
        return [{"key": name, "title": "A figure", "path": f"figures/{name}.png", "sha256": sha(files[f"figures/{name}.png"])}]
    split = "test" if name.endswith("3") else "train"
    image = f"image {name}".encode()
    if stage == "synthesize":
        return [_utterance(f"{key}.{n}", key, split, shard, image, media) for n in range(2)]
    if stage == "import_recordings":
        own = {"origin": "human", "voice": "human-en", "rate": 1.0, "pitch": 0.0, "gain": 0.0}
        return [_utterance(f"{key}.0", key, split, shard, image, media) | own]
    if stage == "crawl":
        media[f"{sha(image)}.png"] = image
    return [
        {
            "key": key,
            "page_url": "http://docs.example/page.html",
            "image_url": f"http://docs.example/{name}.png",
            "alt": "A dog runs on grass",
            "figcaption": "",
            "context": None,
            "position": 0,
            "host": "docs.example",
            "language": "en",
            "format": "PNG",
            "width": 200,
            "height": 150,
            "bytes": len(image),
            "image_sha256": sha(image),
            "phash": "0f" * 8,
            "media": f"{shard}/{sha(image)}.png",
            "archive": "",
            "archive_offset": -1,
            "owner": "",
            "post": "",
            "posted": "",
            "collected": "",
            "text": "a dog runs on grass",
            "labels": [{"label": "dog", "confidence": 0.9, "identifier": "n02084071"}],
            "caption": "a dog runs on grass",
            "steps": [{"step": "case", "before": "A dog", "after": "a dog", "reason": "start"}],
            "types": ["dog"],
            "group": key,
            "split": split,
        }
        | OWN.get(stage, {})
    ]


def _utterance(key: str, record: str, split: str, shard: str, image: bytes, media: dict[str, bytes]) -> dict[str, Any]:
    sound = f"sound {key}".encode()
    media[f"{key}.flac"] = sound
    manner = {name: clipped_normal(key, name, asked["mean"], asked["sd"]) for name, asked in DRAWS["parameters"].items()}
    heard = {"seconds": 1.5, "level": -26.0, "peak": -8.0, "clipped": 0, "lead": 0.02, "tail": 0.02}
    return dict(
        key=key,
        record=record,
        caption="a dog runs on grass",
        language="en",
        spoken="a dog runs on grass",
        origin="synthetic",
        seconds_per_character=0.08,
        split=split,
        group=record,
        image_sha256=sha(image),
        image_media=f"{shard}/{sha(image)}.png",
        audio_sha256=sha(sound),
        media=f"{shard}/{key}.flac",
        voice="en-us",
        **manner,
        **heard,
    )


def clipped_normal(key: str, name: str, mean: float, sd: float) -> float:
    """A draw as the stage makes them, from this key."""
    return round(mean + min(2 * sd, max(-2 * sd, seeded_rng(key, name).gauss(0.0, sd))), 4)
