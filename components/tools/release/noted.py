"""The list of releases, ``releases.jsonl`` (versioned in git): releases are folders outside of the project, which may be gone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.tools.release.croissant import NAME as CROISSANT
from components.tools.release.notes import SETTINGS
from components.tools.release.publish import SUMS

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
        publish_bytes(root / RELEASES, "".join(json.dumps(each, ensure_ascii=False) + "\n" for each in [*known, new]).encode())


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
