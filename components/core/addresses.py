"""What an output is called by where it lies, and what DVC calls the stage that makes it.

An output lies in ``data/<dataset>/<stage>``. The cells of a matrix lie deeper, below the matrix's name
(``data/captioners/cells/english-t2t8x8/train_captioner``), and DVC names their stages by the cell alone
(``train_captioner@english-t2t8x8``).
"""

from __future__ import annotations

import os
from pathlib import Path

from components.core.errors import HearsightError

MATRICES = {"captioners": ("train_captioner", "extract_features")}
"""Matrix of params.yaml, and folder below data → the stage run for each of its cells, and the stage of the set that it reads."""
CELLS = "cells"
"""The folder of a matrix's cells, as part of their names as datasets."""

LINEAGE = "lineage.json"
"""What MLflow calls an output's lineage, beside its ``manifest.json``."""
PREPARED_FILE = "prepared.json"
"""In the output of ``prepare``: the wording that is learned, and the encoder that made the features."""


def find_root(start: Path | None = None) -> Path:
    """The project's root: ``HEARSIGHT_ROOT``, or the nearest folder upwards that holds dvc.yaml and params.yaml."""
    if named := os.environ.get("HEARSIGHT_ROOT"):
        return Path(named).resolve()
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "dvc.yaml").is_file() and (folder / "params.yaml").is_file():
            return folder
    raise HearsightError("no dvc.yaml and params.yaml here or above", where=here, hint="run inside a Hearsight project")


def parse_output_path(folder: Path) -> tuple[str, str]:
    """The dataset and the stage whose output lies in ``folder``."""
    dataset, above = folder.parent, folder.parent.parent
    return (f"{above.parent.name}/{CELLS}/{dataset.name}" if above.name == CELLS else dataset.name), folder.name


def parse_output_name(name: str) -> tuple[str, str]:
    """The dataset and the stage of an output called ``<dataset>/<stage>``."""
    dataset, _, stage = name.rpartition("/")
    return dataset, stage


def stage_address(dataset: str, stage: str) -> str:
    """What ``dvc repro`` calls the stage that makes an output."""
    return f"{stage}@{dataset.rpartition('/')[2]}"


def check_stage_address(dataset: str, stage: str) -> str:
    """What ``dvc repro`` calls the check of an output."""
    return f"check-{stage_address(dataset, stage)}"


def lineage_path(folder: Path) -> Path:
    """Return the lineage file of the output in ``folder``: ``reports/lineage/<dataset>/<stage>.json``.

    It is not in the output's folder, so that a new lineage of equal content runs no later stage.
    """
    dataset, stage = parse_output_path(folder)
    root = folder.parents[dataset.count("/") + 2]
    return root / "reports" / "lineage" / dataset / f"{stage}.json"


def lock_path(root: Path, dataset: str, stage: str) -> Path:
    """The lock that whoever writes an output holds."""
    return root / ".hearsight" / "locks" / f"{dataset.replace('/', '.')}.{stage}.lock"
