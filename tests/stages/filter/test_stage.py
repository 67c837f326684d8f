"""The stage on a small output: one ledger row a record, cheap rules first, nothing expensive computed again."""

from __future__ import annotations

import hashlib
import io
from pathlib import Path

import pytest
from PIL import Image

from components.core.result_cache import ResultCache
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
            bytes=len(data), image_sha256=hashlib.sha256(data).hexdigest(), media="00000/picture.jpg",
        )
        for key, alt in ALTS.items()
    ]  # fmt: skip
    return make_output(root, "crawl", [rows], media=[{"picture.jpg": data}])


def filtered(root: Path, **params: object) -> StageOutput:
    job = make_stage(root, "filter", params=PAPER.model_copy(update=params), inputs={"input": candidates(root)})
    run_filter(job)
    job.finish()
    return StageOutput(job.out)


def test_every_record_has_one_ledger_row_with_rule_value_and_threshold(tmp_path: Path) -> None:
    ledger = {entry["key"]: entry for entry in filtered(tmp_path).ledger().to_pylist()}
    assert set(ledger) == set(ALTS)
    assert (ledger["small"]["rule"], ledger["small"]["value"], ledger["small"]["threshold"]) == ("image_side", "300", "> 400 px")
    assert ledger["lower"]["rule"] == "first_capital" and ledger["short"]["rule"] == "min_words"
    assert ledger["nothing"]["rule"] == "label_overlap"
    assert "stock photo" in ledger["cropped"]["detail"]


def test_a_changed_threshold_computes_no_annotation_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    filtered(tmp_path)
    folder = tmp_path / ".hearsight" / "annotations"
    before = {path.name: AnnotationSize.of(path) for path in folder.glob("*.sqlite")}
    assert len(before) == 5
    filtered(tmp_path, max_aspect_ratio=1.9, min_label_confidence=0.2, max_noun_ratio=0.65)
    assert {path.name: AnnotationSize.of(path) for path in folder.glob("*.sqlite")} == before
    assert ResultCache(folder).computed == {}


class AnnotationSize:
    """How many results a store holds."""

    @staticmethod
    def of(path: Path) -> int:
        import sqlite3
        from contextlib import closing

        with closing(sqlite3.connect(path)) as base:
            return int(base.execute("SELECT count(*) FROM results").fetchone()[0])
