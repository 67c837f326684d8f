"""Checks of the sample's packages: which are fetched, and whether the others can be (apt, its lists, the network)."""

from __future__ import annotations

import json
import os
import shutil
import socket
from pathlib import Path
from urllib.parse import urlsplit

from components.language.wordnet import PLACE, VARIABLE
from components.sample.packages import DICTIONARY, IN_CONTAINER, MARK, PACKAGES
from components.tools.doctor.finding import MISSING, OK, WARNING, Finding, run_tool

FETCH = "make data"
SECONDS = 4.0
"""How long a server may take to accept a connection."""


def packages(root: Path) -> list[Finding]:
    """Check the packages and the dictionary, and where some are still to be fetched, apt and the network."""
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
    """Check the tools for fetching, and that their server accepts connections."""
    absent = [tool for tool in ("apt-get", "dpkg", "dpkg-deb") if shutil.which(tool) is None]
    if absent and to_fetch:
        return [Finding(MISSING, "apt", f"no {', '.join(absent)}: this is not Debian", IN_CONTAINER)]
    if not to_fetch:
        return [Finding(OK, "apt", "not needed any more"), Finding(OK, "network", "not needed any more")]
    output = _run(["apt-get", "download", "--print-uris", *DICTIONARY])
    address = output.split("'")[1] if output.count("'") >= 2 else ""
    if not address and os.geteuid() != 0:
        return [Finding(MISSING, "apt", "has no package lists yet, which only root can fetch", "sudo apt-get update")]
    apt = Finding(OK, "apt", "apt-get is here" if address else "apt-get is here; package lists are fetched first")
    return [apt, _network(_server(address))] if address else [apt]


def _server(address: str) -> tuple[str, int] | None:
    """Return host and port of the download's server, or of apt's proxy; None for local files and unknown proxies."""
    scheme = urlsplit(address).scheme
    setting = _run(["apt-config", "shell", "PROXY", f"Acquire::{scheme}::Proxy"])
    proxy = setting.partition("=")[2].strip().strip("'") or os.environ.get(f"{scheme}_proxy", "")
    url = urlsplit(proxy if proxy and proxy != "DIRECT" else address)
    if url.hostname is None:
        return None
    return url.hostname, url.port or {"https": 443}.get(url.scheme, 80)


def _network(server: tuple[str, int] | None) -> Finding:
    if server is None:
        return Finding(OK, "network", "packages come from local files")
    try:
        socket.create_connection(server, timeout=SECONDS).close()
    except OSError as error:
        problem = f"{server[0]} does not answer ({error.strerror or error})"
        return Finding(MISSING, "network", problem, "check the network and apt's proxy; what was fetched stays")
    return Finding(OK, "network", f"{server[0]} answers")


def _run(command: list[str]) -> str:
    """Return a tool's output; '' when it fails."""
    done = run_tool(command, 30)
    return done.stdout if done is not None and done.returncode == 0 else ""
