"""Read what one source file imports, and a digest of its code that comments, docstrings and layout do not change.

Parsing all files that a stage reaches takes about a second of CPU, so the facts of a file are kept on disk under the sha256 of
its bytes (``.hearsight/code``). A missing or damaged entry is made again.
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
# A worker forked while another thread parses would otherwise wait for that thread, which does not exist in the worker.
os.register_at_fork(before=_PARSING.acquire, after_in_parent=_PARSING.release, after_in_child=_PARSING.release)

_MODULE_NAME = re.compile(r"(components|flows)(\.[A-Za-z_]\w*)+(:[A-Za-z_]\w*)?")
_LOCATING = {"__file__", "__path__", "__spec__", "resources", "get_data", "getfile", "getsourcefile", "PackageLoader"}
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


class ModuleFacts(NamedTuple):
    """What the digests need of one source file.

    A reference is ``"package.module"`` for ``import package.module`` and for a string constant that names a module of this
    project, and ``"package.module:name"`` for ``from package.module import name``; leading dots mark a relative import.
    """

    digest: str
    """The sha256 of the syntax tree without docstrings."""
    executed: tuple[str, ...]
    """References at module level and in classes: followed whenever the file is executed."""
    called: tuple[str, ...]
    """References inside module-level functions: followed when somebody imports the file by name and can call them."""
    locates: bool
    """Whether it can find files beside code: it names ``__file__``, ``importlib.resources`` or the like."""


def syntax_tree(path: Path) -> ast.Module:
    """Parse a source file, one thread at a time."""
    return parse(path.read_bytes())


def parse(source: bytes) -> ast.Module:
    """Parse source code, one thread at a time.

    CPython 3.11 keeps the depth of the tree it builds in one place for all threads; two parsing at once can raise
    "SystemError: AST constructor recursion depth mismatch".
    """
    with _PARSING:
        return ast.parse(source)


def strip_docstrings(tree: ast.AST) -> ast.AST:
    """Remove the docstrings of a tree in place (comments are not part of a tree)."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, *_FUNCTIONS)):
            node.body = [item for item in node.body if not _is_text(item)] or [ast.Pass()]
    return tree


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def facts_of(source: bytes, folder: Path | None = None) -> ModuleFacts:
    """Return the facts of one file.

    Args:
        source: the file's bytes.
        folder: where facts are kept between processes; None keeps them in this process only.

    Raises:
        SyntaxError: the source is no Python.
    """
    key = hashlib.sha256(_form() + source).hexdigest()
    if key not in _KNOWN:
        entry = folder / key[:2] / f"{key[2:40]}.json" if folder else None
        found = _read(entry) if entry else None
        if found is None:
            found = _made(source)
            if entry:
                _write(entry, found)
        _KNOWN[key] = found
    return _KNOWN[key]


_KNOWN: dict[str, ModuleFacts] = {}


@cache
def _form() -> bytes:
    """What an entry depends on besides the source: this file and the version of Python."""
    return hashlib.sha256(Path(__file__).read_bytes() + sys.version.encode()).digest()


def _made(source: bytes) -> ModuleFacts:
    tree = strip_docstrings(parse(source))
    executed: set[str] = set()
    called: set[str] = set()
    _collect(tree, executed, called)
    locates = any(_LOCATING.intersection(_names(node)) for node in ast.walk(tree))
    return ModuleFacts(
        hashlib.sha256(ast.dump(tree).encode()).hexdigest(), tuple(sorted(executed)), tuple(sorted(called)), locates
    )


def _names(node: ast.AST) -> Iterable[str]:
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Attribute):
        return [node.attr]
    return re.split("[.:]", ":".join(_references(node))) if isinstance(node, (ast.Import, ast.ImportFrom)) else []


def _collect(node: ast.AST, found: set[str], called: set[str]) -> None:
    """Add the references below ``node``: those in functions that are not methods to ``called``, all others to ``found``."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and _is_type_checking(child.test):
            for other in child.orelse:
                _collect(ast.Module([other], []), found, called)
            continue
        if isinstance(child, _FUNCTIONS):
            _collect(child, called, called)
            continue
        found.update(_references(child))
        # An instance of a class travels without an import of its class, so methods count as executed.
        _collect(child, found, found if isinstance(child, ast.ClassDef) else called)


def _is_type_checking(test: ast.expr) -> bool:
    """Whether a condition is false in every run: ``TYPE_CHECKING`` or ``typing.TYPE_CHECKING``."""
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
        kept = json.loads(entry.read_bytes())
        facts = ModuleFacts(kept["digest"], tuple(kept["executed"]), tuple(kept["called"]), bool(kept["locates"]))
        return facts if kept["sum"] == _sum(facts) else None
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _write(entry: Path, facts: ModuleFacts) -> None:
    content = json.dumps({**facts._asdict(), "sum": _sum(facts)}).encode()
    try:
        # Not synced: an entry lost in a power failure is made again.
        publish_bytes(entry, content, durable=False)
    except (OSError, HearsightError):
        pass  # the facts are at hand; a folder that cannot be written costs time only


def _sum(facts: ModuleFacts) -> str:
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()
