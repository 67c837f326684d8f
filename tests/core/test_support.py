"""Helpers of tests are in tests/support, or beside the only tests that use them."""

from __future__ import annotations

import ast

import pytest

from tests.support import PROJECT

OPEN = ("tests.support", "tests.fuzz", "tests.faults", "tests.gold", "tests.groups")
"""What any file may import: helpers, and packages that are also run without pytest (``python -m``)."""


def wrong(text: str, folder: str) -> list[str]:
    """Return what a file of ``folder`` imports from other tests: a module of tests, a conftest, a helper of another folder."""
    found = []
    for node in ast.walk(ast.parse(text)):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module:
            for name in (f"{node.module}.{alias.name}" for alias in node.names):
                names.append(name if (PROJECT / name.replace(".", "/")).with_suffix(".py").is_file() else node.module)
        for name in names:
            parent, _, last = name.rpartition(".")
            of_tests = last == "conftest" or last.startswith("test_")
            if name.startswith("tests.") and (of_tests or not (folder in (name, parent) or name.startswith(OPEN))):
                found.append(name)
    return sorted(set(found))


def test_no_file_imports_from_tests_but_from_support_and_its_own_folder():
    paths = [path for folder in ("tests", "benchmarks", "infra") for path in (PROJECT / folder).rglob("*.py")]
    files = {path.relative_to(PROJECT): path.read_text(encoding="utf-8") for path in paths}
    assert {str(path): found for path, text in files.items() if (found := wrong(text, ".".join(path.parent.parts)))} == {}


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("from tests.support.web.raw_web import RawWeb", []),
        ("from tests.app.rating import start", []),
        ("from tests.app.test_start import anything", ["tests.app.test_start"]),
        ("from tests.app import test_start", ["tests.app.test_start"]),
        ("from tests.app.conftest import page", ["tests.app.conftest"]),
        ("from tests.flows.clones import git", ["tests.flows.clones"]),
    ],
)
def test_an_import_from_tests_or_from_another_folder_is_found(line: str, found: list[str]):
    assert wrong(line, "tests.app") == found
