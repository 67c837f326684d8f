"""Names and paths of stage outputs, and the names of their stages in DVC.

The output of a stage is ``data/<dataset>/<stage>``. The cells of a matrix have one folder level more, below the matrix's name
(``data/captioners/cells/english-t2t8x8/train_captioner``); DVC names their stages by the cell alone
(``train_captioner@english-t2t8x8``).
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from components.core.errors import HearsightError

MATRICES = {"captioners": ("train_captioner", "extract_features")}
"""Matrix (a file of ``datasets`` and a folder of ``data``) → the stage run for each cell, and the stage whose output it reads."""
MATRIX_SETTINGS = ("sets", "tests", "networks", "shared")
"""Keys of a matrix in its file: datasets of its cells, those that only test them, networks, and settings of networks by name."""
CELLS = "cells"
"""The folder of a matrix's cells; part of their dataset names."""

LINEAGE = "lineage.json"
"""The artifact name of an output's lineage in MLflow, beside ``manifest.json``."""
PREPARED_FILE = "prepared.json"
"""File of ``extract_features``: which captions are learned, and the encoder that made the features."""

RETRIEVED_FILE = "top.parquet"
"""File of ``evaluate_retrieval``: the best items of each query, which people rate."""


def find_root() -> Path:
    """Return the project's root: ``HEARSIGHT_ROOT``, or the nearest folder upwards that holds dvc.yaml and params.yaml.

    In a queued experiment of ``dvc exp`` it is the experiment's checkout, whatever the variable says.

    Raises:
        HearsightError: no folder above holds both files.
    """
    current = Path.cwd().resolve()
    if (configured := os.environ.get("HEARSIGHT_ROOT")) and main_project(current) == current:
        return Path(configured).resolve()
    for folder in (current, *current.parents):
        if (folder / "dvc.yaml").is_file() and (folder / "params.yaml").is_file():
            return folder
    raise HearsightError("no dvc.yaml and params.yaml here or above", where=current, hint="run inside a Hearsight project")


def main_project(project: Path) -> Path:
    """Return the project that a queued experiment of ``dvc exp`` was started in; of any other project, itself.

    DVC runs such an experiment in another checkout, ``<project>/.dvc/tmp/exps/<name>``.
    """
    for folder in project.parents:
        if (folder.name, folder.parent.name) == ("tmp", ".dvc"):
            return folder.parent.parent
    return project


def state_folder(project: Path) -> Path:
    """Return the folder of caches and scratch files: ``.hearsight`` of the main project."""
    return main_project(project) / ".hearsight"


def share_main_project(project: Path) -> None:
    """Let a queued experiment use what git does not track of the main project: caches, answers of the web, and the sample."""
    main = main_project(project)
    if main == project:
        return
    for name in (".hearsight", "data/store", "data/packages"):
        (main / name).mkdir(parents=True, exist_ok=True)
        (project / name).parent.mkdir(parents=True, exist_ok=True)
        with suppress(FileExistsError):
            (project / name).symlink_to(main / name, target_is_directory=True)


def parse_output_path(folder: Path) -> tuple[str, str]:
    """Return the dataset and the stage of the output folder ``folder``."""
    dataset, parent = folder.parent, folder.parent.parent
    return (f"{parent.parent.name}/{CELLS}/{dataset.name}" if parent.name == CELLS else dataset.name), folder.name


def parse_output_name(name: str) -> tuple[str, str]:
    """Return the dataset and the stage of the output name ``<dataset>/<stage>``."""
    dataset, _, stage = name.rpartition("/")
    return dataset, stage


def stage_address(dataset: str, stage: str) -> str:
    """Return the name for ``dvc repro`` of the stage that writes an output: ``<stage>@<dataset>``."""
    return f"{stage}@{dataset.rpartition('/')[2]}"


def check_stage_address(dataset: str, stage: str) -> str:
    """Return the name for ``dvc repro`` of the check of an output: ``check-<stage>@<dataset>``."""
    return f"check-{stage_address(dataset, stage)}"


def lineage_path(folder: Path) -> Path:
    """Return the lineage file of the output in ``folder``: ``reports/lineage/<dataset>/<stage>.json``.

    It is outside the output's folder: a new lineage of equal content reruns no later stage.
    """
    dataset, stage = parse_output_path(folder)
    root = folder.parents[dataset.count("/") + 2]
    return root / "reports" / "lineage" / dataset / f"{stage}.json"


def lock_path(root: Path, dataset: str, stage: str) -> Path:
    """Return the path of the lock that the writer of an output holds."""
    return root / ".hearsight" / "locks" / f"{dataset.replace('/', '.')}.{stage}.lock"
