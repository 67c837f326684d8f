"""The imports of the project's modules, read by grimp, with those by a name in a string."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import grimp

from tests.support import PROJECT

PACKAGES = ("components", "flows")
_BY_NAME = re.compile(r"""["']((?:components|flows)(?:\.[A-Za-z_]\w*)+)(?::[A-Za-z_]\w*)?["']""")


@cache
def import_graph() -> grimp.ImportGraph:
    """Return the graph of this project; imports for type checking alone are not in it."""
    graph = grimp.build_graph(*PACKAGES, exclude_type_checking_imports=True, cache_dir=None)
    for module in graph.modules:
        for name in _BY_NAME.findall((PROJECT / file_of(module)).read_text()):
            if name in graph.modules and name != module:
                graph.add_import(importer=module, imported=name)
    return graph


def modules() -> dict[str, Path]:
    """Return dotted name → file of every module."""
    return {module: PROJECT / file_of(module) for module in sorted(import_graph().modules)}


def file_of(module: str) -> str:
    """Return the file of a module, relative to the root."""
    path = module.replace(".", "/")
    return package if (PROJECT / (package := f"{path}/__init__.py")).is_file() else f"{path}.py"


def files_of_package(package: str) -> set[str]:
    """Return the files of a package's modules, of all that they import, and of the packages above that do something."""
    graph = import_graph()
    names = {package} | graph.find_descendants(package) | graph.find_upstream_modules(package, as_package=True)
    above = {parent for name in names for parent in parents(name) if not only_describes(parent)}
    return set(map(file_of, names | above))


def parents(module: str) -> Iterable[str]:
    """Yield the packages that hold a module, whose ``__init__`` its import executes."""
    parts = module.split(".")
    return (".".join(parts[:depth]) for depth in range(1, len(parts)))


@cache
def only_describes(package: str) -> bool:
    """Return whether a package's ``__init__`` holds nothing but its description."""
    return all(isinstance(node, ast.Expr) for node in ast.parse((PROJECT / file_of(package)).read_bytes()).body)
