"""A table of captions and generated images, and its crawl."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.core.stage_output import StageOutput
from tests.support import make_stage
from tests.support.crawl.crawls import crawled as run_crawl
from tests.support.crawl.crawls import fixture_params
from tests.support.crawl.fixture_web import drawn_image

CAPTIONS = [
    "A red kite flies above the blue sea",
    "A blue car stands in the desert",
    "A green cup on a wooden table",
    "A white star in the snow at night",
    'A "quoted" kite in the wind',
    "A yellow boat on the lake",
]
SCENES = [
    ("red", "kite", "on the blue sea"), ("blue", "car", "in the desert under a pale sky"), ("green", "cup", "on a wooden table"),
    ("white", "star", "in the snow at night"), ("red", "kite", "on a green field"), ("yellow", "boat", "on the blue sea"),
]  # fmt: skip
HOW = {"source": "table", "web": "open", "web_root": "", "seeds": [], "hosts": [], "layout": "tsv", "language": "en"}


def pets(folder: Path, ends: str = "\n", header: str = "caption\tpath", more: str = "") -> Path:
    """Write six generated images in ``images/`` and the table ``captions.tsv`` that names them."""
    (folder / "images").mkdir(parents=True)
    lines = [header] if header else []
    for at, (caption, scene) in enumerate(zip(CAPTIONS, SCENES, strict=True)):
        (folder / "images" / f"{at} ü.jpg").write_bytes(drawn_image(scene))
        lines.append(f"{caption}\timages/{at} ü.jpg")
    table = folder / "captions.tsv"
    table.write_text(ends.join([*lines, more] if more else [*lines, ""]), encoding="utf-8", newline="")
    return table


@pytest.fixture
def crawled(tmp_path: Path):
    """Crawls tables of the temporary folder."""

    def go(*inputs: str, **changes) -> StageOutput:
        return run_crawl(make_stage(tmp_path, "crawl", "pets", fixture_params(**(HOW | {"inputs": list(inputs)} | changes))))

    return go


def captions(output: StageOutput) -> list[str]:
    return output.table()["alt"].to_pylist()


def rules(output: StageOutput) -> list[str]:
    return [row["rule"] for row in output.ledger().to_pylist() if row["rule"]]
