"""Gates: which output of an output its check let pass. The check writes them, whoever reads that output holds it to them."""

from __future__ import annotations

import json
from pathlib import Path

from components.core.addresses import check_address, dataset_and_stage
from components.core.digests import canonical_json
from components.core.errors import HearsightError
from components.core.stage_output import StageOutput


def gate_path(root: Path, dataset: str, stage: str) -> Path:
    """Where the gate of an output lies."""
    return root / "reports" / "gates" / dataset / f"{stage}.json"


def gate_bytes(name: str, digest: str) -> bytes:
    """Return a gate file's content: which output of ``<dataset>/<stage>`` may pass, and nothing else.

    The stages after depend on it, so it holds nothing of the suite: an edited suite checks again and moves no work.
    """
    return (canonical_json({"output": name, "manifest_sha256": digest, "passed": True}) + "\n").encode()


def require_passed(root: Path, output: StageOutput) -> None:
    """Hold an output to its gate, if it has one; DVC sees to it that there is one.

    Raises:
        HearsightError: the gate let another output pass: this one was changed by hand, or made anew and not checked.
    """
    dataset, stage = dataset_and_stage(output.path)
    path = gate_path(root, dataset, stage)
    if not path.exists():
        return
    try:
        let_pass = json.loads(path.read_bytes()).get("manifest_sha256")
    except (ValueError, AttributeError):
        let_pass = None
    if let_pass != output.digest:
        raise HearsightError(
            f"is not the output that {path.relative_to(root)} let pass: changed by hand, or not checked yet",
            where=output.path / "manifest.json",
            hint=f"run `dvc repro {check_address(dataset, stage)}`",
        )
