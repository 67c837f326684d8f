"""Find the steps of the project, and what they reach, without ``components.core.code_digest``.

An independent implementation for comparison: it reads compiled code with ``modulefinder``, ``code_digest`` reads syntax trees.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from inspect import CO_OPTIMIZED
from modulefinder import ModuleFinder
from pathlib import Path
from types import CodeType

WORKER = "components.execution.shard_worker"
"""Runs every step."""
FINDERS = ("__file__", "resources", "PackageLoader")
"""Names with which a module locates data files."""


def modules(root: Path) -> dict[str, Path]:
    """Dotted name → file of every module."""
    files = sorted(path for top in ("components", "flows") for path in (root / top).rglob("*.py"))
    return {".".join(path.relative_to(root).with_suffix("").parts).removesuffix(".__init__"): path for path in files}


def steps(root: Path) -> dict[str, str]:
    """``file:line`` → module of the function, for each function given to ``Stage.map``, ``jobs`` or ``map_uncached``."""
    result = {}
    for module, path in modules(root).items():
        if b"step=" not in (source := path.read_bytes()):
            continue
        tree = ast.parse(source)
        names = {
            alias.asname or alias.name: (node.module or "", alias.name)
            for node in ast.walk(tree)
            if isinstance(node, ast.ImportFrom)
            for alias in node.names
        }
        for call in ast.walk(tree):
            if (
                isinstance(call, ast.Call)
                and isinstance(call.func, ast.Attribute)
                and call.func.attr in ("map", "jobs", "map_uncached")
                and any(keyword.arg == "step" for keyword in call.keywords)
            ):
                match call.args[0]:
                    case ast.Name(name):
                        of = names[name][0] if name in names else module
                    case ast.Attribute(ast.Name(name)):
                        of = ".".join(names[name])
                    case other:
                        raise AssertionError(f"{path}:{call.lineno}: cannot tell the module of {ast.unparse(other)}")
                result[f"{path.relative_to(root)}:{call.lineno}"] = of
    return result


class Compiled:
    """What each file refers to, read from its compiled code."""

    def __init__(self, root: Path) -> None:
        self.root, self.modules = root, modules(root)
        self.refers = cache(self._refers)

    def reach(self, *names: str) -> set[Path]:
        """The source and data files that the modules reach."""
        seen: dict[str, bool] = {}
        waiting = [(each, True) for name in names for each in self._whole(name)]
        while waiting:
            name, called = waiting.pop()
            if seen.get(name) or (name in seen and not called):
                continue
            seen[name] = called
            waiting += [(name.rsplit(".", up)[0], False) for up in range(1, name.count(".") + 1)]
            waiting += [(each, True) for each in self.refers(name)[0] | (self.refers(name)[1] if called else set())]
        files = {self.modules[name] for name in seen}
        for name in seen:
            package = self.modules[name].parent
            if self.modules[name].name == "__init__.py":
                files |= {path for path in package.iterdir() if path.suffix in (".c", ".h")}
            if any(word in self.modules[name].read_text() for word in FINDERS):
                for near in {package, *(self.modules[each].parent for group in self.refers(name) for each in group)}:
                    files |= {path for path in (near / "data").rglob("*") if path.is_file()}
        return files

    def _whole(self, name: str) -> list[str]:
        path = self.modules[name]
        return (
            [each for each, other in self.modules.items() if other.parent == path.parent] if path.stem == "__init__" else [name]
        )

    def _refers(self, name: str) -> tuple[set[str], set[str]]:
        source = re.sub(r"\bif TYPE_CHECKING:", "if False:", self.modules[name].read_text())
        executed: set[str] = set()
        called: set[str] = set()
        for code, inside in _codes(compile(source, name, "exec"), False):
            (called if inside else executed).update(self._named(code))
        return executed, called

    def _named(self, code: CodeType) -> Iterator[str]:
        for kind, what in ModuleFinder().scan_opcodes(code):
            if kind == "absolute_import":
                chosen, name = what
                for each in chosen or ():
                    if f"{name}.{each}" in self.modules:
                        yield f"{name}.{each}"
                    elif name in self.modules:
                        yield from self._whole(name)
                if not chosen and name in self.modules:
                    yield name
            assert kind != "relative_import", "this project writes absolute imports"
        yield from (text for text in map(_module_of, _texts(code.co_consts)) if text in self.modules and "." in text)


def _codes(code: CodeType, inside: bool) -> Iterator[tuple[CodeType, bool]]:
    """A code object and those in it, each with whether it belongs to a function of the module's own level."""
    yield code, inside
    of_class = not code.co_flags & CO_OPTIMIZED and code.co_name != "<module>"
    for child in code.co_consts:
        if isinstance(child, CodeType):
            function = bool(child.co_flags & CO_OPTIMIZED) and not child.co_name.startswith("<")
            yield from _codes_of_class(child) if of_class else _codes(child, inside or function)


def _codes_of_class(code: CodeType) -> Iterator[tuple[CodeType, bool]]:
    yield code, False
    for child in code.co_consts:
        if isinstance(child, CodeType):
            yield from _codes_of_class(child)


def _module_of(text: str) -> str:
    return text.partition(":")[0]


def _texts(constants: object) -> Iterator[str]:
    if isinstance(constants, str):
        yield constants
    elif isinstance(constants, (tuple, frozenset)):
        for each in constants:
            yield from _texts(each)
