"""The digest of code moves with what the code does, and with nothing else."""

from __future__ import annotations

import gc
import multiprocessing
import os
import random
import sys
import threading
import time
from pathlib import Path

import pytest

from components.core import module_facts
from components.core.code_digest import code_digest, reached_files, syntax_tree
from components.core.module_facts import ModuleFacts, read_facts
from tests.support import PROJECT


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    package = tmp_path / "components" / "alpha"
    package.mkdir(parents=True)
    (tmp_path / "components" / "__init__.py").write_text("")
    (package / "__init__.py").write_text(
        '"""Alpha."""\nfrom components.beta import two\n\ndef one():\n    """One."""\n    return two() - 1\n'
    )
    (tmp_path / "components" / "beta.py").write_text("def two():\n    return 2\n")
    return tmp_path


def change(path: Path, old: str, new: str) -> None:
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    "old, new",
    [("return two", "# why\n    return two"), ('"""One."""', '"""Another."""'), ('"""Alpha."""', ""), ("two() - 1", "(two()-1)")],
)
def test_comments_docstrings_and_layout_change_no_digest(tree, old, new):
    before = code_digest(tree, "components.alpha")
    change(tree / "components" / "alpha" / "__init__.py", old, new)
    assert code_digest(tree, "components.alpha") == before


def test_a_changed_line_changes_the_digest(tree):
    before = code_digest(tree, "components.alpha")
    change(tree / "components" / "alpha" / "__init__.py", "- 1", "- 2")
    assert code_digest(tree, "components.alpha") != before


def test_a_changed_line_of_an_imported_module_changes_the_digest(tree):
    before = code_digest(tree, "components.alpha")
    change(tree / "components" / "beta.py", "return 2", "return 3")
    assert code_digest(tree, "components.alpha") != before


def test_changed_data_of_a_package_changes_the_digest(tree):
    data = tree / "components" / "alpha" / "data"
    data.mkdir()
    (data / "list.txt").write_text("a")
    init = tree / "components" / "alpha" / "__init__.py"
    init.write_text(init.read_text() + "\nfrom pathlib import Path\nLIST = Path(__file__).parent / 'data' / 'list.txt'\n")
    before = code_digest(tree, "components.alpha")
    (data / "list.txt").write_text("b")
    assert code_digest(tree, "components.alpha") != before


@pytest.mark.parametrize(
    "line, reached",
    [
        ("from components.gamma import deep", {"gamma/__init__.py", "gamma/deep.py"}),
        ("import components.gamma.deep", {"gamma/__init__.py", "gamma/deep.py"}),
        ("from components.gamma import SHALLOW", {"gamma/__init__.py", "gamma/deep.py", "gamma/other.py", "beta.py"}),
        ("TABLE = {'a': 'components.gamma.deep:DEEP'}", {"gamma/__init__.py", "gamma/deep.py"}),
        ("COMMAND = ['python', '-m', 'components.gamma.deep']", {"gamma/__init__.py", "gamma/deep.py"}),
        ("if TYPE_CHECKING:\n    from components.gamma import deep", set()),
        ("from ..gamma import deep", {"gamma/__init__.py", "gamma/deep.py"}),
        ("def one():\n    from components.gamma import deep", {"gamma/__init__.py", "gamma/deep.py"}),
    ],
)
def test_a_file_reaches_what_its_import_line_names(tree, line, reached):
    alpha, gamma = tree / "components" / "alpha", tree / "components" / "gamma"
    gamma.mkdir()
    (alpha / "__init__.py").write_text(f"{line}\n")
    (gamma / "__init__.py").write_text("SHALLOW = 1\ndef two():\n    from components import beta\n")
    for name in ("deep", "other"):
        (gamma / f"{name}.py").write_text("DEEP = 1\n")
    result = {path.relative_to(tree / "components").as_posix() for path in reached_files(tree, "components.alpha")}
    assert result == {"__init__.py", "alpha/__init__.py"} | reached


def test_a_method_counts_as_executed_with_its_module_and_a_function_does_not(tree):
    package = tree / "components" / "alpha"
    (package / "inner.py").write_text("")
    before = code_digest(tree, "components.alpha.inner")
    change(tree / "components" / "beta.py", "return 2", "return 3")
    assert code_digest(tree, "components.alpha.inner") != before  # imported at the top of the package
    for kind, moves in (("class Of:\n    def", True), ("def outer():\n    def", False)):
        (package / "__init__.py").write_text(f"{kind} one(self):\n        from components.beta import two\n")
        before = code_digest(tree, "components.alpha.inner")
        (tree / "components" / "beta.py").write_text(f"def two():\n    return {moves}\n")
        assert (code_digest(tree, "components.alpha.inner") != before) is moves


def test_cached_module_facts_equal_computed_ones_and_damaged_ones_are_computed_again(tree, monkeypatch):
    source = (tree / "components" / "alpha" / "__init__.py").read_bytes()

    def anew() -> ModuleFacts:
        monkeypatch.setattr(module_facts, "_FACTS", {})
        return read_facts(source, tree / "facts")

    made = anew()
    [entry] = (tree / "facts").rglob("*.json")
    whole = entry.read_bytes()
    with monkeypatch.context() as patch:
        patch.setattr(module_facts, "parse", None)  # nothing is parsed when the entry is whole
        assert anew() == made
    for damaged in (b"", whole[:-20], b"[]", b"{}", whole.replace(made.digest[:9].encode(), b"123456789")):
        entry.write_bytes(damaged)
        assert anew() == made
        assert entry.read_bytes() == whole


def test_module_facts_are_read_without_a_writable_cache_folder(tree, monkeypatch):
    monkeypatch.setattr(module_facts, "_FACTS", {})
    (tree / "facts").write_text("")
    assert read_facts(b"import os\n", tree / "facts").executed == ("os",)


def test_imports_inside_functions_are_reached():
    names = {path.relative_to(PROJECT).as_posix() for path in reached_files(PROJECT, "components.stages.dedup")}
    assert "components/stages/dedup/groups.py" in names
    assert not any(name.startswith("components/stages/crawl/") for name in names)


@pytest.mark.long
def test_threads_that_parse_at_once_all_get_their_trees() -> None:
    files = sorted((PROJECT / "components").rglob("*.py"))
    ended: list[str] = []

    class Swept:
        """Something with a finaliser in a cycle: the collector runs Python in the midst of a parse, where threads then change."""

        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            sum(range(50))

    def parse(depth: int, stop: float) -> None:
        if depth:
            return parse(depth - 1, stop)
        try:
            while time.monotonic() < stop:
                Swept()
                syntax_tree(random.choice(files))
            ended.append("")
        except SystemError as error:
            ended.append(str(error))

    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    try:
        threads = [threading.Thread(target=parse, args=(20 * number, time.monotonic() + 3)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        sys.setswitchinterval(interval)
        gc.set_threshold(*threshold)
    assert ended == [""] * 4


def test_a_process_forked_while_a_thread_parses_can_parse() -> None:
    largest, over = max((PROJECT / "components").rglob("*.py"), key=lambda path: path.stat().st_size), threading.Event()

    def parse() -> None:
        while not over.is_set():
            syntax_tree(largest)

    def parse_and_leave() -> None:
        syntax_tree(largest)
        os._exit(0)  # at once: what earlier tests left to be done at an exit is not this one's

    thread = threading.Thread(target=parse)
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
