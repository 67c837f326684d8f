"""Write a release's folder atomically, with checksums, never over a different one, and add it to the project's list.

The list, ``releases.jsonl``, is versioned in git: releases are folders outside of the project, which may be gone.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from components.core import files
from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.machine import process_exists
from components.tools.release.croissant import NAME as CROISSANT
from components.tools.release.facts import SETTINGS

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
    for left in out.parent.glob(f".{out.name}.*.tmp"):  # by killed releases to the same folder
        pid = left.name.split(".")[-2]
        if pid.isdigit() and not process_exists(int(pid)):
            shutil.rmtree(left, ignore_errors=True)
    made: list[T] = []

    def fill_and_sum(folder: Path) -> None:
        made.append(fill(folder))
        (folder / SUMS).write_text(checksums(folder), encoding="utf-8")

    new = files.publish_folder(out, fill_and_sum, lambda folder: _is_same(out, folder))
    return made[0], new


def checksums(folder: Path) -> str:
    """Return the content of :data:`SUMS`: a line per file, sorted by path."""
    return "".join(f"{digest}  {name}\n" for name, digest in _digests(folder).items())


def find_damage(folder: Path) -> list[str]:
    """Return a line for each file of a release that is missing, unlisted, or has another digest; empty for a whole release."""
    try:
        listed = read_sums(folder)
    except (OSError, UnicodeDecodeError):
        return [f"{SUMS} cannot be read"]
    present = _digests(folder)
    lines = [f"{name} is missing" for name in sorted(listed.keys() - present)]
    lines += [f"{name} is not listed in {SUMS}" for name in present if name not in listed]
    lines += [f"{name} is not the file that was released" for name in present if listed.get(name, present[name]) != present[name]]
    return lines or ([] if listed else [f"{SUMS} lists no file"])


def read_sums(folder: Path) -> dict[str, str]:
    """Return file → sha256 as :data:`SUMS` of a release lists them."""
    lines = (folder / SUMS).read_text(encoding="utf-8").splitlines()
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def _digests(folder: Path) -> dict[str, str]:
    """Return file → sha256 of all files but :data:`SUMS`, sorted by path; '' of a link, which no release has."""
    paths = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file() or path.is_symlink()}
    return {name: "" if paths[name].is_symlink() else sha256_file(paths[name]) for name in sorted(paths) if name != SUMS}


def _is_same(out: Path, new: Path) -> bool:
    """Return True when ``out`` equals the new release; raise HearsightError naming the first file that differs."""
    hint = "write to another folder, or remove this one first"
    if not (out / SUMS).is_file():
        raise HearsightError("is there already and is no release", where=out, hint=hint)
    old_sums, new_sums = _digests(out), read_sums(new)
    differing = sorted(n for n in old_sums.keys() | new_sums.keys() if old_sums.get(n) != new_sums.get(n))
    if differing or (out / SUMS).read_bytes() != (new / SUMS).read_bytes():
        more = f" and {len(differing) - 1} more" if len(differing) > 1 else ""
        raise HearsightError(f"holds another release: {[*differing, SUMS][0]}{more} would differ", where=out, hint=hint)
    return True


RELEASES = "releases.jsonl"
ENTRY = ("release", "dataset", "version", "sums_sha256", "split")
"""The keys of a line."""


def describe_release(folder: Path) -> dict[str, Any]:
    """Return a release's folder name, dataset, version as its publishers state it, digest of its checksums, and split's digest.

    Raises:
        HearsightError: the folder is no release.
    """
    try:
        settings, about = (json.loads((folder / name).read_bytes()) for name in (SETTINGS, CROISSANT))
        names = {"release": folder.resolve().name, "dataset": settings["dataset"], "version": about.get("version", "")}
        return names | {"sums_sha256": sha256_file(folder / SUMS), "split": settings["split_manifest_sha256"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        raise HearsightError("is no release", where=folder, hint="name a folder that `hearsight release` wrote") from None


def note_release(root: Path, folder: Path) -> None:
    """Add a release to the project's list, once; commit the list, so that a takedown request can name the release."""
    known = list_releases(root)
    if (new := describe_release(folder)) not in known:
        lines = [json.dumps(each, ensure_ascii=False) + "\n" for each in [*known, new]]
        files.publish_bytes(root / RELEASES, "".join(lines).encode())


def list_releases(root: Path) -> list[dict[str, Any]]:
    """Return the entries of the list, as :func:`describe_release` returns them.

    Raises:
        HearsightError: a line is no entry.
    """
    path, releases = root / RELEASES, []
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else (), 1):
        try:
            entry = json.loads(line)
            releases.append({name: str(entry[name]) for name in ENTRY})
        except (ValueError, KeyError, TypeError):
            raise HearsightError("is no release", where=f"{path}: line {number}", hint="restore it from git") from None
    return releases
