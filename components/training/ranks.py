"""One training job on several machines: ``torchrun … -m components.training.ranks JOB``, one process a device.

The stage writes ``job.json`` to its scratch folder, on a disk that all machines share; the processes train from it and end with
the last checkpoint. The stage, run again, finds that training is finished and publishes the result (docs/training.md).
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.files import publish_json
from components.core.params import parse_settings
from components.core.result_cache import ResultCache
from components.core.stage_output import StageOutput
from components.execution.shard_worker import Task
from components.training.settings import Hardware

NODES = "job.json"
"""File in the scratch folder with everything that the processes of several machines need for the same training."""


def write_job(scratch: Path, train: str, spec: dict[str, Any], task: Task) -> None:
    """Write the job file.

    Args:
        train: ``<module>:<function>``, called with the spec and a task.
    """
    job = {
        "train": train,
        "spec": spec,
        "inputs": {name: str(output.path.resolve()) for name, output in task.inputs.items()},
        "hardware": task.params.model_dump(mode="json"),
        "shared": task.shared,
        "work": str(task.work.resolve()),
        "dataset": task.dataset,
    }
    publish_json(scratch / NODES, job)


def main(path: Path) -> None:
    """Train the job at ``path`` in this process, as one of several.

    Raises:
        HearsightError: the file is not a job, or training failed.
    """
    try:
        job = json.loads(path.read_text(encoding="utf-8"))
        module, _, function = job["train"].partition(":")
        train = getattr(importlib.import_module(module), function)
        inputs = {name: StageOutput(Path(location)) for name, location in job["inputs"].items()}
        spec, shared, work, dataset = job["spec"], job["shared"], Path(job["work"]), job["dataset"]
        hardware = parse_settings(Hardware, job["hardware"], str(path))
    except (OSError, ValueError, KeyError, TypeError, AttributeError, ImportError) as error:
        raise HearsightError(f"is not a job ({error})", where=path, hint="run the stage that writes it") from error
    train(spec, Task(hardware, shared, ResultCache(work / "annotations"), inputs, work, dataset))


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]))
    except (HearsightError, IndexError) as error:
        print(f"hearsight: {error}", file=sys.stderr)
        raise SystemExit(2) from error
