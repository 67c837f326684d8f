"""The graph of stages and datasets, and the paths of their outputs.

``dvc.yaml`` lists the stages; the chain (``params.yaml``, and ``datasets/chain.yaml`` for the user's own datasets) the datasets
of each and their inputs (``<dataset>/<stage>``). A stage of a matrix runs once for each cell: a dataset with the settings of its
set and of its network (:meth:`Graph.block`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from graphlib import TopologicalSorter
from pathlib import Path
from typing import Any

import yaml

from components.core.addresses import CELLS, CODE_ROOT, MATRICES, MATRIX_SETTINGS, find_root, state_folder
from components.core.code_digest import code_digest
from components.core.errors import HearsightError
from components.core.params import OWN_CHAIN, YAML_LOADER, did_you_mean, place, read_params_file

__all__ = ["Cell", "Graph", "find_root", "load_graph"]

EVERY_CELL = f"{next(iter(MATRICES))}/{CELLS}"
"""Value of an input in the chain: every cell of the matrix, the sets that they read, and its test sets. A cell's own dataset name
stands for it alone, its set, and the test sets."""
CODE = ("components", "flows")
"""Folders of the code."""
LIKE = "like"
"""Setting of a network that names an entry of ``shared``, whose settings it takes where it has none."""
SHARED = "shared"
"""Key of a matrix: settings of networks by name."""
MADE = (*CODE, "data", "reports")
"""Folders of the code and of what stages write."""
TEST_SETS = "captioner_test_set"
"""The entry of dvc.yaml that puts the lineage of each test set into a folder; it runs no code of ours."""
LOCK_FILE = "dvc.lock"
NONE = "none"
"""Value of an absent input in the chain. DVC has no optional dependencies, so ``data/none`` stands for it."""


@dataclass(frozen=True)
class Cell:
    """A cell of a matrix: a network, and the dataset it is trained on."""

    matrix: str
    set: str
    network: str

    @property
    def name(self) -> str:
        """The name in dvc.yaml: ``english-t2t8x8``."""
        return f"{self.set}-{self.network}"

    @property
    def dataset(self) -> str:
        """The name as a dataset: ``captioners/cells/english-t2t8x8``."""
        return f"{self.matrix}/{CELLS}/{self.name}"


@dataclass(frozen=True)
class Graph:
    """The stages and the chain of one project."""

    root: Path
    stages: list[str]
    params: dict[str, Any]
    dependencies: dict[str, list[str]] = field(default_factory=dict)
    """Stage → the paths that dvc.yaml names as its dependencies, with ``${...}`` as written there."""

    @cached_property
    def cells(self) -> dict[str, Cell]:
        """Dataset name → cell, for every matrix."""
        cells = [
            Cell(matrix, dataset, network)
            for matrix in MATRICES
            for dataset in (self.params.get(matrix) or {}).get("sets", [])
            for network in (self.params.get(matrix) or {}).get("networks", [])
        ]
        return {cell.dataset: cell for cell in cells}

    @cached_property
    def chain(self) -> dict[str, dict[str, dict[str, str]]]:
        """Stage → dataset → named inputs, with the cells of matrices."""
        chain: dict[str, dict[str, dict[str, str]]] = {}
        for stage, datasets in (self.params.get("chain") or {}).items():
            chain[stage] = {dataset: self._expand_cells(inputs or {}) for dataset, inputs in (datasets or {}).items()}
        for dataset, cell in self.cells.items():
            stage, input_stage = MATRICES[cell.matrix]
            chain.setdefault(stage, {})[dataset] = {"input": f"{cell.set}/{input_stage}"}
        return chain

    def _expand_cells(self, inputs: dict[str, str]) -> dict[str, str]:
        expanded: dict[str, str] = {}
        for name, value in inputs.items():
            if value.startswith(EVERY_CELL):
                matrix = value.partition("/")[0]
                cells = [cell for cell in self.cells.values() if value in (EVERY_CELL, cell.dataset)]
                sets = [*(cell.set for cell in cells), *self.test_sets(matrix)]
                expanded.update({dataset: f"{dataset}/{MATRICES[matrix][1]}" for dataset in sets})
                expanded.update({cell.name: f"{cell.dataset}/{MATRICES[matrix][0]}" for cell in cells})
            elif value != NONE:
                expanded[name] = value
        return expanded

    def test_sets(self, matrix: str) -> list[str]:
        """Return the datasets that the cells of a matrix are tested on besides their own sets: ``<matrix>.tests``."""
        return list((self.params.get(matrix) or {}).get("tests") or [])

    @property
    def datasets(self) -> list[str]:
        """Every dataset of the chain, in order of first appearance."""
        return list(dict.fromkeys(name for datasets in self.chain.values() for name in datasets))

    def stages_of(self, dataset: str) -> list[str]:
        """Return the stages of a dataset, in the order of dvc.yaml."""
        return [stage for stage in self.stages if dataset in self.chain.get(stage, {})]

    def outputs(self) -> Iterator[tuple[str, str, Path]]:
        """Yield (stage, dataset, folder) of every output, dataset by dataset."""
        for dataset in self.datasets:
            for stage in self.stages_of(dataset):
                yield stage, dataset, self.output(stage, dataset)

    def require(self, stage: str, dataset: str) -> None:
        """Raise HearsightError unless ``stage`` exists and runs for ``dataset``."""
        if stage not in self.stages:
            raise HearsightError(
                f"there is no stage '{stage}'", where=self.root / "dvc.yaml", hint=did_you_mean(stage, self.stages)
            )
        if dataset not in self.chain.get(stage, {}):
            if cells := [name for name, cell in self.cells.items() if cell.set == dataset and name in self.chain.get(stage, {})]:
                what = f"the stage '{stage}' runs for each network on '{dataset}'"
                raise HearsightError(what, where=self.root / "dvc.yaml", hint=f"name one of {', '.join(cells)}")
            raise HearsightError(
                f"the stage '{stage}' is not in the chain of dataset '{dataset}'",
                where=self.root / "params.yaml",
                hint=did_you_mean(
                    dataset, list(self.chain.get(stage, {})), f"add a line for it below chain.{stage}, there or in {OWN_CHAIN}"
                ),
            )

    def inputs(self, stage: str, dataset: str) -> dict[str, Path]:
        """Return the folders of a stage's inputs by name; raises as :meth:`require`."""
        self.require(stage, dataset)
        inputs = self.chain[stage][dataset] or {}
        return {name: self.root / "data" / value for name, value in inputs.items()}

    @cached_property
    def reads(self) -> dict[str, list[str]]:
        """Output name → the outputs that its stage reads; every output comes after those."""
        data = self.root / "data"
        named = {
            f"{dataset}/{stage}": [path.relative_to(data).as_posix() for path in self.inputs(stage, dataset).values()]
            for stage, dataset, _ in self.outputs()
        }
        return {name: named[name] for name in TopologicalSorter(named).static_order() if name in named}

    def block(self, stage: str, dataset: str) -> tuple[dict[str, Any], str]:
        """Return the parameters that hold a stage's settings, and the dataset name to look up in them.

        A cell has the settings of its set (``<set>.<stage>``), with the network's entry of ``networks`` as ``network``: what it
        takes by ``like`` from the matrix's ``shared``, and its own settings over that.

        Raises:
            HearsightError: the cell's network has no settings, or ``like`` names none or itself.
        """
        self._require_stages(dataset)
        cell = self.cells.get(dataset)
        if cell is None:
            return self.params, dataset
        block = (self.params.get(cell.set) or {}).get(stage)
        if not isinstance(block, dict) or not isinstance(block.get("networks"), dict):
            return self.params, cell.set  # the settings' parser reports what is missing
        where = place(self.root, cell.set, stage, "networks")
        if (network := block["networks"].get(cell.network)) is None:
            known = ", ".join(block["networks"])
            raise HearsightError(f"network '{cell.network}' has no settings", where=where, hint=f"known are: {known}")
        network = self._resolve_like(cell.matrix, network, f"{where}.{cell.network}", ())
        shared = {name: value for name, value in block.items() if name != "networks"}
        settings = shared | {"name": cell.network, "network": network}
        return {cell.set: {stage: settings}}, cell.set

    def _resolve_like(self, matrix: str, network: Any, where: str, earlier: tuple[str, ...]) -> Any:
        if not isinstance(network, dict) or LIKE not in network:
            return network
        name, shared = network[LIKE], (self.params.get(matrix) or {}).get(SHARED) or {}
        if name in earlier:
            raise HearsightError(f"'{name}' takes its own settings", where=f"{where}.{LIKE}", hint="name another one")
        if name not in shared:
            raise HearsightError(
                f"'{name}' is not in {place(self.root, matrix, SHARED)}",
                where=f"{where}.{LIKE}",
                hint=did_you_mean(str(name), shared),
            )
        taken = self._resolve_like(matrix, shared[name], place(self.root, matrix, SHARED, name), (*earlier, name))
        return merge_settings(taken, {key: value for key, value in network.items() if key != LIKE})

    def _require_stages(self, dataset: str) -> None:
        """Raise HearsightError for a block that names no stage: otherwise a misspelt stage name would be ignored silently."""
        blocks = self.params.get(dataset)
        for name in blocks if isinstance(blocks, dict) else ():
            if name not in self.stages and not (dataset in MATRICES and name in MATRIX_SETTINGS):
                where = place(self.root, dataset, str(name))
                raise HearsightError("does not name a stage of dvc.yaml", where=where, hint=did_you_mean(str(name), self.stages))

    def code(self, stage: str) -> list[str]:
        """Return the paths of a stage's code, as dvc.yaml lists them; all of ``components`` for one that lists none."""
        return [path for path in self.dependencies.get(stage, ()) if path.partition("/")[0] in CODE] or [CODE[0]]

    def code_digest(self, stage: str) -> str:
        """Return the digest of a stage's code as it runs here; raises as :func:`components.core.code_digest.code_digest`."""
        return code_digest(CODE_ROOT, self.code(stage), state_folder(self.root))

    def files(self, stage: str, dataset: str) -> list[str]:
        """Return the paths of a stage's dependencies that are neither code nor outputs of stages, e.g. the takedown list."""
        paths = [path.replace("${key}", dataset) for path in self.dependencies.get(stage, ())]
        return [path for path in paths if path.partition("/")[0] not in MADE and "${" not in path]

    def output(self, stage: str, dataset: str) -> Path:
        """Return the folder of a stage's output."""
        return self.root / "data" / dataset / stage


def merge_settings(base: Mapping[str, Any], over: Mapping[str, Any]) -> dict[str, Any]:
    """Return ``base`` with ``over`` over it: mappings are merged, everything else is replaced."""
    merged = dict(base)
    for name, value in over.items():
        below = base.get(name)
        merged[name] = merge_settings(below, value) if isinstance(below, Mapping) and isinstance(value, Mapping) else value
    return merged


def load_graph(root: Path) -> Graph:
    """Return the graph of the stage names in dvc.yaml, of params.yaml and of the files of datasets.

    Raises:
        HearsightError: a file is missing or unreadable.
    """
    try:
        pipeline = yaml.load((root / "dvc.yaml").read_text(encoding="utf-8"), YAML_LOADER)
        stages = {name: entry for name, entry in pipeline["stages"].items() if name != TEST_SETS}
        dependencies = {name: (entry.get("do") or entry).get("deps") or [] for name, entry in stages.items()}
    except (OSError, yaml.YAMLError, KeyError, TypeError, AttributeError) as error:
        raise HearsightError(f"cannot be read ({error})", where=root / "dvc.yaml", hint="restore it with git") from None
    return Graph(root, list(stages), read_params_file(root / "params.yaml"), dependencies)


def read_lock(text: str | bytes | None, where: str | Path = LOCK_FILE) -> dict[str, Any]:
    """Return stage address → entry of the text of a dvc.lock; none without a text, of a missing file.

    Raises:
        HearsightError: the text is not a dvc.lock.
    """
    if text is None:
        return {}
    try:
        return dict(yaml.load(text, YAML_LOADER)["stages"])
    except (yaml.YAMLError, KeyError, TypeError, ValueError):
        raise HearsightError("is not a dvc.lock", where=where, hint="restore it with git, or run `dvc repro`") from None


def read_lock_of(root: Path) -> dict[str, Any]:
    """Return stage address → entry of a project's dvc.lock; raises as :func:`read_lock`."""
    path = root / LOCK_FILE
    return read_lock(path.read_bytes() if path.is_file() else None, path)
