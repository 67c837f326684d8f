"""Which stages there are, which datasets take them, and where their outputs lie.

``dvc.yaml`` is the only list of stages; ``params.yaml:chain`` says which datasets take a stage and from where
(``<dataset>/<stage>``). The output of a stage is ``data/<dataset>/<stage>``, and a test holds ``dvc.yaml`` to it.
Where a stage is run for every cell of a matrix (each network on each set, say), a cell is a dataset of its own below the
matrix's folder: ``captioners/cells/english-t2t8x8``. Its settings are those of its set, with the network's own
(:meth:`Graph.block`).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import yaml

from components.core.addresses import CELLS, MATRICES, find_root
from components.core.errors import HearsightError
from components.core.params import YAML_LOADER, _did_you_mean, read_params_file

__all__ = ["Cell", "Graph", "find_root", "load_graph"]

CHECK = "check-"
"""How the entries of dvc.yaml begin that check a stage's output: ``check-crawl``."""
EVERY_CELL = "every cell"
"""As an input of params.yaml:chain: the matrix of the input's name, cell by cell, and each set that a cell reads."""
NONE = "none"
"""As an input of the chain: the stage does without it. DVC has no optional dependencies, so ``data/none`` stands for it."""


@dataclass(frozen=True)
class Cell:
    """A place in a matrix: a network, and the set it learns from."""

    matrix: str
    set: str
    network: str

    @property
    def name(self) -> str:
        """As dvc.yaml names it behind the stage: ``english-t2t8x8``."""
        return f"{self.set}-{self.network}"

    @property
    def dataset(self) -> str:
        """As a dataset: ``captioners/cells/english-t2t8x8``."""
        return f"{self.matrix}/{CELLS}/{self.name}"


@dataclass(frozen=True)
class Graph:
    """The stages and the chain of one project."""

    root: Path
    stages: list[str]
    params: dict[str, Any]

    @cached_property
    def cells(self) -> dict[str, Cell]:
        """The cells of every matrix, by the names they have as datasets."""
        found = [
            Cell(matrix, of, network)
            for matrix in MATRICES
            for of in (self.params.get(matrix) or {}).get("sets", [])
            for network in (self.params.get(matrix) or {}).get("networks", [])
        ]
        return {cell.dataset: cell for cell in found}

    @cached_property
    def chain(self) -> dict[str, dict[str, dict[str, str]]]:
        """stage → dataset → named inputs, the cells of matrices among them."""
        chain: dict[str, dict[str, dict[str, str]]] = {}
        for stage, takers in (self.params.get("chain") or {}).items():
            chain[stage] = {dataset: self._with_cells(wired or {}) for dataset, wired in (takers or {}).items()}
        for dataset, cell in self.cells.items():
            stage, reads = MATRICES[cell.matrix]
            chain.setdefault(stage, {})[dataset] = {"input": f"{cell.set}/{reads}"}
        return chain

    def _with_cells(self, wired: dict[str, str]) -> dict[str, str]:
        found: dict[str, str] = {}
        for name, value in wired.items():
            if value == EVERY_CELL:
                mine = [cell for cell in self.cells.values() if cell.matrix == name]
                found.update({cell.set: f"{cell.set}/{MATRICES[name][1]}" for cell in mine})
                found.update({cell.name: f"{cell.dataset}/{MATRICES[name][0]}" for cell in mine})
            elif value != NONE:
                found[name] = value
        return found

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
                f"there is no stage '{stage}'", where=self.root / "dvc.yaml", hint=_did_you_mean(stage, self.stages)
            )
        if dataset not in self.chain.get(stage, {}):
            takers = list(self.chain.get(stage, {}))
            raise HearsightError(
                f"dataset '{dataset}' does not take the stage '{stage}'",
                where=self.root / "params.yaml",
                hint=_did_you_mean(dataset, takers),
            )

    def inputs(self, stage: str, dataset: str) -> dict[str, Path]:
        """The folders of a stage's named inputs."""
        self.require(stage, dataset)
        wired = self.chain[stage][dataset] or {}
        return {name: self.root / "data" / value for name, value in wired.items()}

    def block(self, stage: str, dataset: str) -> tuple[dict[str, Any], str]:
        """The parameters to read a stage's settings from, and the dataset to read there.

        A cell's are those of its set, ``<set>.<stage>``, in which ``networks`` gives way to ``network``: its own entry.

        Raises:
            HearsightError: the dataset has a block that is of no stage, or the cell's network has no entry.
        """
        self._require_stages(dataset)
        cell = self.cells.get(dataset)
        if cell is None:
            return self.params, dataset
        block = (self.params.get(cell.set) or {}).get(stage)
        if not isinstance(block, dict) or not isinstance(block.get("networks"), dict):
            return self.params, cell.set  # what is missing there is told as of any dataset
        own = block["networks"].get(cell.network)
        where = self.root / "params.yaml"
        if own is None:
            known = ", ".join(block["networks"])
            raise HearsightError(
                f"network '{cell.network}' has no settings",
                where=f"{where}: {cell.set}.{stage}.networks",
                hint=f"known are: {known}",
            )
        settings = {name: value for name, value in block.items() if name != "networks"} | {"name": cell.network, "network": own}
        return {cell.set: {stage: settings}}, cell.set

    def _require_stages(self, dataset: str) -> None:
        """Refuse a block that is of no stage: a stage without a block has the defaults, so a misspelt one would be ignored."""
        blocks = self.params.get(dataset)
        for name in blocks if isinstance(blocks, dict) else ():
            if name not in self.stages and not (dataset in MATRICES and name in ("sets", "networks")):
                where = f"{self.root / 'params.yaml'}: {dataset}.{name}"
                raise HearsightError("is of no stage of dvc.yaml", where=where, hint=_did_you_mean(str(name), self.stages))

    def output(self, stage: str, dataset: str) -> Path:
        """The folder of a stage's output."""
        return self.root / "data" / dataset / stage


def load_graph(root: Path) -> Graph:
    """Read dvc.yaml's stage names and params.yaml.

    Raises:
        HearsightError: either file is missing or unreadable.
    """
    try:
        pipeline = yaml.load((root / "dvc.yaml").read_text(encoding="utf-8"), YAML_LOADER)
        stages = [name for name in pipeline["stages"] if not name.startswith(CHECK)]
    except (OSError, yaml.YAMLError, KeyError, TypeError) as error:
        raise HearsightError(f"cannot be read ({error})", where=root / "dvc.yaml", hint="restore it with git") from None
    return Graph(root, stages, read_params_file(root / "params.yaml"))
