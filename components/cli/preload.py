"""What background processes have imported before they fork for ``hearsight check`` and ``run``.

The first of these commands starts its process; see :mod:`components.execution.warm_client`.
"""

# ruff: noqa: F401 - modules are imported to be in memory
from __future__ import annotations

import os
import sys
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec


def import_for_checks() -> None:
    """Import Great Expectations and the other libraries of a check."""
    os.environ["GX_ANALYTICS_ENABLED"] = "false"
    import great_expectations
    import great_expectations.expectations
    import pandas
    import pyarrow.compute
    import pyarrow.dataset
    import pyarrow.pandas_compat
    import pyarrow.parquet
    import tqdm
    import typer
    import yaml

    tqdm.tqdm.monitor_interval = 0  # its first bar would start a thread, and a process with threads cannot be forked

    # A check of a small table completes the lazy imports of great_expectations and compiles its templates.
    from components.stages.check import warm

    warm()


def import_for_trainings() -> None:
    """Import torch and Lightning."""
    # onnxruntime starts a thread, and a process with threads cannot be forked. Lightning's package of metrics would import it
    # for a metric that no training uses.
    sys.modules["onnxruntime"] = stand_in = module_from_spec(ModuleSpec("onnxruntime", None))
    stand_in.InferenceSession = object  # type: ignore[attr-defined]
    import pytorch_lightning
    import torch._dynamo  # the first step of an optimiser would import it

    del sys.modules["onnxruntime"]
