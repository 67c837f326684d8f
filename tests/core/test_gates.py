"""What passed its check is what the next stage reads: another output under the same gate is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.core.gates import gate_bytes, gate_path, require_passed
from components.core.stage_output import StageOutput
from tests.support import make_output, row


def output(root: Path, alt: str) -> StageOutput:
    return make_output(root, "crawl", [[row("crawl", key="0" * 16, alt=alt)]])


def let_pass(root: Path, passed: StageOutput) -> Path:
    path = gate_path(root, "english", "crawl")
    path.parent.mkdir(parents=True)
    path.write_bytes(gate_bytes(passed.name, passed.digest))
    return path


def test_the_output_that_was_checked_passes(tmp_path: Path):
    made = output(tmp_path, "a dog")
    let_pass(tmp_path, made)
    require_passed(tmp_path, made)


def test_another_output_than_the_one_checked_is_refused_by_name(tmp_path: Path):
    let_pass(tmp_path, output(tmp_path, "a dog"))
    changed = output(tmp_path, "a cat")
    with pytest.raises(HearsightError) as caught:
        require_passed(tmp_path, changed)
    assert "data/english/crawl/manifest.json: is not the output that reports/gates/english/crawl.json let pass" in str(
        caught.value
    )
    assert "dvc repro check-crawl@english" in str(caught.value)


@pytest.mark.parametrize("damage", [b"", b"[]", b"{}", b'{"manifest_sha256": 1}'])
def test_a_damaged_gate_lets_nothing_pass(tmp_path: Path, damage: bytes):
    made = output(tmp_path, "a dog")
    let_pass(tmp_path, made).write_bytes(damage)
    with pytest.raises(HearsightError, match="let pass"):
        require_passed(tmp_path, made)
