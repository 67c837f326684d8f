"""Records with images, and the dedup stage run over them."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image, ImageDraw

from components.core.stage_output import StageOutput
from components.stages.dedup import Aligned, Params, Posts
from components.stages.dedup.run import run
from tests.support import make_output, make_stage, row

ALIGNED = Aligned()
POSTS = Posts(image_distance=0.1, caption_distance=0.1, languages=["pt"], idf="language", grid=[])


def settings(**changes: Any) -> Params:
    """The settings of posts, changed."""
    return Params(**{"signal": ALIGNED, "posts": POSTS, **changes})


def drawn_image(seed: int, side: int = 96) -> Image.Image:
    """Some shapes in some colours, unlike those of any other seed."""
    source = np.random.default_rng(seed)
    coarse = source.integers(0, 255, (7, 7, 3)).astype(np.uint8)
    return Image.fromarray(coarse).resize((side, side), Image.Resampling.NEAREST)


def drawing(seed: int) -> Image.Image:
    """A few figures on a ground, which a network takes for other things than those of another seed."""
    source = np.random.default_rng(seed)
    ground, *colours = (tuple(int(level) for level in source.integers(0, 255, 3)) for _ in range(5))
    image = Image.new("RGB", (224, 224), ground)
    pen = ImageDraw.Draw(image)
    for colour in colours:
        x, y, size = (int(value) for value in source.integers(20, 160, 3))
        kind = source.integers(3)
        if kind == 0:
            pen.ellipse((x, y, x + size // 2 + 10, y + size // 2 + 10), fill=colour)
        elif kind == 1:
            pen.rectangle((x, y, x + size // 2 + 10, y + size // 3 + 10), fill=colour)
        else:
            pen.polygon([(x, y), (x + size, y + 20), (x + 20, y + size // 2 + 20)], fill=colour)
    return image


def encoded(image: Image.Image, kind: str = "PNG") -> bytes:
    """An image file."""
    buffer = io.BytesIO()
    image.save(buffer, kind)
    return buffer.getvalue()


def key(text: str) -> str:
    """A record's key."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def post(name: str, data: bytes, words: str, shard: int = 0, **more: Any) -> dict[str, Any]:
    """A record of CAPTION whose image is ``data``; its bytes go to the media of that shard of the crawl."""
    sha256 = hashlib.sha256(data).hexdigest()
    values = {"key": name, "image_sha256": sha256, "media": f"{shard:05d}/{sha256}.png", "caption": words, "phash": "0" * 16}
    return {**row("hypernymize", **{**values, **more}), "data": data}


def dedup(root: Path, shards: list[list[dict[str, Any]]], params: Params, state: Path | None = None) -> tuple[StageOutput, Any]:
    """The stage's output for these posts, and the stage."""
    media = [{posted["media"].split("/")[1]: posted["data"] for posted in shard if "data" in posted} for shard in shards]
    rows = [[{name: value for name, value in posted.items() if name != "data"} for posted in shard] for shard in shards]
    inputs = {
        "input": make_output(root, "hypernymize", rows),
        "media": make_output(root, "crawl", [[] for _ in rows], media=media),
    }
    stage = make_stage(root, "dedup", params=params, inputs=inputs)
    stage.state = state or stage.state
    stage.export = lambda name, data: (root / name).write_bytes(data)  # type: ignore[method-assign]
    run(stage)
    stage.finish()
    return StageOutput(stage.out), stage


def verdicts(done: StageOutput) -> dict[str, tuple[str, str, str, str]]:
    """key → rule, value, threshold, detail; of what is kept the first three are empty."""
    return {r["key"]: (r["rule"], r["value"], r["threshold"], r["detail"]) for r in done.ledger().to_pylist()}
