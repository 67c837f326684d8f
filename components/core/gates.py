"""Gates: the digest of the output that passed its check. The check writes it; every stage that reads the output verifies it."""

from __future__ import annotations

import json
from pathlib import Path

from components.core.addresses import check_stage_address, parse_output_path
from components.core.digests import canonical_json
from components.core.errors import HearsightError
from components.core.stage_output import StageOutput


def gate_path(root: Path, dataset: str, stage: str) -> Path:
    """Return the path of an output's gate."""
    return root / "reports" / "gates" / dataset / f"{stage}.json"


def gate_bytes(name: str, digest: str) -> bytes:
    """Return the content of a gate file: the output name and the digest that passed.

    Later stages depend on this file. It holds nothing of the suite, so an edited suite causes its check, but no
    stage, to run again.
    """
    return (canonical_json({"output": name, "manifest_sha256": digest, "passed": True}) + "\n").encode()


def require_passed(root: Path, output: StageOutput) -> None:
    """Verify that the output is the one that passed its check; an output without a gate is accepted.

    DVC runs the check before any stage that needs it.

    Raises:
        HearsightError: the gate has another digest: the output was changed by hand, or written again and not checked.
    """
    dataset, stage = parse_output_path(output.path)
    path = gate_path(root, dataset, stage)
    if not path.exists():
        return
    try:
        passed = json.loads(path.read_bytes()).get("manifest_sha256")
    except (ValueError, AttributeError):
        passed = None
    if passed != output.digest:
        raise HearsightError(
            f"is not the output that passed its check ({path.relative_to(root)}): changed by hand, or not checked yet",
            where=output.path / "manifest.json",
            hint=f"run `dvc repro {check_stage_address(dataset, stage)}`",
        )
