"""Names that a dataset may have: it names a file of settings, folders of outputs, reports and MLflow."""

from __future__ import annotations

import re
from pathlib import Path

import yaml

from components.core.addresses import CELLS, MATRICES
from components.core.errors import HearsightError
from components.core.graph import NONE, Graph
from components.core.params import dataset_file

_KEYS = ("chain", "engine", "pools", "schedules", "storage", "item", "key", *MATRICES)
"""Keys of params.yaml, names of dvc.yaml's loops, and files that hold no dataset."""
_FOLDERS = ("calibration", "captioner_tests", CELLS, "data_docs", "days", "lineage", "packages", "store")
"""Folders of ``data`` and ``reports`` that belong to no dataset."""
_DEVICES = re.compile(r"con|prn|aux|nul|(?:com|lpt)\d")
_LONGEST = 60
"""Characters; the names of files and of MLflow's experiments contain it."""


def check_name(name: str, graph: Graph) -> None:
    """Raise HearsightError with the reason unless a new dataset can have this name."""
    path: Path = dataset_file(graph.root, name)
    if not re.fullmatch(r"[a-z][a-z0-9_]*", name):
        raise HearsightError(f"'{name}' cannot name a dataset", where=path, hint="use small letters, digits and _")
    if name in graph.datasets:
        raise HearsightError(f"there is a dataset '{name}' already", where=path, hint="choose another name, or edit it there")
    reasons = {
        "it stands for an absent input in the chain": name == NONE,
        "it is a stage": name in graph.stages,
        "settings or dvc.yaml use it with another meaning": name in _KEYS or name in graph.params,
        "YAML reads it as another value": not isinstance(yaml.safe_load(name), str) or name in ("y", "n"),
        "it is a folder of data/ or reports/ with another meaning": name in _FOLDERS,
        "Windows reserves it": bool(_DEVICES.fullmatch(name)),
        f"it has over {_LONGEST} characters": len(name) > _LONGEST,
    }
    if reason := next((reason for reason, holds in reasons.items() if holds), ""):
        raise HearsightError(f"'{name}' cannot name a dataset: {reason}", where=path, hint="choose another name")
