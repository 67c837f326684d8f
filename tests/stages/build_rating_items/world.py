"""A small data set with captions, captioners, retrieval and speech, as the stages before build_rating_items write it."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from PIL import Image

from components.core.digests import sha256_bytes
from components.core.ledger import kept, ledger_table
from components.core.records import RETRIEVAL_RANK, RETRIEVED
from components.core.stage_output import StageOutput
from components.execution.engine import Engine
from components.execution.stage import Stage
from components.stages.build_rating_items import Params
from components.stages.build_rating_items.run import run
from tests.support import make_output, make_stage, row
from tests.support.ratings.made_items import tone

SIZES = ((300, 200), (200, 300), (800, 480), (64, 64), (700, 700))
DIRECTIONS = ("speech_to_image", "image_to_speech")


def noise(number: int, form: str = "PNG", **saved: Any) -> bytes:
    """An image of random pixels; equal numbers give equal bytes."""
    width, height = SIZES[number % len(SIZES)]
    small = np.random.default_rng(number).integers(0, 255, (height // 20, width // 20, 3), dtype=np.uint8)
    target = io.BytesIO()
    Image.fromarray(small).resize((width, height)).save(target, form, **saved)
    return target.getvalue()


def key(number: int) -> str:
    return sha256_bytes(f"record {number}".encode())[:16]


class World:
    """Records 0 to ``records`` − 1; every fifth is of the training split. Each has two utterances of equal text."""

    def __init__(
        self, root: Path, records: int = 10, images: dict[int, bytes] | None = None, outputs: Sequence[str] = ()
    ) -> None:
        self.root = root
        self.images = {number: (images or {}).get(number, noise(number)) for number in range(records)}
        self.sha = {number: sha256_bytes(data) for number, data in self.images.items()}
        self.test = [number for number in range(records) if number % 5]
        self.inputs = {
            "captions": self._captions(),
            "media": self._media(),
            "captioners": self._captioners(list(outputs) or [f"a thing {number}" for number in range(records)]),
            "retrieval": self._retrieval(),
            "speech": self._speech(),
        }

    def stage(self, root: Path, without: Sequence[str] = (), engine: Engine | None = None, **chosen: Any) -> Stage:
        """The stage, run and finished."""
        inputs = {name: output for name, output in self.inputs.items() if name not in without}
        params = Params.model_validate({"sample": 0, "queries": 0} | chosen)
        stage = make_stage(root, "build_rating_items", "english", params, inputs, engine)
        run(stage)
        stage.finish()
        return stage

    def _records(self) -> list[dict[str, Any]]:
        return [
            {
                "key": key(number), "caption": f"caption {number}", "language": "en", "group": key(number),
                "split": "test" if number in self.test else "train", "image_sha256": self.sha[number],
                "media": f"00000/{self.sha[number]}.png",
            }
            for number in self.images
        ]  # fmt: skip

    def _captions(self) -> StageOutput:
        return make_output(self.root, "split", [[row("split", **one) for one in self._records()]])

    def _media(self) -> StageOutput:
        named = ("key", "image_sha256", "media")
        rows = [row("crawl", **{name: one[name] for name in named}) for one in self._records()]
        return make_output(self.root, "crawl", [rows], media=[{f"{self.sha[n]}.png": data for n, data in self.images.items()}])

    def _captioners(self, outputs: list[str]) -> StageOutput:
        rows = [
            row("evaluate_captioners", key=key(number), test=test, model=f"{training}-t2t8x8-{seed}", training=training,
                network="t2t8x8", seed=seed, output=outputs[number % len(outputs)])
            for number in self.test for test in ("english", "other") for training in ("english", "other") for seed in (1, 2)
        ]  # fmt: skip
        return make_output(self.root, "evaluate_captioners", [rows], dataset="captioners")

    def _retrieval(self) -> StageOutput:
        """Every model finds the next records of the test split, in their order, from the one that asks."""
        ranked, best = [], []
        for model, kind, seed in (("mms-4-1", "mms-4", 1), ("mms-4-2", "mms-4", 2), ("none-100-1", "none-100", 1)):
            for crop in ("centre", "whole"):
                for place, number in enumerate(self.test):
                    found = [self.test[(place + step) % len(self.test)] for step in range(5)]
                    for again in (0, 1):
                        for direction in DIRECTIONS:
                            to_image = direction == "speech_to_image"
                            asked = f"{key(number)}.{again}" if to_image else f"{self.sha[number]}.{again}"
                            base = {"key": asked, "direction": direction, "model": model, "crop": crop}
                            query = key(number) if to_image else self.sha[number]
                            ranked.append(row("evaluate_retrieval", **base, query=query, row=kind, seed=seed))
                            for rank, other in enumerate(found, 1):
                                candidate = self.sha[other] if to_image else f"{key(other)}.{again}"
                                best.append({**base, "rank": rank, "candidate": candidate, "known": other == number})
        job = make_stage(self.root, "evaluate_retrieval", "english")
        job.write_shard("00000", pa.Table.from_pylist(ranked, schema=RETRIEVAL_RANK), ledger_table([kept("m", kind="model")]))
        top = self.root / "top.parquet"
        pq.write_table(pa.Table.from_pylist(best, schema=RETRIEVED), top)
        job.write_file("top.parquet", top)
        job.finish()
        return StageOutput(job.out)

    def _speech(self) -> StageOutput:
        media, rows = dict[str, bytes](), []
        for number, one in enumerate(self._records()):
            for again in (0, 1):
                name = f"{one['key']}.{again}"
                media[f"{name}.flac"] = tone(2 * number + again, 0.1)
                shared = {name: one[name] for name in ("caption", "language", "split", "group", "image_sha256")}
                rows.append(
                    row("synthesize", key=name, record=one["key"], image_media=one["media"], media=f"00000/{name}.flac",
                        audio_sha256=sha256_bytes(media[f"{name}.flac"]), **shared)
                )  # fmt: skip
        return make_output(self.root, "synthesize", [rows], media=[media])
