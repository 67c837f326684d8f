"""Names and paths of stage outputs, and the names of their stages in DVC.

The output of a stage is ``data/<dataset>/<stage>``. The cells of a matrix have one folder level more, below the matrix's name
(``data/captioners/cells/english-t2t8x8/train_captioner``); DVC names their stages by the cell alone
(``train_captioner@english-t2t8x8``). A stage writes into the draft of its output, the folder ``<stage>.draft`` beside it, which
becomes the output when it has passed its check.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path

from components.core.errors import HearsightError

MATRICES = {"captioners": ("train_captioner", "extract_features")}
"""Matrix (a file of ``datasets`` and a folder of ``data``) → the stage run for each cell, and the stage whose output it reads."""
MATRIX_SETTINGS = ("sets", "tests", "networks", "shared")
"""Keys of a matrix in its file: datasets of its cells, those that only test them, networks, and settings of networks by name."""
CELLS = "cells"
"""The folder of a matrix's cells; part of their dataset names."""
DRAFT = ".draft"
"""Ending of the folder that a stage writes, until it has passed its check."""

CODE_ROOT = Path(__file__).resolve().parents[2]
"""The folder of the ``components`` that run here."""
STATE = ".hearsight"
"""The folder of caches, scratch files, locks and logs in a project."""
LINEAGE = "lineage.json"
"""The artifact name of an output's lineage in MLflow, beside ``manifest.json``."""
PREPARED_FILE = "prepared.json"
"""File of ``extract_features``: which captions are learned, and the encoder that made the features."""

RETRIEVED_FILE = "top.parquet"
"""File of ``evaluate_retrieval``: the best items of each query, which people rate."""

FUNNEL = ("filter", "hypernymize", "extract_descriptions", "dedup", "split")
"""The stages that drop records. Their metric is the number of records that they keep: ``kept`` of the last, others by name."""
COMPARED = (*FUNNEL, "evaluate_speech", "evaluate_captioners", "evaluate_retrieval", "evaluate_ratings")
"""The stages with metrics of DVC (:func:`metrics_path`)."""


def find_root() -> Path:
    """Return the project's root: ``HEARSIGHT_ROOT``, or the nearest folder upwards that holds dvc.yaml and params.yaml.

    In a queued experiment of ``dvc exp`` it is the experiment's checkout, whatever the variable says.

    Raises:
        HearsightError: no folder above holds both files.
    """
    current = Path.cwd().resolve()
    if (configured := os.environ.get("HEARSIGHT_ROOT")) and main_project(current) == current:
        return Path(configured).resolve()
    if root := enclosing_project(current):
        return root
    raise HearsightError("no dvc.yaml and params.yaml here or above", where=current, hint="run inside a Hearsight project")


def enclosing_project(path: Path) -> Path | None:
    """Return the nearest folder from an absolute ``path`` upwards that holds dvc.yaml and params.yaml; None without one."""
    folders = (path, *path.parents)
    return next((each for each in folders if (each / "dvc.yaml").is_file() and (each / "params.yaml").is_file()), None)


def code_path(environment: Mapping[str, str]) -> str:
    """Return the ``PYTHONPATH`` of a process that runs this code: its folder, then what ``environment`` has there."""
    return os.pathsep.join(filter(None, [str(CODE_ROOT), environment.get("PYTHONPATH", "")]))


def main_project(project: Path) -> Path:
    """Return the project that keeps the caches, ``data/store`` and ``data/packages`` of ``project``.

    It is ``project`` itself, or for an experiment, whose files DVC copies into ``.dvc/tmp``, the project below which it runs.
    """
    for folder in project.absolute().parents:
        if folder.name == "tmp" and folder.parent.name == ".dvc":
            return folder.parent.parent
    return project


def state_folder(project: Path) -> Path:
    """Return the folder of the caches of ``project``: ``.hearsight`` of its :func:`main_project`."""
    return main_project(project) / STATE


def share_state(project: Path) -> None:
    """Link the folder of caches, scratch files, locks and logs into an experiment's checkout."""
    if main_project(project) != project:
        state_folder(project).mkdir(exist_ok=True)
        with suppress(FileExistsError):
            (project / STATE).symlink_to(state_folder(project), target_is_directory=True)


def installed_file(project: Path, path: str | Path) -> Path:
    """Return the file that a setting of ``project`` names: in the project, or in ``data/packages`` of another place.

    Git and DVC know nothing of ``data/packages``, so an experiment has it in its :func:`main_project` alone, and a new project
    where the code is.
    """
    places = [folder / path for folder in (project, main_project(project), CODE_ROOT)]
    return next((place for place in places if place.exists()), places[0])


def parse_output_path(folder: Path) -> tuple[str, str]:
    """Return the dataset and the stage of the output folder ``folder``, or of an output's draft."""
    dataset, parent = folder.parent, folder.parent.parent
    stage = folder.name.removesuffix(DRAFT)
    return (f"{parent.parent.name}/{CELLS}/{dataset.name}" if parent.name == CELLS else dataset.name), stage


def draft_path(folder: Path) -> Path:
    """Return the draft of the output in ``folder``."""
    return folder.with_name(f"{folder.name}{DRAFT}")


def output_root(folder: Path) -> Path:
    """Return the project of the output folder ``folder``, for readers that know an output alone."""
    dataset, _ = parse_output_path(folder)
    return folder.parents[dataset.count("/") + 2]


def parse_output_name(name: str) -> tuple[str, str]:
    """Return the dataset and the stage of the output name ``<dataset>/<stage>``."""
    dataset, _, stage = name.rpartition("/")
    return dataset, stage


def stage_address(dataset: str, stage: str) -> str:
    """Return the name for ``dvc repro`` of the stage that writes an output: ``<stage>@<dataset>``."""
    return f"{stage}@{dataset.rpartition('/')[2]}"


def lineage_path(folder: Path) -> Path:
    """Return the lineage file of the output in ``folder``: ``reports/lineage/<dataset>/<stage>.json``.

    It is outside the output's folder: a new lineage of equal content reruns no later stage.
    """
    dataset, stage = parse_output_path(folder)
    return output_root(folder) / "reports" / "lineage" / dataset / f"{stage}.json"


def metrics_path(root: Path, dataset: str, stage: str) -> Path:
    """Return the file of a stage's main figures, which DVC compares: ``reports/<dataset>/<stage>.json``."""
    return root / "reports" / dataset / f"{stage}.json"


def docs_folder(root: Path, dataset: str, stage: str) -> Path:
    """Return the folder of an output's Data Docs, beside its lineage: an edited suite changes no output."""
    return root / "reports" / "data_docs" / dataset / stage


def lock_path(root: Path, dataset: str, stage: str) -> Path:
    """Return the path of the lock that the writer of an output holds."""
    return root / ".hearsight" / "locks" / f"{dataset.replace('/', '.')}.{stage}.lock"
