"""Shared libraries of Debian packages: those fetched under ``data/packages``, else the system's, of one version.

A fetched package is unpacked, not installed, so the libraries it needs are loaded first, by path. Only an engine's host
loads libraries (``host``); any process may look for them.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

from components.core.addresses import CODE_ROOT, find_root, main_project
from components.core.errors import HearsightError

UNPACKED = Path("data/packages/unpacked")
"""Where ``hearsight data --voices`` puts packages, under the project's root."""
SYSTEM = ("/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")


def find_library(package: str, name: str) -> Path | None:
    """Return the file ``name`` of a package's library folder, or None where it is not available."""
    for home in fetched(UNPACKED / package):
        for path in sorted((home / "usr/lib").glob(f"*/{name}")):
            return path
    for pattern in SYSTEM:
        for path in sorted(Path("/").glob(f"{pattern[1:]}/{name}")):
            return path
    return None


def fetched(place: Path) -> list[Path]:
    """Return the folders that may hold what was fetched into ``place`` of a project: this one, its main one, the code's."""
    return [root / place for root in _roots()]


def _roots() -> list[Path]:
    try:
        return [root := find_root(), main_project(root), CODE_ROOT]
    except HearsightError:
        return [CODE_ROOT]


def load_library(package: str, name: str) -> ctypes.CDLL:
    """Return a library, loaded with global symbols; raise OSError when it is missing or does not load."""
    path = find_library(package, name)
    if path is None:
        raise OSError(f"{name} of the package {package} is missing")
    return ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)


def require_library(package: str, name: str) -> None:
    """Load a library that others depend on: the system's if there is one, else the package's."""
    try:
        ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
    except OSError:
        load_library(package, name)
