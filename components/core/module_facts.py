"""Imports of one source file, and a digest of its code that comments, docstrings and layout do not change.

Parsing all files that a stage reaches takes about a second of CPU, so the facts of a file are cached on disk under the sha256 of
its bytes (``.hearsight/code``). A missing or damaged entry is computed again.
"""

from __future__ import annotations

import ast
import hashlib
import json
import os
import re
import sys
import threading
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import NamedTuple

from components.core.errors import HearsightError
from components.core.files import publish_bytes

_PARSING = threading.RLock()
# A worker forked while another thread parses would otherwise inherit a lock that nobody releases.
os.register_at_fork(before=_PARSING.acquire, after_in_parent=_PARSING.release, after_in_child=_PARSING.release)

_MODULE_NAME = re.compile(r"(components|flows)(\.[A-Za-z_]\w*)+(:[A-Za-z_]\w*)?")
_LOCATING = {"__file__", "__path__", "__spec__", "resources", "get_data", "getfile", "getsourcefile", "PackageLoader"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class ModuleFacts(NamedTuple):
    """The references and the digest of one source file.

    A reference is ``"package.module"`` for ``import package.module`` and for a string constant that names a module of this
    project, and ``"package.module:name"`` for ``from package.module import name``; leading dots mark a relative import.
    """

    digest: str
    """The sha256 of the syntax tree without docstrings."""
    executed: tuple[str, ...]
    """References at module level and in classes: followed when the file is imported."""
    called: tuple[str, ...]
    """References in module-level functions: followed when the file is imported by name, so that they can be called."""
    locates: bool
    """Whether it can locate data files: it names ``__file__``, ``importlib.resources`` or the like."""


def syntax_tree(path: Path) -> ast.Module:
    """Return the syntax tree of a source file; see :func:`parse`."""
    return parse(path.read_bytes())


def parse(source: bytes) -> ast.Module:
    """Return the syntax tree of source code; only one thread parses at a time.

    CPython 3.11 shares the recursion depth of the parser between threads: two parsing at once can raise
    "SystemError: AST constructor recursion depth mismatch".
    """
    with _PARSING:
        return ast.parse(source)


def strip_docstrings(tree: ast.AST) -> ast.AST:
    """Remove the docstrings of a tree in place and return it."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, *_FUNCTIONS)):
            node.body = [item for item in node.body if not _is_string(item)] or [ast.Pass()]
    return tree


def _is_string(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def read_facts(source: bytes, folder: Path | None = None) -> ModuleFacts:
    """Return the facts of one file.

    Args:
        folder: the cache on disk; None caches in this process only.

    Raises:
        SyntaxError: the source is not valid Python.
    """
    key = hashlib.sha256(_version() + source).hexdigest()
    if key not in _FACTS:
        entry = folder / key[:2] / f"{key[2:40]}.json" if folder else None
        facts = _read(entry) if entry else None
        if facts is None:
            facts = _parse_facts(source)
            if entry:
                _write(entry, facts)
        _FACTS[key] = facts
    return _FACTS[key]


_FACTS: dict[str, ModuleFacts] = {}


@cache
def _version() -> bytes:
    """Return a digest of what an entry depends on besides the source: this file and the version of Python."""
    return hashlib.sha256(Path(__file__).read_bytes() + sys.version.encode()).digest()


def _parse_facts(source: bytes) -> ModuleFacts:
    tree = strip_docstrings(parse(source))
    executed: set[str] = set()
    called: set[str] = set()
    _collect(tree, executed, called)
    locates = any(_LOCATING.intersection(_names(node)) for node in ast.walk(tree))
    return ModuleFacts(hashlib.sha256(_dump(tree).encode()).hexdigest(), tuple(sorted(executed)), tuple(sorted(called)), locates)


def _dump(tree: ast.AST) -> str:
    """Return a syntax tree as text, in the form of Python 3.11 in every version, so that keys are the same in all of them."""
    for node in ast.walk(tree):
        if getattr(node, "type_params", None) == []:
            del node.type_params  # type: ignore[attr-defined]  # a field since 3.12
        if isinstance(node, ast.JoinedStr):  # 3.12 has empty constants in formats
            node.values = [value for value in node.values if getattr(value, "value", None) != ""]
    if sys.version_info >= (3, 13):
        return ast.dump(tree, show_empty=True)
    return ast.dump(tree)


def _names(node: ast.AST) -> Iterable[str]:
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        return [node.attr]
    return re.split("[.:]", ":".join(_references(node))) if isinstance(node, (ast.Import, ast.ImportFrom)) else []


def _collect(node: ast.AST, executed: set[str], called: set[str]) -> None:
    """Add the references below ``node``: those in functions that are not methods to ``called``, all others to ``executed``."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and _is_type_checking(child.test):
            for statement in child.orelse:
                _collect(ast.Module([statement], []), executed, called)
            continue
        if isinstance(child, _FUNCTIONS):
            _collect(child, called, called)
            continue
        executed.update(_references(child))
        # An instance can be passed to a module that does not import its class, so methods count as executed.
        _collect(child, executed, executed if isinstance(child, ast.ClassDef) else called)


def _is_type_checking(test: ast.expr) -> bool:
    """Return whether a condition is ``TYPE_CHECKING`` or ``typing.TYPE_CHECKING``, which is false at run time."""
    return (test.id if isinstance(test, ast.Name) else getattr(test, "attr", "")) == "TYPE_CHECKING"


def _references(node: ast.AST) -> Iterable[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{'.' * node.level}{node.module or ''}:{alias.name}" for alias in node.names]
    if isinstance(node, ast.Constant) and isinstance(node.value, str) and _MODULE_NAME.fullmatch(node.value):
        return [node.value.partition(":")[0]]
    return []


def _read(entry: Path) -> ModuleFacts | None:
    try:
        fields = json.loads(entry.read_bytes())
        facts = ModuleFacts(fields["digest"], tuple(fields["executed"]), tuple(fields["called"]), bool(fields["locates"]))
        return facts if fields["sum"] == _checksum(facts) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(entry: Path, facts: ModuleFacts) -> None:
    content = json.dumps({**facts._asdict(), "sum": _checksum(facts)}).encode()
    try:
        publish_bytes(entry, content, durable=False)  # not synced: a lost entry is computed again
    except (OSError, HearsightError):
        pass  # the cache only saves time


def _checksum(facts: ModuleFacts) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()
