"""``python -m components.cli.run_server``: server of runs of stages that has imported torch and Lightning.

The first run of such a stage starts it; see :mod:`components.execution.warm_client`.
"""

# ruff: noqa: F401 - modules are imported to be in memory
from __future__ import annotations

import sys
import traceback
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from typing import Any

from components.execution.warm_server import serve


def preload() -> None:
    """Import the libraries of trainings; every fork imports the project's modules again."""
    # onnxruntime starts a thread, and a process with threads cannot be forked. Lightning's package of metrics would import it
    # for a metric that no training uses.
    sys.modules["onnxruntime"] = stand_in = module_from_spec(ModuleSpec("onnxruntime", None))
    stand_in.InferenceSession = object  # type: ignore[attr-defined]
    import pytorch_lightning
    import torch._dynamo  # the first step of an optimiser would import it

    del sys.modules["onnxruntime"]


def answer(question: dict[str, Any]) -> int:
    """Run the stage that a client asks for, as its process would; return the exit code."""
    from components.cli.stages import run_here  # here: imported again in every fork
    from components.core.streams import report_errors, run_program

    try:
        run_program(lambda: report_errors(lambda: run_here(question["stage"], question["dataset"])))
    except SystemExit as ended:
        return int(ended.code or 0)
    except BaseException:  # a defect: Python would print it and end with 1
        traceback.print_exc()
        return 1


if __name__ == "__main__":
    serve(sys.argv[1], (int(sys.argv[2]), sys.argv[3]), preload, answer)
