"""Write a release's folder atomically, with checksums, and never overwrite a different one."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from components.core import files
from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.machine import process_exists

SUMS = "SHA256SUMS"
"""File with the sha256 of every other file, in the format of ``sha256sum --check``."""
T = TypeVar("T")


def publish_folder(out: Path, fill: Callable[[Path], T]) -> tuple[T, bool]:
    """Let ``fill`` write files into a new folder, add their digests, and rename it to ``out``.

    Returns:
        What ``fill`` returned, and whether ``out`` is new: False when an equal one was there.

    Raises:
        HearsightError: ``out`` holds something else, which is left as it is; the disk is full or not writable.
    """
    out = out.resolve()
    _sweep(out)
    made: list[T] = []

    def fill_and_sum(folder: Path) -> None:
        made.append(fill(folder))
        (folder / SUMS).write_text(checksums(folder), encoding="utf-8")

    def same(folder: Path) -> bool:
        require_same(out, folder)
        return True

    new = files.publish_folder(out, fill_and_sum, same)
    return made[0], new


def checksums(folder: Path) -> str:
    """Return the content of :data:`SUMS`: a line per file, sorted by path."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return "".join(f"{sha256_file(folder / name)}  {name}\n" for name in names if name != SUMS)


def find_damage(folder: Path) -> list[str]:
    """Return a line for each file of a release that is missing, unlisted, or has another digest; empty for a whole release."""
    try:
        listed = read_sums(folder)
    except (OSError, UnicodeDecodeError):
        return [f"{SUMS} cannot be read"]
    present = {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file() and not path.is_symlink()}
    lines = [f"{name} is missing" for name in sorted(listed.keys() - present)]
    lines += [f"{name} is not listed in {SUMS}" for name in sorted(present - listed.keys() - {SUMS})]
    lines += [
        f"{name} is not the file that was released"
        for name in sorted(listed.keys() & present)
        if sha256_file(folder / name) != listed[name]
    ]
    return lines or ([] if listed else [f"{SUMS} lists no file"])


def read_sums(folder: Path) -> dict[str, str]:
    """Return file → sha256 as :data:`SUMS` of a release lists them."""
    return _by_name((folder / SUMS).read_text(encoding="utf-8"))


def require_same(out: Path, new: Path) -> None:
    """Compare the folder ``out`` with the new release.

    Raises:
        HearsightError: they differ; names the first file that does.
    """
    hint = "write to another folder, or remove this one first"
    if not (out / SUMS).is_file():
        raise HearsightError("is there already and is no release", where=out, hint=hint)
    old_sums, new_sums = _by_name(checksums(out)), _by_name(checksums(new))
    if (out / SUMS).read_bytes() != (new / SUMS).read_bytes() or old_sums != new_sums:
        differing = sorted(n for n in old_sums.keys() | new_sums.keys() if old_sums.get(n) != new_sums.get(n)) or [SUMS]
        more = f" and {len(differing) - 1} more" if len(differing) > 1 else ""
        raise HearsightError(f"holds another release: {differing[0]}{more} would differ", where=out, hint=hint)


def _by_name(text: str) -> dict[str, str]:
    return {name: digest for digest, _, name in (line.partition("  ") for line in text.splitlines())}


def _sweep(out: Path) -> None:
    """Remove the temporary folders that killed releases to the same folder left."""
    for path in out.parent.glob(f".{out.name}.*.tmp"):
        pid = path.name.split(".")[-2]
        if pid.isdigit() and not process_exists(int(pid)):
            shutil.rmtree(path, ignore_errors=True)
