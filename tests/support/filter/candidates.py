"""Candidates of one image, and what the filter keeps of them."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest
from PIL import Image

from components.core.stage_output import StageOutput
from components.stages.filter.run import run as run_filter
from tests.support import make_output, make_stage, row
from tests.support.filter.subjects import PAPER
from tests.support.knowledge.dictionary import EXTRACT

ALTS = {
    "small": "A dog on the beach.",
    "lower": "a dog on the beach.",
    "short": "Dog.",
    "nothing": "A minister in the parliament of the country.",
    "cropped": "A web site on the screen of a computer - Stock Photo",
}


@pytest.fixture(autouse=True)
def dictionary(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARSIGHT_WORDNET", str(EXTRACT))


def candidates(root: Path) -> StageOutput:
    out = io.BytesIO()
    Image.new("RGB", (600, 500), (40, 90, 160)).save(out, "JPEG")
    data = out.getvalue()
    rows = [
        row(
            "crawl", key=key, alt=alt, language="en", format="JPEG", width=300 if key == "small" else 600, height=500,
            bytes=len(data), image_sha256=hashlib.sha256(data).hexdigest(), media="00000/image.jpg",
        )
        for key, alt in ALTS.items()
    ]  # fmt: skip
    return make_output(root, "crawl", [rows], media=[{"image.jpg": data}])


def filtered(root: Path, **params: object) -> StageOutput:
    job = make_stage(root, "filter", params=PAPER.model_copy(update=params), inputs={"input": candidates(root)})
    run_filter(job)
    job.finish()
    return StageOutput(job.out)
