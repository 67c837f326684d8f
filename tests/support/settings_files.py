"""The files of settings of a test's own project."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from components.core.params import FOLDER, OWN_CHAIN, dataset_file, read_params_file, read_yaml
from components.core.yaml_edit import edited_yaml
from tests.support import PROJECT

SHARED = ("chain", "engine", "google", "pools", "release", "schedules", "storage")
"""Keys of params.yaml; every other one is a dataset."""


def write_settings(root: Path, content: Mapping[str, Any]) -> None:
    """Write settings as :func:`read_params_file` returns them: params.yaml, and a file for each dataset."""
    shutil.rmtree(root / FOLDER, ignore_errors=True)
    (root / FOLDER).mkdir(parents=True)
    shared = {name: value for name, value in content.items() if name in SHARED}
    (root / "params.yaml").write_text(yaml.safe_dump(shared, sort_keys=False))
    (root / OWN_CHAIN).write_text("chain: {}\n")
    for name in content.keys() - shared.keys():
        dataset_file(root, name).write_text(yaml.safe_dump(content[name], sort_keys=False))


def edit_settings(root: Path, change: Any) -> None:
    """Write a project's settings anew, changed by ``change(content)``."""
    content = read_params_file(root / "params.yaml")
    change(content)
    write_settings(root, content)


def copy_settings(root: Path, source: Path = PROJECT) -> None:
    """Copy a project's dvc.yaml and settings, without the datasets that its user has added."""
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(source / name, root / name)
    shutil.copytree(source / FOLDER, root / FOLDER, dirs_exist_ok=True)
    takers = (read_yaml(root / OWN_CHAIN).get("chain") or {}).values() if (root / OWN_CHAIN).is_file() else ()
    if own := {name for datasets in takers for name in datasets or {}}:
        (root / OWN_CHAIN).write_text("chain: {}\n")
        for name in own:
            dataset_file(root, name).unlink(missing_ok=True)
        with edited_yaml(dataset_file(root, "captioners")) as content:
            for name in ("sets", "tests"):
                content[name] = [dataset for dataset in content[name] if dataset not in own]


def texts(root: Path) -> dict[str, str]:
    """Return the texts of a project's files of settings by path."""
    files = [root / "params.yaml", *sorted((root / FOLDER).iterdir())]
    return {str(file.relative_to(root)): file.read_text() for file in files}
