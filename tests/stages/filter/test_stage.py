"""The stage on a small output: one ledger row a record, cheap rules first, nothing expensive computed again."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from tests.support.filter.candidates import ALTS, dictionary, filtered

__all__ = ["dictionary"]


def test_every_record_has_one_ledger_row_with_rule_value_and_threshold(tmp_path: Path) -> None:
    ledger = {entry["key"]: entry for entry in filtered(tmp_path).ledger().to_pylist()}
    assert set(ledger) == set(ALTS)
    assert (ledger["small"]["rule"], ledger["small"]["value"], ledger["small"]["threshold"]) == ("image_side", "300", "> 400 px")
    assert ledger["lower"]["rule"] == "first_capital" and ledger["short"]["rule"] == "min_words"
    assert ledger["nothing"]["rule"] == "label_overlap"
    assert "stock photo" in ledger["cropped"]["detail"]


def stored(folder: Path) -> dict[str, int]:
    """Store → how many results it holds."""
    sizes = {}
    for path in folder.glob("*.sqlite"):
        with closing(sqlite3.connect(path)) as base:
            sizes[path.name] = int(base.execute("SELECT count(*) FROM results").fetchone()[0])
    return sizes


def test_a_changed_threshold_computes_no_annotation_again(tmp_path: Path) -> None:
    filtered(tmp_path)
    folder = tmp_path / ".hearsight" / "annotations"
    before = stored(folder)
    assert len(before) == 5
    filtered(tmp_path, max_aspect_ratio=1.9, min_label_confidence=0.2, max_noun_ratio=0.65)
    assert stored(folder) == before
