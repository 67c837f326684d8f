"""Find where the parts of a stage disagree: dvc.yaml, its package, schema, suite, settings, chain and code dependencies.

Every stage in dvc.yaml needs a package in ``components/stages`` with ``Params`` and ``run``, a schema, a suite, datasets in
``params.yaml:chain``, and a check. Everything is read from files; nothing is imported.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import yaml

from components.core.addresses import CELLS, MATRICES, MATRIX_SETTINGS, parse_output_name
from components.core.code_digest import Code, syntax_tree
from components.core.graph import CHECK, EVERY_CELL, SHARED, Graph, load_graph
from components.core.params import YAML_LOADER
from components.core.records import OUTPUT_SCHEMAS

SHOW_WARNINGS = ("evaluate_captioners", "evaluate_retrieval", "evaluate_ratings", "report", "posts_report")
"""Stages whose page shows the warnings of its inputs."""
STAGES = Path("components") / "stages"
TEST_SETS = f"{CHECK}test_set"
"""The entry of dvc.yaml that puts gate and warnings of a matrix's test sets into a folder; it runs no code of ours."""

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
        *_checks(graph, pipeline),
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
        tree = syntax_tree(path)
        if "Params" not in _defined(tree):
            yield f"{name}: does not define Params"
        running = path.with_name("run.py")
        if not running.is_file() or "run" not in _defined(syntax_tree(running)):
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
    """Yield disagreements between the chain and the settings of params.yaml."""
    for stage, takers in graph.chain.items():
        if stage not in graph.stages:
            yield f"params.yaml: chain.{stage} is no stage of dvc.yaml"
        for dataset, wired in takers.items():
            block = graph.cells[dataset].set if dataset in graph.cells else dataset
            if stage not in (graph.params.get(block) or {}):
                yield f"params.yaml: {block}.{stage} is missing though the chain takes it"
            for name, value in wired.items():
                source, made_by = parse_output_name(str(value))
                if source not in graph.chain.get(made_by, {}):
                    yield f"params.yaml: chain.{stage}.{dataset}.{name} names '{value}', which no stage produces"
    trained = {(cell.set, MATRICES[cell.matrix][0]) for cell in graph.cells.values()}
    for dataset in graph.datasets:
        for stage in graph.params.get(dataset) or {}:
            axis = dataset in MATRICES and stage in MATRIX_SETTINGS
            if not axis and dataset not in graph.chain.get(stage, {}) and (dataset, stage) not in trained:
                yield f"params.yaml: {dataset}.{stage} is set though the chain does not take it"


def _defined(tree: ast.Module) -> set[str]:
    """The classes and functions of a module."""
    return {node.name for node in tree.body if isinstance(node, (ast.ClassDef, ast.FunctionDef))}


def _checks(graph: Graph, pipeline: dict[str, Any]) -> Iterator[str]:
    for stage in graph.stages:
        name, entry = f"{CHECK}{stage}", pipeline[stage]
        check = pipeline.get(name)
        if check is None:
            yield f"dvc.yaml: has no {name}, the check of {stage}"
            continue
        if any(check.get(over) != entry.get(over) for over in ("foreach", "matrix")):
            yield f"dvc.yaml: {name} does not cover the datasets of {stage}"
        dataset, body = _dataset(stage), check.get("do", check)
        if body.get("cmd") != f"hearsight check {stage} --dataset {dataset}":
            yield f"dvc.yaml: {name} is not run by 'hearsight check {stage} --dataset {dataset}'"
        for dep in (f"data/{dataset}/{stage}{VERSIONED}", f"expectations/{stage}.json"):
            if dep not in body.get("deps", []):
                yield f"dvc.yaml: {name} does not depend on {dep}"
        for out in (f"reports/gates/{dataset}/{stage}.json", f"reports/warnings/{dataset}/{stage}.json"):
            if {out: {"cache": False}} not in body.get("outs", []):
                yield f"dvc.yaml: {name} does not list the output {out} with cache: false"
    for name in sorted(name for name in pipeline if name.startswith(CHECK) and name != TEST_SETS):
        if name.removeprefix(CHECK) not in graph.stages:
            yield f"dvc.yaml: {name} checks no stage"


def _wiring(root: Path, graph: Graph, pipeline: dict[str, Any]) -> Iterator[str]:
    code = Code(root)
    for entry_name, entry in pipeline.items():
        if entry_name == TEST_SETS:
            continue
        stage, body = entry_name.removeprefix(CHECK), entry.get("do", entry)
        deps = [str(dep) for dep in body.get("deps", [])]
        if entry_name == stage:
            yield from _stage_wiring(graph, stage, body, deps)
        package = stage if entry_name == stage else "check"
        yield from _code(root, entry_name, deps, *code.reached(f"components.stages.{package}"))


def _test_sets(pipeline: dict[str, Any]) -> Iterator[str]:
    """A test set that changed, or did not pass its check, has to reach the stage that depends on the folder of test sets."""
    matrix, (_, reads) = next(iter(MATRICES.items()))
    entry = pipeline.get(TEST_SETS) or {}
    body, files = entry.get("do", {}), [f"reports/{kind}/${{item}}/{reads}.json" for kind in ("gates", "warnings")]
    out = "reports/test_sets/${item}.json"
    if entry.get("foreach") != "${tests}":
        yield f"dvc.yaml: {TEST_SETS} does not cover {matrix}.tests"
    if (
        body.get("cmd") != f"cat {' '.join(files)} > {out}"
        or body.get("deps") != files
        or body.get("outs") != [{out: {"cache": False}}]
    ):
        yield f"dvc.yaml: {TEST_SETS} does not write {' and '.join(files)} to {out}"


def _dataset(stage: str) -> str:
    """The dataset of a stage's entry in dvc.yaml."""
    matrix = next((name for name, (of, _) in MATRICES.items() if of == stage), "")
    return f"{matrix}/{CELLS}/${{item.set}}-${{item.network}}" if matrix else "${key}"


def _stage_wiring(graph: Graph, stage: str, body: dict[str, Any], deps: list[str]) -> Iterator[str]:
    dataset = _dataset(stage)
    is_matrix = dataset != "${key}"
    outs = [name for out in body.get("outs", []) for name in (out if isinstance(out, dict) else [out])]
    for out in (f"data/{dataset}/{stage}{VERSIONED}", f"reports/lineage/{dataset}/{stage}.json"):
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
        if value == EVERY_CELL:  # its gates name each model and what it was trained on
            kinds = ("gates", "warnings") if stage in SHOW_WARNINGS else ("gates",)
            for folder in (*(f"reports/{kind}/{name}/{CELLS}" for kind in kinds), "reports/test_sets"):
                if folder not in deps:
                    yield f"dvc.yaml: {stage} does not depend on {folder}"
            continue
        yield from _input(stage, f"${{item.{name}}}", deps, name)


def _input(stage: str, output: str, deps: list[str], name: str) -> Iterator[str]:
    if f"data/{output}{VERSIONED}" not in deps:
        yield f"dvc.yaml: {stage} does not depend on its input '{name}'"
    if stage in SHOW_WARNINGS and f"reports/warnings/{output}.json" not in deps:
        yield f"dvc.yaml: {stage} shows the warnings of its inputs but does not depend on reports/warnings/{output}.json"
    # A check writes gate and warnings at once. ``media`` is exempt: another input of the stage was made from that output.
    checked = {f"reports/{kind}/{output}.json" for kind in ("gates", "warnings")}
    if name != "media" and not checked.intersection(deps):
        yield f"dvc.yaml: {stage} does not wait for the check of its input '{name}'"


def _code(root: Path, entry: str, deps: list[str], sources: list[str], data: list[str]) -> Iterator[str]:
    declared = [Path(dep) for dep in deps if dep.startswith(("components/", "flows/"))]
    for file in sorted(map(Path, (*sources, *data))):
        if not any(file == dep or dep in file.parents for dep in declared) and not _only_docstring(root / file):
            yield f"dvc.yaml: {entry} imports {file} but does not depend on it"


def _only_docstring(path: Path) -> bool:
    """Whether a package's ``__init__`` holds nothing but its description."""
    return path.name == "__init__.py" and all(isinstance(node, ast.Expr) for node in syntax_tree(path).body)
