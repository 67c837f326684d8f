"""Checks of the sample's packages: which are fetched, and whether the others can be (apt, its lists)."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

from components.language.wordnet import PLACE, VARIABLE
from components.sample.packages import DICTIONARY, IN_CONTAINER, MARK, PACKAGES
from components.tools.doctor.finding import MISSING, OK, WARNING, Finding, run_tool

FETCH = "make data"


def packages(root: Path) -> list[Finding]:
    """Check the packages and the dictionary, and where some are still to be fetched, apt."""
    to_fetch = [name for name in PACKAGES if not _fetched(root, name)]
    return [_dictionary(root), *_pages(to_fetch), *_apt(to_fetch)]


def _fetched(root: Path, name: str) -> bool:
    """Return whether a package is recorded and unpacked; ``hearsight data`` compares its checksum."""
    home = root / "data" / "packages"
    try:
        recorded = json.loads((home / "checksums.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(recorded, dict) and name in recorded and (home / "unpacked" / name / MARK).is_file()


def _dictionary(root: Path) -> Finding:
    folder = Path(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else root / PLACE
    if all((folder / file).is_file() for file in ("data.noun", "index.noun")):
        return Finding(OK, "dictionary", "WordNet")
    return Finding(WARNING, "dictionary", "not fetched: `hearsight try` needs it", f"hearsight data --dictionary ({FETCH} too)")


def _pages(to_fetch: list[str]) -> list[Finding]:
    if not to_fetch:
        return [Finding(OK, "sample packages", f"all {len(PACKAGES)} are fetched")]
    return [Finding(WARNING, "sample packages", f"{len(to_fetch)} of {len(PACKAGES)} are to be fetched (260 MB at most)", FETCH)]


def _apt(to_fetch: list[str]) -> list[Finding]:
    """Check the tools for fetching, and that they have package lists."""
    absent = [tool for tool in ("apt-get", "dpkg", "dpkg-deb") if shutil.which(tool) is None]
    if absent and to_fetch:
        return [Finding(MISSING, "apt", f"no {', '.join(absent)}: this is not Debian", IN_CONTAINER)]
    if not to_fetch:
        return [Finding(OK, "apt", "not needed any more")]
    done = run_tool(["apt-get", "download", "--print-uris", *DICTIONARY], 30)
    address = done is not None and done.returncode == 0 and "'" in done.stdout
    if not address and os.geteuid() != 0:
        return [Finding(MISSING, "apt", "has no package lists yet, which only root can fetch", "sudo apt-get update")]
    return [Finding(OK, "apt", "apt-get is here" if address else "apt-get is here; package lists are fetched first")]
