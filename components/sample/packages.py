"""The sample's material: Debian packages fetched by the machine's own ``apt-get download`` and unpacked, not installed.

Each package is fetched once: its checksum and version are kept in ``data/packages/checksums.json``, and a later call only
compares.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from components.core.digests import sha256_file
from components.core.errors import HearsightError
from components.core.files import disk_error, move_into_place, publish_json, sync

PAGES = ("gimp-help-en", "tuxpaint-stamps-default")
"""Packages of pages and images."""
DICTIONARY = ("wordnet-base",)
"""What the knowledge provider reads; no Python package ships it."""
POSTS = ("gcompris-qt-data",)
"""Described photographs and drawings; with the stamps they become the sample's posts."""
VOICES = ("libflite1", "libasound2")
"""The speech engine Flite, and the only library it links to beside the C library (docs/voices.md)."""
RENAMED = "t64"
"""End of a library's name since its times have 64 bits: Debian 13 and Ubuntu 24.04 have ``libasound2t64``, not ``libasound2``."""
PACKAGES = PAGES + POSTS + DICTIONARY + VOICES
BENCHMARKS = ("python-skimage-doc", "grass-doc", "freedombox-doc-en")
"""More pages and images, which only benchmarks read."""
DOWNLOAD_SECONDS = 1800
MARK = ".unpacked"
"""Written last into an unpacked package: the sha256 of the archive it came from."""
Progress = Callable[..., Iterable[Any]]
IN_CONTAINER = (
    "build and run the container: `docker build -f infra/Containerfile.data -t hearsight-data infra` and "
    '`docker run --rm -v "$PWD:/project" hearsight-data`'
)


def fetch_packages(root: Path, progress: Progress, packages: Sequence[str] = PACKAGES) -> list[str]:
    """See that every package is fetched and unpacked under ``data/packages``; return the names that had to be fetched.

    Raises:
        HearsightError: no Debian tools, no network, no disk, or a package apt does not know.
    """
    home = root / "data" / "packages"
    try:
        home.mkdir(parents=True, exist_ok=True)
        with (home / "lock").open("a+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)  # a second caller waits, and then finds everything there
            known = _checksums(home)
            missing = [name for name in packages if not _whole(home, name, known.get(name))]
            for name in progress(missing, total=len(missing), desc="fetching packages") if missing else []:
                known[name] = _fetch(home, name)
                publish_json(home / "checksums.json", known)
    except OSError as error:
        raise disk_error(error, home) from error
    return missing


def _checksums(home: Path) -> dict[str, dict[str, Any]]:
    path = home / "checksums.json"
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except ValueError:
        print(f"{path}: is not JSON, so the packages are fetched again", flush=True)
        return {}
    return content if isinstance(content, dict) else {}


def _whole(home: Path, name: str, entry: Any) -> bool:
    """Return whether a package is unpacked as recorded; print a line when it was unpacked but is damaged."""
    if not isinstance(entry, dict) or not {"sha256", "version"} <= entry.keys():
        return False
    try:
        return (home / "unpacked" / name / MARK).read_text(encoding="utf-8").strip() == entry["sha256"]
    except (OSError, UnicodeDecodeError):
        print(f"{name}: is not whole under {home}, so it is fetched again", flush=True)
        return False


def _fetch(home: Path, name: str) -> dict[str, Any]:
    """Download (unless a killed call left the archive) and unpack one package; return its checksum entry.

    The archive is removed afterwards, since archives are two thirds as large as their content.
    """
    for tool in ("apt-get", "dpkg", "dpkg-deb"):
        if shutil.which(tool) is None:
            raise HearsightError(f"this machine has no {tool}, so it is not Debian", where=name, hint=IN_CONTAINER)
    # `_download` moves only complete archives there.
    deb = next(iter(sorted((home / "debs").glob(f"{name}_*.deb"))), None) or _download(home, name)
    sha256 = sha256_file(deb)
    version = _run(["dpkg-deb", "--field", str(deb), "Version"], name).strip()
    target, temporary = home / "unpacked" / name, home / "unpacked" / f".{name}.tmp"
    shutil.rmtree(temporary, ignore_errors=True)
    temporary.mkdir(parents=True)
    _run(["dpkg", "-x", str(deb), str(temporary)], name)
    (temporary / MARK).write_text(sha256 + "\n", encoding="utf-8")
    shutil.rmtree(target, ignore_errors=True)
    move_into_place(temporary, target)
    deb.unlink()
    return {"sha256": sha256, "version": version}


def _download(home: Path, name: str) -> Path:
    """Fetch the archive of ``name`` by apt into a temporary folder and move it into place; return its path.

    A release has a library under its name or under its renamed one; the archive gets ``name`` in both cases.
    """
    folder = home / "debs" / f".{name}.tmp"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    if not any(_downloaded(folder, name, known) for known in names_in_releases(name)):
        _run(["apt-get", "update"], name)
        if not any(_downloaded(folder, name, known) for known in names_in_releases(name)):
            raise HearsightError("apt does not know this package", where=name, hint=f"use Debian 12 or 13, or {IN_CONTAINER}")
    archives = sorted(folder.glob("*.deb"))
    if len(archives) != 1:
        raise HearsightError(f"apt-get download left {len(archives)} archives", where=name, hint="run the command again")
    sync(archives[0])
    for old in folder.parent.glob(f"{name}_*.deb"):
        old.unlink()
    target = folder.parent / f"{name}_{archives[0].name.partition('_')[2]}"
    move_into_place(archives[0], target)
    folder.rmdir()
    return target


def names_in_releases(name: str) -> tuple[str, ...]:
    """Return the names under which a release may have a package, the usual one first."""
    return (name, name + RENAMED) if name.startswith("lib") else (name,)


def _downloaded(folder: Path, name: str, known: str) -> bool:
    """Download the package ``name`` under one of its names; return whether apt knows it."""
    try:
        # apt drops its rights to the user _apt, who may not write here; as ourselves it may.
        _run(["apt-get", "download", "-o", "APT::Sandbox::User=", known], name, cwd=folder)
    except _UnknownPackage:
        return False
    return True


class _UnknownPackage(Exception):
    """The package is not in apt's lists, or there are none yet."""


def _run(command: Sequence[str], name: str, cwd: Path | None = None) -> str:
    """Run one of Debian's tools and return its output; raise HearsightError or _UnknownPackage when it fails."""
    try:
        done = subprocess.run(
            command,
            cwd=cwd,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=DOWNLOAD_SECONDS,
            env={**os.environ, "LC_ALL": "C", "DEBIAN_FRONTEND": "noninteractive"},
            check=False,
        )
    except subprocess.TimeoutExpired:
        late = f"{command[0]} took over {DOWNLOAD_SECONDS} s"
        raise HearsightError(late, where=name, hint="check the network and run again") from None
    if done.returncode == 0:
        return done.stdout
    output = done.stderr + done.stdout
    if any(phrase in output for phrase in _UNKNOWN):
        raise _UnknownPackage
    raise _failure(command[0], output, name)


_UNKNOWN = ("Unable to locate package", "has no candidate", "No candidate", "Can't find a source", "Unable to find")
_FULL = ("No space left", "ENOSPC")
_NETWORK = ("resolve", "connect", "Connection", "Failed to fetch", "Network is unreachable", "timed out")


def _failure(tool: str, output: str, name: str) -> HearsightError:
    """Return the error for a tool's output, with a hint."""
    lines = [line.strip() for line in output.splitlines() if line.startswith(("E:", "Err", "dpkg"))] or [output.strip()[-200:]]
    message = lines[0][:200]
    if any(phrase in output for phrase in _FULL):
        return HearsightError(
            "no space is left on the disk", where=name, hint="free about 1 GB and run again; what was fetched stays"
        )
    if any(phrase in output for phrase in _NETWORK):
        hint = "check the network (and apt's proxy) and run again; what was fetched stays"
        return HearsightError(f"cannot be fetched: {message}", where=name, hint=hint)
    if "Permission denied" in output:
        hint = "run `apt-get update` as root once, then this again"
        return HearsightError(f"{tool} lacks permission: {message}", where=name, hint=hint)
    return HearsightError(f"{tool} failed: {message}", where=name, hint="fix that and run again")


def main(root: Path) -> int:
    """Fetch the packages inside the container; return the exit code: 2 after an error, which is printed as one line."""
    try:
        fetched = fetch_packages(root, lambda items, **_: items)
    except HearsightError as error:
        print(error, flush=True)
        return 2
    print(f"fetched {', '.join(fetched)}" if fetched else "nothing to fetch", flush=True)
    return 0
