"""The digest of a stage's code changes with every statement that the stage can run, and with no comment or docstring."""

from __future__ import annotations

import ast
import multiprocessing
import os
import random
import shutil
import threading
from pathlib import Path

import pytest
import yaml

from components.core import code_digest as module
from components.core.code_digest import code_digest, parse
from components.core.errors import HearsightError
from components.core.graph import load_graph
from tests.support import PROJECT
from tests.support.import_graph import files_of_package

DRAWS = 60
CHANGED = "changed_by_a_test = 1"


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    package = tmp_path / "components" / "alpha"
    (package / "data").mkdir(parents=True)
    (package / "__init__.py").write_text('"""Alpha."""\n\ndef one():\n    """One."""\n    return 2 - 1\n')
    (package / "data" / "list.txt").write_text("a")
    (tmp_path / "components" / "beta.py").write_text("def two():\n    return 2\n")
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    "old, new",
    [("return 2", "# why\n    return 2"), ('"""One."""', '"""Another."""'), ('"""Alpha."""', ""), ("2 - 1", "(2-1)")],
)
def test_comments_docstrings_and_layout_change_no_digest(tree, old, new):
    before = code_digest(tree, ["components/alpha"])
    change(tree / "components" / "alpha" / "__init__.py", old, new)
    assert code_digest(tree, ["components/alpha"]) == before


@pytest.mark.parametrize(
    "file, counts",
    [("alpha/__init__.py", True), ("alpha/data/list.txt", True), ("alpha/new.py", True), ("alpha/deep/new.tsv", True),
     ("beta.py", False), ("alpha/.new", False), ("alpha/new.py~", False), ("alpha/__pycache__/new.pyc", False),
     ("alpha/fast.so", False)],
)  # fmt: skip
def test_every_file_below_a_listed_path_counts_and_no_other(tree, file, counts):
    before = code_digest(tree, ["components/alpha"])
    path = tree / "components" / file
    path.parent.mkdir(exist_ok=True)
    with path.open("a") as target:
        target.write("\nNEW = 1\n")
    assert (code_digest(tree, ["components/alpha"]) != before) is counts


def test_a_listed_file_is_digested_alone_and_a_renamed_one_is_another(tree):
    before = code_digest(tree, ["components/beta.py"])
    change(tree / "components" / "alpha" / "__init__.py", "- 1", "- 2")
    assert code_digest(tree, ["components/beta.py"]) == before
    (tree / "components" / "beta.py").rename(tree / "components" / "gamma.py")
    assert code_digest(tree, ["components/gamma.py"]) != before


def test_a_missing_path_and_broken_code_are_named(tree):
    with pytest.raises(HearsightError, match="components/nothing: is missing"):
        code_digest(tree, ["components/nothing"])
    (tree / "components" / "beta.py").write_text("def")
    with pytest.raises(HearsightError, match=r"beta\.py: is not valid Python"):
        code_digest(tree, ["components"])


def test_a_stage_that_lists_no_code_depends_on_all_of_it(tmp_path):
    entries = {"one": {"cmd": "x", "deps": ["components/core", "data/a"]}, "two": {"cmd": "x", "deps": ["data/a"]}, "three": {}}
    (tmp_path / "dvc.yaml").write_text(yaml.safe_dump({"stages": entries}))
    (tmp_path / "params.yaml").write_text("{}")
    graph = load_graph(tmp_path)
    assert [graph.code(stage) for stage in graph.stages] == [["components/core"], ["components"], ["components"]]


def test_cached_digests_equal_computed_ones_and_damaged_ones_are_computed_again(tree, monkeypatch):
    def anew() -> str:
        monkeypatch.setattr(module, "_DIGESTS", {})
        return code_digest(tree, ["components/beta.py"], tree / "state")

    made = anew()
    [entry] = (path for path in (tree / "state").rglob("*") if path.is_file())
    whole = entry.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(module, "parse", None)  # nothing is parsed when the entry is whole
        assert anew() == made
    for damaged in (b"", b"\xff", whole[:-20], b"0" + whole, whole[:9] + b"123456789" + whole[18:]):
        entry.write_bytes(damaged)
        assert anew() == made
        assert entry.read_bytes() == whole


def test_code_is_digested_without_a_writable_cache_folder(tree, monkeypatch):
    monkeypatch.setattr(module, "_DIGESTS", {})
    (tree / "state").write_text("")
    assert code_digest(tree, ["components"], tree / "state") == code_digest(tree, ["components"])


def inserted(source: str, line: str, draw: random.Random) -> str:
    """Return source code with a line before a statement drawn from all of its functions, classes and module level."""
    lines = source.splitlines(keepends=True)
    places = [
        node
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.stmt)
        and not lines[node.lineno - 1][: node.col_offset].strip()
        and not (isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef) and node.decorator_list)
        and not (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
        and not (isinstance(node, ast.ImportFrom) and node.module == "__future__")
        and not lines[node.lineno - 1].lstrip().startswith("elif ")
    ]
    if not places:
        return f"{source}\n{line}\n"
    place = draw.choice(places)
    lines.insert(place.lineno - 1, f"{' ' * place.col_offset}{line}\n")
    return "".join(lines)


def test_a_changed_statement_of_any_module_that_a_stage_imports_changes_its_key_and_a_comment_does_not(tmp_path):
    shutil.copytree(PROJECT / "components", tmp_path / "components", ignore=shutil.ignore_patterns("__pycache__", "*.so"))
    graph, draw = load_graph(PROJECT), random.Random(33)
    digests = {stage: code_digest(tmp_path, graph.code(stage)) for stage in graph.stages}
    files = {stage: sorted(files_of_package(f"components.stages.{stage}")) for stage in graph.stages}
    for _ in range(DRAWS):
        stage = draw.choice(graph.stages)
        path = tmp_path / draw.choice(files[stage])
        source = path.read_text()
        path.write_text(inserted(source, CHANGED, draw))
        assert code_digest(tmp_path, graph.code(stage)) != digests[stage], f"{stage}: {path.relative_to(tmp_path)}"
        path.write_text(inserted(source, "# a comment", draw))
        assert code_digest(tmp_path, graph.code(stage)) == digests[stage]
        path.write_text(source)


def test_a_process_forked_while_a_thread_parses_can_parse() -> None:
    largest, over = max((PROJECT / "components").rglob("*.py"), key=lambda path: path.stat().st_size), threading.Event()

    def parse_on() -> None:
        while not over.is_set():
            parse(largest.read_bytes())

    def parse_and_leave() -> None:
        parse(largest.read_bytes())
        os._exit(0)  # at once: what earlier tests left to be done at an exit is not this one's

    thread = threading.Thread(target=parse_on)
    thread.start()
    try:
        for _ in range(5):
            child = multiprocessing.get_context("fork").Process(target=parse_and_leave)
            child.start()
            child.join(60)
            code = child.exitcode
            child.kill()
            assert code == 0
    finally:
        over.set()
        thread.join()
