"""The lineage of a finished output: a file beside it that names its parents, parameters and code."""

from __future__ import annotations

from typing import Any

from components.core.addresses import lineage_path
from components.core.files import publish_json, remove_abandoned
from components.core.stage_output import StageOutput
from components.core.stored_files import keep_lineage
from components.execution.stage import Stage


def write_lineage(stage: Stage, params: dict[str, Any], params_digest: str) -> dict[str, Any]:
    """Write and return the lineage of a finished output: digests of output and parents, parameters, code digest, engine."""
    digest = StageOutput(stage.out).digest
    content = {
        "stage": stage.name,
        "dataset": stage.dataset,
        "manifest_sha256": digest,
        "parents": [
            {"name": name, "output": output.name, "manifest_sha256": output.digest}
            for name, output in sorted(stage.inputs.items())
        ]
        + stage.parents,
        "params": params,
        "params_sha256": params_digest,
        "code_sha256": stage.code,
        "engine": stage.engine.name,
    }
    path = lineage_path(stage.out)
    remove_abandoned(path.parent, path.name)
    publish_json(path, content)
    keep_lineage(stage.out, digest, path.read_bytes())
    return content
