"""What adding posts costs beside a rebuild: ``python -m benchmarks.duplicates_adding N ADDED FOLDER``, one JSON line.

The dedup stage itself, from the shards before it to its manifest, over posts of ``duplicates_posts`` whose pictures are drawn
(64 px, so that decoding counts little) and whose features are in the annotation store: the network's time is left out on both
sides.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.duplicates_posts import make_posts
from components.core.result_cache import ResultCache
from components.execution.stage import Stage
from components.stages.dedup import Aligned, Params, Posts
from components.stages.dedup.run import run
from components.vision.features import ImageFeatures, feature_key
from tests.support import make_output, make_stage, row

SHARD = 500
PARAMS = Params(
    signal=Aligned(),
    posts=Posts(image_distance=0.1, caption_distance=0.1, languages=["pt"], idf="language", grid=[0.02, 0.05, 0.1, 0.2]),
)


def drawn(shows: int, number: int) -> bytes:
    """A picture of its own of what ``shows`` stands for."""
    coarse = np.random.default_rng(shows).integers(0, 255, (9, 9, 3)).astype(np.uint8)
    pixels = np.asarray(Image.fromarray(coarse).resize((64, 64), Image.Resampling.BICUBIC), np.int16)
    noisy = np.clip(pixels + np.random.default_rng(number).integers(-2, 3, pixels.shape), 0, 255).astype(np.uint8)
    buffer = io.BytesIO()
    Image.fromarray(noisy).save(buffer, "JPEG", quality=85)
    return buffer.getvalue()


def inputs(root: Path, count: int, added: int) -> ResultCache:
    """The outputs before (``old``) and after (``new``), and the features of all."""
    posts, store = make_posts(count + added), ResultCache(root / "features")
    rows: list[list[dict[str, Any]]] = []
    media: list[dict[str, bytes]] = []
    for start in [*range(0, count, SHARD), *range(count, count + added, SHARD)]:
        end = min(start + SHARD, count if start < count else count + added)
        shard, pictures, features = [], {}, {}
        for n in range(start, end):
            data = drawn(posts.shows[n], n)
            sha256 = hashlib.sha256(data).hexdigest()
            pictures[f"{sha256}.jpg"] = data
            features[feature_key(sha256, 0)] = posts.features[n][None]
            day = "2026-01-01" if n < count else "2026-01-02"
            values = {
                "key": hashlib.sha256(str(n).encode()).hexdigest()[:16],
                "caption": posts.captions[n],
                "image_sha256": sha256,
            }
            shard.append(row("hypernymize", media=f"{len(rows):05d}/{sha256}.jpg", collected=day, phash="0" * 16, **values))
        store.write(ImageFeatures(), features)
        rows.append(shard)
        media.append(pictures)
    old = -(-count // SHARD)
    for name, end in (("old", old), ("new", len(rows))):
        make_output(root / name, "hypernymize", rows[:end])
        make_output(root / name, "crawl", [[] for _ in rows[:end]], media=media[:end])
    return store


def once(root: Path, which: str, state: Path) -> dict[str, Any]:
    """One run of the stage over the outputs ``which``."""
    from components.core.stage_output import StageOutput

    home = root / which
    shutil.rmtree(home / "data" / "english" / "dedup", ignore_errors=True)
    found = {name: StageOutput(home / "data" / "english" / of) for name, of in (("input", "hypernymize"), ("media", "crawl"))}
    stage: Stage = make_stage(home, "dedup", params=PARAMS, inputs=found)
    stage.state = state
    stage.export = lambda name, data: None  # type: ignore[method-assign]
    before, clock = os.times(), time.perf_counter()
    run(stage)
    digest = stage.finish().digest
    after = os.times()
    return {"seconds": time.perf_counter() - clock, "processors": sum(after[:4]) - sum(before[:4]), "digest": digest}


def main() -> None:
    """A rebuild of all, and the same from a state that knows all but the added."""
    count, added, root = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        assert os.environ.get(name) == "1", f"{name} is 1 in a stage"
    if not (root / "features").exists():
        inputs(root, count, added)
    for name in ("fresh", "known"):
        shutil.rmtree(root / name, ignore_errors=True)
        shutil.copytree(root / "features", root / name / "annotations")
    once(root, "old", root / "known")
    adding = once(root, "new", root / "known")
    rebuild = once(root, "new", root / "fresh")
    assert adding.pop("digest") == rebuild.pop("digest"), "adding does not give what a rebuild gives"
    print(json.dumps({"rebuild": rebuild, "adding": adding}))


if __name__ == "__main__":
    main()
