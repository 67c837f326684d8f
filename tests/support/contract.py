"""Find where the parts of a stage disagree: dvc.yaml, its package, schema, suite, settings, chain and code dependencies.

Every stage in dvc.yaml needs a package in ``components/stages`` with ``Params`` and ``run``, a schema, a suite, and datasets in
``params.yaml:chain``. Everything is read from files; nothing is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from components.core.addresses import CELLS, MATRICES, MATRIX_SETTINGS, parse_output_name
from components.core.code_digest import parse
from components.core.graph import EVERY_CELL, SHARED, TEST_SETS, Graph, load_graph
from components.core.params import YAML_LOADER
from components.core.records import OUTPUT_SCHEMAS
from tests.support.import_graph import files_of_package

STAGES = Path("components") / "stages"
TESTS = "reports/captioner_tests"
"""The folder of the lineages of sets that only test captioners."""
VERSIONED = "${storage.versioned}"
"""Ending of every output's path in dvc.yaml: what DVC versions of it."""


def problems(root: Path) -> list[str]:
    """Return one line for each disagreement, the file at fault first; empty when all parts agree."""
    graph = load_graph(root)
    pipeline = yaml.load((root / "dvc.yaml").read_text(), YAML_LOADER)["stages"]
    return [
        *_packages(root, graph),
        *_stage_parts(root, graph),
        *_suites(root, graph),
        *chain_problems(graph),
        *_test_sets(pipeline),
        *_wiring(root, graph, pipeline),
    ]


def _packages(root: Path, graph: Graph) -> Iterator[str]:
    for folder in sorted(path for path in (root / STAGES).iterdir() if path.is_dir() and not path.name.startswith("_")):
        if folder.name not in {"check", *graph.stages}:
            yield f"dvc.yaml: has no stage '{folder.name}' though {STAGES}/{folder.name} exists"


def _stage_parts(root: Path, graph: Graph) -> Iterator[str]:
    for stage in graph.stages:
        name = STAGES / stage / "__init__.py"
        path = root / name
        if not path.is_file():
            yield f"{name}: is missing though dvc.yaml has the stage '{stage}'"
            continue
        tree = parse(path.read_bytes())
        if "Params" not in _defined(tree):
            yield f"{name}: does not define Params"
        running = path.with_name("run.py")
        if not running.is_file() or "run" not in _defined(parse(running.read_bytes())):
            yield f"{STAGES / stage / 'run.py'}: does not define run"
        if not ast.get_docstring(tree):
            yield f"{name}: has no docstring"
        if stage not in OUTPUT_SCHEMAS:
            yield f"components/core/records.py: OUTPUT_SCHEMAS has no schema for '{stage}'"
        if stage not in graph.chain:
            yield f"params.yaml: chain has no '{stage}', so no dataset takes it"


def _suites(root: Path, graph: Graph) -> Iterator[str]:
    suites = {path.stem for path in (root / "expectations").glob("*.json")}
    for stage in graph.stages:
        if stage not in suites:
            yield f"expectations/{stage}.json: is missing though dvc.yaml has the stage '{stage}'"
    for suite in sorted(suites - set(graph.stages)):
        yield f"expectations/{suite}.json: belongs to no stage of dvc.yaml"


def chain_problems(graph: Graph) -> Iterator[str]:
    """Yield disagreements between the chain and the settings of datasets."""
    for stage, takers in graph.chain.items():
        if stage not in graph.stages:
            yield f"params.yaml: chain.{stage} is no stage of dvc.yaml"
        for dataset, wired in takers.items():
            block = graph.cells[dataset].set if dataset in graph.cells else dataset
            if stage not in (graph.params.get(block) or {}):
                yield f"datasets/{block}.yaml: {stage} is missing though the chain takes it"
            for name, value in wired.items():
                source, made_by = parse_output_name(str(value))
                if source not in graph.chain.get(made_by, {}):
                    yield f"params.yaml: chain.{stage}.{dataset}.{name} names '{value}', which no stage produces"
    trained = {(cell.set, MATRICES[cell.matrix][0]) for cell in graph.cells.values()}
    for dataset in graph.datasets:
        for stage in graph.params.get(dataset) or {}:
            axis = dataset in MATRICES and stage in MATRIX_SETTINGS
            if not axis and dataset not in graph.chain.get(stage, {}) and (dataset, stage) not in trained:
                yield f"datasets/{dataset}.yaml: {stage} is set though the chain does not take it"


def _defined(tree: ast.Module) -> set[str]:
    """The classes and functions of a module."""
    return {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}


def _wiring(root: Path, graph: Graph, pipeline: dict[str, Any]) -> Iterator[str]:
    check = files_of_package("components.stages.check")
    for stage in graph.stages:
        body = pipeline[stage].get("do", pipeline[stage])
        deps = [str(dep) for dep in body.get("deps", [])]
        yield from _stage_wiring(graph, stage, body, deps)
        yield from _code(stage, deps, files_of_package(f"components.stages.{stage}") | check)


def _test_sets(pipeline: dict[str, Any]) -> Iterator[str]:
    """A test set that changed has to reach the stage that depends on the folder of test sets."""
    matrix, (_, reads) = next(iter(MATRICES.items()))
    entry = pipeline.get(TEST_SETS) or {}
    body, lineage, out = entry.get("do", {}), f"reports/lineage/${{item}}/{reads}.json", f"{TESTS}/${{item}}.json"
    if entry.get("foreach") != "${tests}":
        yield f"dvc.yaml: {TEST_SETS} does not cover {matrix}.tests"
    if body != {"cmd": f"cp {lineage} {out}", "deps": [lineage], "outs": [{out: {"cache": False}}]}:
        yield f"dvc.yaml: {TEST_SETS} does not copy {lineage} to {out}"


def _dataset(stage: str) -> str:
    """The dataset of a stage's entry in dvc.yaml."""
    matrix = next((name for name, (of, _) in MATRICES.items() if of == stage), "")
    return f"{matrix}/{CELLS}/${{item.set}}-${{item.network}}" if matrix else "${key}"


def _stage_wiring(graph: Graph, stage: str, body: dict[str, Any], deps: list[str]) -> Iterator[str]:
    dataset = _dataset(stage)
    is_matrix = dataset != "${key}"
    outs = [name for out in body.get("outs", []) for name in (out if isinstance(out, dict) else [out])]
    for dep in (f"expectations/{stage}.json", "components/stages/check"):
        if dep not in deps:
            yield f"dvc.yaml: {stage} does not depend on {dep}"
    beside = (f"reports/lineage/{dataset}/{stage}.json", f"reports/data_docs/{dataset}/{stage}")
    for out in (f"data/{dataset}/{stage}{VERSIONED}", *beside):
        if out not in outs:
            yield f"dvc.yaml: {stage} does not give out {out}"
    if body.get("cmd") != f"hearsight run {stage} --dataset {dataset}":
        yield f"dvc.yaml: {stage} is not run by 'hearsight run {stage} --dataset {dataset}'"
    files = {file: names for block in body.get("params", []) if isinstance(block, dict) for file, names in block.items()}
    read = {"datasets/${key}.yaml": [stage]}
    if is_matrix:
        of_cell = [f"{stage}.training", f"{stage}.networks.${{item.network}}"]
        read = {"datasets/${item.set}.yaml": of_cell, "datasets/captioners.yaml": [SHARED]}
    for file, names in read.items():
        for name in names:
            if name not in files.get(file, []):
                yield f"dvc.yaml: {stage} does not depend on the parameters {file}: {name}"
    if "meta" not in body:
        yield f"dvc.yaml: {stage} has no meta for the flows"
    if is_matrix:
        reads = next(reads for of, reads in MATRICES.values() if of == stage)
        yield from _input(stage, "${item.set}/" + reads, deps, reads)
    else:
        yield from _inputs(graph, stage, deps)


def _inputs(graph: Graph, stage: str, deps: list[str]) -> Iterator[str]:
    takers = (graph.params.get("chain") or {}).get(stage) or {}
    values = {name: value for wired in takers.values() for name, value in (wired or {}).items()}
    for name, value in sorted(values.items()):
        if value.startswith(EVERY_CELL):  # its lineages name each model
            for folder in (f"reports/lineage/${{item.{name}}}", TESTS):
                if folder not in deps:
                    yield f"dvc.yaml: {stage} does not depend on {folder}"
            continue
        yield from _input(stage, f"${{item.{name}}}", deps, name)


def _input(stage: str, output: str, deps: list[str], name: str) -> Iterator[str]:
    if f"data/{output}{VERSIONED}" not in deps:
        yield f"dvc.yaml: {stage} does not depend on its input '{name}'"


def _code(entry: str, deps: list[str], files: set[str]) -> Iterator[str]:
    """A stage's key and DVC know the code that the entry lists: all that the stage imports, in whole packages with their data."""
    listed = {dep for dep in deps if dep.startswith(("components/", "flows/"))}
    for file in sorted(files):
        folder = str(Path(file).parent)
        if listed.isdisjoint({folder, *map(str, Path(folder).parents)}):
            yield f"dvc.yaml: {entry} imports {file} but does not depend on {folder}"
    for path in sorted(listed):
        if not any(file.startswith(f"{path}/") for file in files):
            yield f"dvc.yaml: {entry} depends on {path} but imports nothing of it"
