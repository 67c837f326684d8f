"""What an output is called by where it lies, and what DVC calls the stage that makes it.

An output lies in ``data/<dataset>/<stage>``. The cells of a matrix lie deeper, below the matrix's name
(``data/captioners/cells/english-t2t8x8/caption``), and DVC names their stages by the cell alone (``caption@english-t2t8x8``).
"""

from __future__ import annotations

import os
from pathlib import Path

from components.core.errors import HearsightError

MATRICES = {"captioners": ("caption", "prepare")}
"""Matrix of params.yaml, and folder below data → the stage run for each of its cells, and the stage of the set that it reads."""
CELLS = "cells"
"""The folder of a matrix's cells, as part of their names as datasets."""

PREPARED_FILE = "prepared.json"
"""In the output of ``prepare``: the wording that is learnt, and the encoder that made the features."""


def find_root(start: Path | None = None) -> Path:
    """The project's root: ``HEARSIGHT_ROOT``, or the nearest folder upwards that holds dvc.yaml and params.yaml."""
    if named := os.environ.get("HEARSIGHT_ROOT"):
        return Path(named).resolve()
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "dvc.yaml").is_file() and (folder / "params.yaml").is_file():
            return folder
    raise HearsightError("no dvc.yaml and params.yaml here or above", where=here, mend="run inside a Hearsight project")


def dataset_and_stage(folder: Path) -> tuple[str, str]:
    """The dataset and the stage whose output lies in ``folder``."""
    dataset, above = folder.parent, folder.parent.parent
    return (f"{above.parent.name}/{CELLS}/{dataset.name}" if above.name == CELLS else dataset.name), folder.name


def named(name: str) -> tuple[str, str]:
    """The dataset and the stage of an output called ``<dataset>/<stage>``."""
    dataset, _, stage = name.rpartition("/")
    return dataset, stage


def address(dataset: str, stage: str) -> str:
    """What ``dvc repro`` calls the stage that makes an output."""
    return f"{stage}@{dataset.rpartition('/')[2]}"


def check_address(dataset: str, stage: str) -> str:
    """What ``dvc repro`` calls the check of an output."""
    matrix, _, cell = dataset.rpartition("/")
    return f"check-cell@{cell}" if matrix else f"check@{dataset}-{stage}"


def lock_path(root: Path, dataset: str, stage: str) -> Path:
    """The lock that whoever writes an output holds."""
    return root / ".hearsight" / "locks" / f"{dataset.replace('/', '.')}.{stage}.lock"
