"""Shared libraries of Debian packages: those fetched under ``data/packages``, else the system's own, of one version.

A fetched package is unpacked and not installed, so the libraries it needs are loaded before it, by path: the loader then
takes what is there. Only the host of an engine loads anything (``host``); any process may look.
"""

from __future__ import annotations

import ctypes
from pathlib import Path

UNPACKED = Path("data/packages/unpacked")
"""Where ``hearsight data --voices`` puts packages, under the project's root."""
SYSTEM = ("/usr/lib/*-linux-gnu", "/usr/lib64", "/usr/lib", "/usr/local/lib")


def found(package: str, name: str) -> Path | None:
    """Return the file ``name`` of a package's library folder, or None."""
    for root in _roots():
        for path in sorted((root / UNPACKED / package / "usr/lib").glob(f"*/{name}")):
            return path
    for pattern in SYSTEM:
        for path in sorted(Path("/").glob(f"{pattern[1:]}/{name}")):
            return path
    return None


def _roots() -> list[Path]:
    from components.core.errors import HearsightError
    from components.core.graph import find_root

    beside_the_code = Path(__file__).resolve().parents[3]
    try:
        return [find_root(), beside_the_code]
    except HearsightError:
        return [beside_the_code]


def loaded(package: str, name: str) -> ctypes.CDLL:
    """Return the library, loaded so that those loaded later find its symbols; raises OSError when it is nowhere or does not load."""
    path = found(package, name)
    if path is None:
        raise OSError(f"{name} of the package {package} is not there")
    return ctypes.CDLL(str(path), mode=ctypes.RTLD_GLOBAL)


def need(package: str, name: str) -> None:
    """See that a library which others need is loaded: the system's if it has one, else the package's."""
    try:
        ctypes.CDLL(name, mode=ctypes.RTLD_GLOBAL)
    except OSError:
        loaded(package, name)
