"""A project without a run of its own: the graph's files, and outputs made here."""

from __future__ import annotations

import json
from pathlib import Path

from components.core.addresses import docs_folder, draft_path, lineage_path
from components.core.digests import digest_value
from components.core.graph import load_graph
from components.core.stage_output import StageOutput
from components.execution.runner import stage_settings
from tests.support import make_output
from tests.support.settings_files import copy_settings


def new_project(root: Path) -> Path:
    """Make a folder a project with the sample's graph and settings."""
    copy_settings(root)
    return root


def finish(root: Path, dataset: str, stage: str, *, anew: bool = True) -> StageOutput:
    """Make an empty output, or take the one there, with lineage and Data Docs as a run with the current settings leaves them."""
    output = make_output(root, stage, [], dataset) if anew else StageOutput(root / "data" / dataset / stage)
    graph = load_graph(root)
    parents = [
        {"name": name, "output": StageOutput(path).name, "manifest_sha256": StageOutput(path).digest}
        for name, path in graph.inputs(stage, dataset).items()
    ]
    lineage = {
        "parents": parents,
        "params_sha256": digest_value(stage_settings(graph, stage, dataset).plain()),
        "code_sha256": graph.code_digest(stage),
        "manifest_sha256": output.digest,
    }
    _write(lineage_path(output.path), json.dumps(lineage).encode())
    _write(docs_folder(root, dataset, stage) / "index.html", f"<h1>{output.name}</h1>".encode())
    return output


def fail(root: Path, dataset: str, stage: str, expectation: str) -> Path:
    """Make a draft that failed its check, as a run leaves it, and return its folder."""
    folder = finish(root, dataset, stage).path
    folder.rename(draft := draft_path(folder))
    row = f'<tr class="failed"><td>failed<td>shards<td>key<td>{expectation}<td>found &lt;3&gt;<td>it must be so</tr>'
    _write(docs_folder(root, dataset, stage) / "index.html", f"<h1>{dataset}/{stage}</h1>{row}{row}".encode())
    return draft


def _write(path: Path, content: bytes) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
