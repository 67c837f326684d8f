"""Imports inside functions: each function that has one says why, so that all others stand at the top of their file."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from tests.support import PROJECT

COMMANDS = PROJECT / "components" / "cli"
"""The reason of these is in the package's docstring."""
FILES = sorted(file for folder in ("components", "flows") for file in (PROJECT / folder).rglob("*.py"))


def unexplained(source: str) -> Iterator[str]:
    """Yield each function with imports of which the first has no comment, neither on its line nor above."""
    lines = source.split("\n")
    for function in ast.walk(ast.parse(source)):
        if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
            imports = [node for node in ast.walk(function) if isinstance(node, ast.Import | ast.ImportFrom)]
            if imports and "#" not in lines[imports[0].lineno - 1] and not lines[imports[0].lineno - 2].lstrip().startswith("#"):
                yield f"{function.name}: {ast.unparse(imports[0])}"


def test_a_function_that_imports_without_a_reason_is_reported() -> None:
    assert list(unexplained("def load():\n    import torch\n")) == ["load: import torch"]
    assert not list(unexplained("def load():\n    # On use: slow to load.\n    import torch\n    import numpy\n"))
    assert not list(unexplained("def load():\n    import torch  # here: slow to load\n"))


def test_imports_inside_functions_say_why() -> None:
    assert not [
        f"{file.relative_to(PROJECT)}: {result}"
        for file in FILES
        if COMMANDS not in file.parents
        for result in unexplained(file.read_text(encoding="utf-8"))
    ]
