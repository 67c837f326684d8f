"""A folder that appears whole or not at all, and is never overwritten by another."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from components.core import files
from components.core.digests import sha256_file
from components.core.errors import HearsightError

SUMS = "SHA256SUMS"
"""The digest of every other file, as ``sha256sum --check`` reads it."""
T = TypeVar("T")


def publish_folder(out: Path, fill: Callable[[Path], T]) -> tuple[T, bool]:
    """Let ``fill`` write files into a new folder, add their digests, and rename it to ``out``.

    Returns:
        What ``fill`` returned, and whether ``out`` is new: False when the very same was there.

    Raises:
        HearsightError: ``out`` holds something else, which is left as it is; the disk is full or not writable.
    """
    out = out.resolve()
    _sweep(out)
    made: list[T] = []

    def fill_and_sum(folder: Path) -> None:
        made.append(fill(folder))
        (folder / SUMS).write_text(sums(folder), encoding="utf-8")

    def same(folder: Path) -> bool:
        require_same(out, folder)
        return True

    new = files.publish_folder(out, fill_and_sum, same)
    return made[0], new


def sums(folder: Path) -> str:
    """The digests of a folder's files, a line each, by path."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return "".join(f"{sha256_file(folder / name)}  {name}\n" for name in names if name != SUMS)


def require_same(out: Path, new: Path) -> None:
    """Hold what lies at ``out`` to what would be written there.

    Raises:
        HearsightError: it is not the same; names the first file that differs.
    """
    elsewhere = "write to another folder, or remove this one first"
    if not (out / SUMS).is_file():
        raise HearsightError("is there already and is no release", where=out, hint=elsewhere)
    was, would = _by_name(sums(out)), _by_name(sums(new))
    if (out / SUMS).read_bytes() != (new / SUMS).read_bytes() or was != would:
        differing = sorted(name for name in was.keys() | would.keys() if was.get(name) != would.get(name)) or [SUMS]
        more = f" and {len(differing) - 1} more" if len(differing) > 1 else ""
        raise HearsightError(f"holds another release: {differing[0]}{more} would differ", where=out, hint=elsewhere)


def _by_name(told: str) -> dict[str, str]:
    return {name: digest for digest, _, name in (line.partition("  ") for line in told.splitlines())}


def _sweep(out: Path) -> None:
    """Remove what killed releases to the same place left half written."""
    for path in out.parent.glob(f".{out.name}.*.tmp"):
        pid = path.name.split(".")[-2]
        if pid.isdigit() and not Path(f"/proc/{pid}").exists():
            shutil.rmtree(path, ignore_errors=True)
