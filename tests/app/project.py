"""A project without a run of its own: the graph's files, and outputs made here."""

from __future__ import annotations

import json
from pathlib import Path

from components.core.addresses import lineage_path
from components.core.code_digest import code_digest
from components.core.digests import digest_value
from components.core.gates import gate_bytes, gate_path
from components.core.graph import load_graph
from components.core.stage_output import StageOutput
from components.execution.runner import stage_settings
from tests.settings_files import copy_settings
from tests.support import make_output


def new_project(root: Path) -> Path:
    """Make a folder a project with the sample's graph and settings."""
    copy_settings(root)
    return root


def finish(root: Path, dataset: str, stage: str) -> StageOutput:
    """Make an empty output with its lineage and a passed check, as a run with the current settings leaves them."""
    output = make_output(root, stage, [], dataset)
    graph = load_graph(root)
    parents = [
        {"name": name, "output": StageOutput(path).name, "manifest_sha256": StageOutput(path).digest}
        for name, path in graph.inputs(stage, dataset).items()
    ]
    lineage = {
        "parents": parents,
        "params_sha256": digest_value(stage_settings(graph, stage, dataset).plain()),
        "code_sha256": code_digest(root, f"components.stages.{stage}"),
    }
    _write(lineage_path(output.path), json.dumps(lineage).encode())
    check(root, output)
    return output


def check(root: Path, output: StageOutput, failed: str = "") -> None:
    """Leave what a check leaves: Data Docs, and a gate unless an expectation failed."""
    dataset, _, stage = output.name.rpartition("/")
    row = f'<tr class="failed"><td>failed<td>shards<td>key<td>{failed}<td>found &lt;3&gt;<td>it must be so</tr>' if failed else ""
    _write(root / "reports" / "data_docs" / dataset / stage / "index.html", f"<h1>{output.name}</h1>{row}{row}".encode())
    gate = gate_path(root, dataset, stage)
    if failed:
        gate.unlink(missing_ok=True)
    else:
        _write(gate, gate_bytes(output.name, output.digest))


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
