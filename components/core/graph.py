"""Which stages there are, which datasets take them, and where their outputs lie.

``dvc.yaml`` is the only list of stages; ``params.yaml:chain`` says which datasets take a stage and from where
(``<dataset>/<stage>``). The output of a stage is ``data/<dataset>/<stage>``, and a test holds ``dvc.yaml`` to it.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from components.core.errors import HearsightError
from components.core.params import _did_you_mean, read_params_file

NOT_STAGES = frozenset({"check"})
"""Entries of dvc.yaml that check a boundary and make none."""


def find_root(start: Path | None = None) -> Path:
    """The project's root: ``HEARSIGHT_ROOT``, or the nearest folder upwards that holds dvc.yaml and params.yaml."""
    if named := os.environ.get("HEARSIGHT_ROOT"):
        return Path(named).resolve()
    here = (start or Path.cwd()).resolve()
    for folder in (here, *here.parents):
        if (folder / "dvc.yaml").is_file() and (folder / "params.yaml").is_file():
            return folder
    raise HearsightError("no dvc.yaml and params.yaml here or above", where=here, mend="run inside a Hearsight project")


@dataclass(frozen=True)
class Graph:
    """The stages and the chain of one project."""

    root: Path
    stages: list[str]
    params: dict[str, Any]

    @property
    def chain(self) -> dict[str, dict[str, dict[str, str]]]:
        """stage → dataset → named inputs."""
        return self.params.get("chain") or {}

    @property
    def datasets(self) -> list[str]:
        """Every dataset of the chain, in the order it first appears."""
        return list(dict.fromkeys(name for takers in self.chain.values() for name in takers))

    def stages_of(self, dataset: str) -> list[str]:
        """The stages a dataset takes, in the order of dvc.yaml."""
        return [stage for stage in self.stages if dataset in self.chain.get(stage, {})]

    def require(self, stage: str, dataset: str) -> None:
        """Raise HearsightError unless ``dataset`` takes ``stage``."""
        if stage not in self.stages:
            raise HearsightError(
                f"there is no stage '{stage}'", where=self.root / "dvc.yaml", mend=_did_you_mean(stage, self.stages)
            )
        if dataset not in self.chain.get(stage, {}):
            takers = list(self.chain.get(stage, {}))
            raise HearsightError(
                f"dataset '{dataset}' does not take the stage '{stage}'",
                where=self.root / "params.yaml",
                mend=_did_you_mean(dataset, takers),
            )

    def inputs(self, stage: str, dataset: str) -> dict[str, Path]:
        """The folders of a stage's named inputs."""
        self.require(stage, dataset)
        wired = self.chain[stage][dataset] or {}
        return {name: self.root / "data" / value for name, value in wired.items() if name != "unused"}

    def output(self, stage: str, dataset: str) -> Path:
        """The folder of a stage's output."""
        return self.root / "data" / dataset / stage


def load_graph(root: Path) -> Graph:
    """Read dvc.yaml's stage names and params.yaml.

    Raises:
        HearsightError: either file is missing or unreadable.
    """
    try:
        pipeline = yaml.safe_load((root / "dvc.yaml").read_text(encoding="utf-8"))
        stages = [name for name in pipeline["stages"] if name not in NOT_STAGES]
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        raise HearsightError(f"cannot be read ({error})", where=root / "dvc.yaml", mend="restore it with git") from None
    return Graph(root, stages, read_params_file(root / "params.yaml"))
