"""Holds one boundary to its manifest, its schema and its expectations, and leaves a gate file when all is well.

In scope: what a finished stage output must be before the next stage may read it. Not in scope: mending it, and
rules that choose records (those are the stages' own and leave ledger rows). A check reads and never writes data.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from components.check.failures import as_error
from components.check.integrity import inspect
from components.core.boundary import Boundary
from components.core.digests import sha256_file
from components.core.files import publish_bytes
from components.core.gate import gate_bytes, gate_path

__all__ = ["Gate", "check", "docs_folder", "gate_path"]


@dataclass(frozen=True)
class Gate:
    """A boundary that passed: which content (by digest) met which suite, and how many expectations it met."""

    boundary: str
    manifest_sha256: str
    suite_sha256: str
    passed: list[str]
    path: Path
    docs: Path

    @property
    def expectations(self) -> int:
        """How many expectations were met."""
        return len(self.passed)


def docs_folder(root: Path, dataset: str, stage: str) -> Path:
    """Where the Data Docs site of a boundary lies."""
    return root / "reports" / "data_docs" / dataset / stage


def check(root: Path, dataset: str, stage: str) -> Gate:
    """Check ``data/<dataset>/<stage>`` and write its gate.

    First every file against the manifest, then each shard against its Arrow schema, then
    ``expectations/<stage>.json``. A gate left by an earlier check is removed before anything else, so a failure or
    a kill never leaves one that vouches for data it has not seen.

    Raises:
        HearsightError: one line with the file, the column, the expectation, the values and the Data Docs page.
    """
    gate, docs = gate_path(root, dataset, stage), docs_folder(root, dataset, stage)
    gate.unlink(missing_ok=True)
    boundary = Boundary(root / "data" / dataset / stage)
    manifest = boundary.manifest
    if failures := inspect(boundary, stage):
        raise as_error(failures, root, docs / "integrity.html", boundary, suite=None)

    # Only now the slow import: damaged files are told at once.
    from components.check.suites import load_suite, validate
    from components.check.tables import tables

    suite_path = root / "expectations" / f"{stage}.json"
    suite = load_suite(suite_path, stage)
    passed, failed = validate(suite, suite_path, tables(boundary, suite), docs, boundary.name)
    if failed:
        raise as_error(failed, root, docs / f"{failed[0].table}.html", boundary, suite=suite_path)
    result = Gate(boundary.name, manifest.digest, sha256_file(suite_path), passed, gate, docs / "index.html")
    publish_bytes(gate, gate_bytes(boundary))
    return result
