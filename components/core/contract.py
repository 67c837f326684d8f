"""The contract between a stage's parts: what holds the same name in different places must be there in all of them.

Stages of dvc.yaml = packages with ``Params`` and ``run`` = schemas = blocks of params.yaml = suites = gates, and the
code a stage declares as its dependency covers what it imports. Read from the files alone: nothing is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from components.core.codeprint import Code, syntax_tree
from components.core.graph import NOT_STAGES, Graph, load_graph
from components.core.params import YAML_LOADER
from components.core.places import CELLS, MATRICES, named
from components.core.records import BOUNDARIES

SHOW_WARNINGS = ("compare", "evaluate", "report", "analyze")
"""Stages whose page shows the warnings of its inputs."""
SHARED = frozenset(
    {
        "audio",
        "calibrate",
        "core",
        "demo",
        "doctor",
        "models",
        "metrics",
        "providers",
        "release",
        "retrieval",
        "search",
        "serve",
        "takedown",
        "training",
    }
)
"""Packages of components that are no stages."""


def problems(root: Path) -> list[str]:
    """Every breach of the contract, one line each, the file at fault named first; empty when it holds."""
    graph = load_graph(root)
    pipeline = yaml.load((root / "dvc.yaml").read_text(), YAML_LOADER)["stages"]
    return [
        *_packages(root, graph),
        *_stage_parts(root, graph),
        *_suites(root, graph),
        *_chain(root, graph),
        *_gates(root, graph),
        *_wiring(root, graph, pipeline),
    ]


def _packages(root: Path, graph: Graph) -> Iterator[str]:
    for folder in sorted(path for path in (root / "components").iterdir() if path.is_dir() and not path.name.startswith("_")):
        if folder.name not in SHARED | NOT_STAGES | set(graph.stages):
            yield f"dvc.yaml: has no stage '{folder.name}' though components/{folder.name} is there"


def _stage_parts(root: Path, graph: Graph) -> Iterator[str]:
    for stage in graph.stages:
        path = root / "components" / stage / "__init__.py"
        name = path.relative_to(root)
        if not path.is_file():
            yield f"{name}: is missing though dvc.yaml has the stage '{stage}'"
            continue
        tree = syntax_tree(path)
        defined = {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}
        for part in sorted({"Params", "run"} - defined):
            yield f"{name}: does not define {part}"
        if not ast.get_docstring(tree):
            yield f"{name}: has no docstring"
        if stage not in BOUNDARIES:
            yield f"components/core/records.py: BOUNDARIES has no schema for '{stage}'"
        if stage not in graph.chain:
            yield f"params.yaml: chain has no '{stage}', so no dataset takes it"


def _suites(root: Path, graph: Graph) -> Iterator[str]:
    suites = {path.stem for path in (root / "expectations").glob("*.json")}
    for stage in graph.stages:
        if stage not in suites:
            yield f"expectations/{stage}.json: is missing though dvc.yaml has the stage '{stage}'"
    for suite in sorted(suites - set(graph.stages)):
        yield f"expectations/{suite}.json: is of no stage of dvc.yaml"


def _chain(root: Path, graph: Graph) -> Iterator[str]:
    for stage, takers in graph.chain.items():
        if stage not in graph.stages:
            yield f"params.yaml: chain.{stage} is no stage of dvc.yaml"
        for dataset, wired in takers.items():
            of = graph.cells[dataset].set if dataset in graph.cells else dataset
            if stage not in (graph.params.get(of) or {}):
                yield f"params.yaml: {of}.{stage} is missing though the chain takes it"
            for name, value in (wired or {}).items():
                source, of = named(str(value))
                if source not in graph.chain.get(of, {}):
                    yield f"params.yaml: chain.{stage}.{dataset}.{name} names '{value}', which nothing makes"
    learnt = {(cell.set, MATRICES[cell.matrix][0]) for cell in graph.cells.values()}
    for dataset in graph.datasets:
        for stage in graph.params.get(dataset) or {}:
            axis = dataset in MATRICES and stage in ("sets", "networks")
            if not axis and dataset not in graph.chain.get(stage, {}) and (dataset, stage) not in learnt:
                yield f"params.yaml: {dataset}.{stage} is set though the chain does not take it"


def _gates(root: Path, graph: Graph) -> Iterator[str]:
    gates: dict[str, Any] = graph.params.get("gates") or {}
    # A cell's gate is made by the matrix of check-cell.
    wanted = {
        f"{dataset}-{stage}": (dataset, stage)
        for stage, takers in graph.chain.items()
        for dataset in takers
        if dataset not in graph.cells
    }
    for name, (dataset, stage) in wanted.items():
        if gates.get(name) != {"dataset": dataset, "boundary": stage}:
            yield f"params.yaml: gates.{name} is missing or does not say dataset {dataset}, boundary {stage}"
    for name in sorted(set(gates) - set(wanted)):
        yield f"params.yaml: gates.{name} is of no stage of the chain"


def _wiring(root: Path, graph: Graph, pipeline: dict[str, Any]) -> Iterator[str]:
    code = Code(root)
    for stage, entry in pipeline.items():
        body = entry.get("do", entry)
        deps = [str(dep) for dep in body.get("deps", [])]
        declared = [root / dep for dep in deps if dep.startswith(("components/", "flows/"))]
        if stage not in NOT_STAGES:
            matrix = next((name for name, (of, _) in MATRICES.items() if of == stage), "")
            dataset = f"{matrix}/{CELLS}/${{item.set}}-${{item.network}}" if matrix else "${key}"
            settings = [f"${{item.set}}.{stage}.training", f"${{item.set}}.{stage}.networks.${{item.network}}"]
            if f"data/{dataset}/{stage}" not in body.get("outs", []):
                yield f"dvc.yaml: {stage} does not give out data/{dataset}/{stage}"
            if body.get("cmd") != f"hearsight run {stage} --dataset {dataset}":
                yield f"dvc.yaml: {stage} is not run by 'hearsight run {stage} --dataset {dataset}'"
            for name in settings if matrix else [f"${{key}}.{stage}"]:
                if name not in body.get("params", []):
                    yield f"dvc.yaml: {stage} does not depend on the parameters {name}"
            yield from _cell_inputs(stage, deps, MATRICES[matrix][1]) if matrix else _inputs(graph, stage, deps)
            if stage in SHOW_WARNINGS:
                yield from _warnings(graph, stage, deps)
        if "meta" not in body:
            yield f"dvc.yaml: {stage} has no meta for the flows"
        sources, data = code.reached(f"components.{stage.partition('-')[0]}")
        for path in sorted(root / file for file in (*sources, *data)):
            if not any(path == code or code in path.parents for code in declared):
                if path.parent == root / "components":
                    continue  # the package's own docstring
                yield f"dvc.yaml: {stage} imports {path.relative_to(root)} but does not depend on it"


def _cell_inputs(stage: str, deps: list[str], reads: str) -> Iterator[str]:
    if f"data/${{item.set}}/{reads}/manifest.json" not in deps:
        yield f"dvc.yaml: {stage} does not depend on its input '{reads}'"
    if f"reports/gates/${{item.set}}/{reads}.json" not in deps:
        yield f"dvc.yaml: {stage} does not wait for the gate of its input"


def _warnings(graph: Graph, stage: str, deps: list[str]) -> Iterator[str]:
    cells = {cell.name: cell.matrix for cell in graph.cells.values()}
    names = {name for wired in graph.chain.get(stage, {}).values() for name in wired or {}}
    shown = {f"{cells[name]}/{CELLS}" if name in cells else f"${{item.{name}}}.json" for name in names}
    for path in sorted(f"reports/warnings/{each}" for each in shown):
        if path not in deps:
            yield f"dvc.yaml: {stage} shows the warnings of its inputs but does not depend on {path}"


def _inputs(graph: Graph, stage: str, deps: list[str]) -> Iterator[str]:
    cells = {cell.name: cell.matrix for cell in graph.cells.values()}
    names = {name for wired in graph.chain.get(stage, {}).values() for name in wired or {}}
    for matrix in sorted({cells[name] for name in names if name in cells}):
        if f"reports/gates/{matrix}/{CELLS}" not in deps:
            yield f"dvc.yaml: {stage} does not wait for the gates of the matrix '{matrix}'"
    for name in sorted(names - set(cells)):
        if not any(dep.startswith(f"data/${{item.{name}}}/") for dep in deps):
            yield f"dvc.yaml: {stage} does not depend on its input '{name}'"
    if graph.chain.get(stage) and any(graph.chain[stage].values()) and "reports/gates/${item.input}.json" not in deps:
        yield f"dvc.yaml: {stage} does not wait for the gate of its input"
