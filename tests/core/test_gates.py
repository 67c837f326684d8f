"""The next stage reads only the output that passed its check."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.core.gates import gate_bytes, gate_path, require_passed
from components.core.stage_output import StageOutput
from tests.support import make_output, row


def output(root: Path, alt: str) -> StageOutput:
    return make_output(root, "crawl", [[row("crawl", key="0" * 16, alt=alt)]])


def write_gate(root: Path, passed: StageOutput) -> Path:
    path = gate_path(root, "english", "crawl")
    path.parent.mkdir(parents=True)
    path.write_bytes(gate_bytes(passed.name, passed.digest))
    return path


def test_the_checked_output_is_accepted(tmp_path: Path):
    checked = output(tmp_path, "a dog")
    write_gate(tmp_path, checked)
    require_passed(tmp_path, checked)


def test_an_output_that_was_not_checked_is_refused_by_name(tmp_path: Path):
    write_gate(tmp_path, output(tmp_path, "a dog"))
    changed = output(tmp_path, "a cat")
    with pytest.raises(HearsightError) as caught:
        require_passed(tmp_path, changed)
    message = "data/english/crawl/manifest.json: is not the output that passed its check (reports/gates/english/crawl.json)"
    assert message in str(caught.value)
    assert "dvc repro check-crawl@english" in str(caught.value)


@pytest.mark.parametrize("damage", [b"", b"[]", b"{}", b'{"manifest_sha256": 1}'])
def test_a_damaged_gate_accepts_no_output(tmp_path: Path, damage: bytes):
    checked = output(tmp_path, "a dog")
    write_gate(tmp_path, checked).write_bytes(damage)
    with pytest.raises(HearsightError, match="passed its check"):
        require_passed(tmp_path, checked)
