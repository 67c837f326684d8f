"""Digest of the code that a stage lists in ``dvc.yaml``, which comments, docstrings and layout do not change.

Parsing the code of a stage takes about a second of CPU, so the digest of a file is cached on disk under the sha256 of its bytes
(``.hearsight/code``). A missing or damaged entry is computed again.
"""

from __future__ import annotations

import ast
import hashlib
import os
import sys
import threading
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

from components.core.errors import HearsightError
from components.core.files import publish_bytes

FOLDER = "code"
"""Folder of the cached digests in the folder of the project's caches."""
_NOT_CODE = (".pyc", ".so", ".o", ".pyd")
_PARSING = threading.RLock()
# A worker forked while another thread parses would otherwise inherit a lock that nobody releases.
os.register_at_fork(before=_PARSING.acquire, after_in_parent=_PARSING.release, after_in_child=_PARSING.release)

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


def code_digest(code_root: Path, paths: Iterable[str], state: Path | None = None) -> str:
    """Return the digest of all files below ``paths``: of source files by their syntax trees, of others by their bytes.

    Hidden and compiled files and editors' backups do not count.

    Args:
        code_root: the folder that holds ``components``; ``paths`` are relative to it.
        state: the folder of the project's caches; None caches in this process only.

    Raises:
        HearsightError: a path is missing, or a source file is not valid Python.
    """
    digest = hashlib.sha256()
    for name in sorted({name for path in paths for name in _files(code_root, path)}):
        content = (code_root / name).read_bytes()
        try:
            part = source_digest(content, state) if name.endswith(".py") else hashlib.sha256(content).hexdigest()
        except SyntaxError as error:
            raise HearsightError(f"is not valid Python ({error})", where=code_root / name, hint="correct it") from None
        digest.update(f"{name}\n{part}\n".encode())
    return digest.hexdigest()


def _files(root: Path, path: str) -> Iterator[str]:
    """Yield the files at or below a path, relative to the root."""
    if (root / path).is_file():
        yield path
        return
    if not (root / path).is_dir():
        raise HearsightError("is missing", where=root / path, hint="correct the dependencies of the stage in dvc.yaml")
    for folder, folders, files in os.walk(root / path):
        folders[:] = [name for name in folders if name != "__pycache__" and not name.startswith(".")]
        below = Path(folder).relative_to(root).as_posix()
        yield from (f"{below}/{name}" for name in files if name[0] != "." and name[-1] != "~" and not name.endswith(_NOT_CODE))


def source_digest(source: bytes, state: Path | None = None) -> str:
    """Return the digest of the syntax tree of source code without docstrings; raises SyntaxError.

    Args:
        state: as in :func:`code_digest`.
    """
    key = hashlib.sha256(_version() + source).hexdigest()
    if key not in _DIGESTS:
        entry = state / FOLDER / key[:2] / key[2:40] if state else None
        _DIGESTS[key] = (_read(entry) if entry else "") or _parse_digest(source, entry)
    return _DIGESTS[key]


_DIGESTS: dict[str, str] = {}


@cache
def _version() -> bytes:
    """Return a digest of what an entry depends on besides the source: this file and the version of Python."""
    return hashlib.sha256(Path(__file__).read_bytes() + sys.version.encode()).digest()


def _parse_digest(source: bytes, entry: Path | None) -> str:
    digest = hashlib.sha256(_dump(_strip_docstrings(parse(source))).encode()).hexdigest()
    if entry:
        try:
            publish_bytes(entry, f"{digest} {_checksum(digest)}".encode(), durable=False)  # a lost entry is computed again
        except (OSError, HearsightError):
            pass  # the cache only saves time
    return digest


def _read(entry: Path) -> str:
    """Return the digest in an entry; empty when it is missing or damaged."""
    try:
        digest, _, checksum = entry.read_text(encoding="ascii").partition(" ")
    except (OSError, ValueError):
        return ""
    return digest if checksum == _checksum(digest) else ""


def _checksum(digest: str) -> str:
    return hashlib.sha256(digest.encode()).hexdigest()


def parse(source: bytes) -> ast.Module:
    """Return the syntax tree of source code; only one thread parses at a time.

    CPython 3.11 shares the recursion depth of the parser between threads: two parsing at once can raise
    "SystemError: AST constructor recursion depth mismatch".
    """
    with _PARSING:
        return ast.parse(source)


def _strip_docstrings(tree: ast.AST) -> ast.AST:
    """Remove the docstrings of a tree in place and return it."""
    for node in ast.walk(tree):
        if isinstance(node, (ast.Module, ast.ClassDef, *_FUNCTIONS)):
            node.body = [item for item in node.body if not _is_string(item)] or [ast.Pass()]
    return tree


def _is_string(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


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
