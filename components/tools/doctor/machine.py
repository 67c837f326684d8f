"""Checks of the machine and of the project's folder."""

from __future__ import annotations

import configparser
import os
import platform
import shutil
import socket
import sys
from importlib.util import find_spec
from pathlib import Path

import psutil

from components.core.machine import usable_cores
from components.tools.doctor.finding import MISSING, OK, WARNING, Finding, run_tool
from flows.settings import PORTS, running_server

DISK_GB = 2.0
"""Free disk that the demo needs without its environment: packages, outputs and DVC's cache."""
MEMORY_GB = 3.0
"""Free memory that the demo's largest stages need, two workers included."""
PYTHONS = ((3, 11), (3, 13))
"""The first and the last version of Python that every locked package supports (docs/platforms.md)."""
SECONDS = 10.0
"""Timeout of a tool that a check runs."""


def python(root: Path) -> list[Finding]:
    """Check the version and that this is the project's environment."""
    version = platform.python_version()
    if not PYTHONS[0] <= sys.version_info[:2] <= PYTHONS[1]:
        return [Finding(MISSING, "python", f"{version}; Hearsight needs 3.11 to 3.13", "rm -rf .venv; make setup")]
    return [Finding(OK, "python", f"{version} in {sys.prefix}")]


def git(root: Path) -> list[Finding]:
    """Check that git accepts the project's folder; DVC needs a git repository."""
    if shutil.which("git") is None:
        return [Finding(MISSING, "git", "is not installed", "apt-get install git")]
    done = run_tool(["git", "-C", str(root), "rev-parse", "--is-inside-work-tree"], SECONDS)
    if done is None or done.returncode != 0:
        message = (done.stderr.strip().splitlines() or ["no answer"])[0] if done else "no answer"
        if "dubious ownership" in message:
            return [Finding(MISSING, "git", message, f"git config --global --add safe.directory '{root}'")]
        return [Finding(MISSING, "git", f"{root}: {message}", "clone the project with git, or run `git init`")]
    return [Finding(OK, "git", shutil.which("git") or "")]


def git_identity(root: Path) -> list[Finding]:
    """Check the name and address of commits, which DVC asks for as well; schedules use one of their own without."""
    unset = [name for name in ("user.name", "user.email") if not _git_setting(root, name)]
    if not unset:
        return [Finding(OK, "git identity", f"{_git_setting(root, 'user.name')} <{_git_setting(root, 'user.email')}>")]
    fix = "git config --global user.name 'Your Name' && git config --global user.email you@example.com"
    what = f"{' and '.join(unset)} not set: `dvc exp run` and `git commit` need them, `make demo` does not"
    return [Finding(WARNING, "git identity", what, fix)]


def _git_setting(root: Path, name: str) -> str:
    done = run_tool(["git", "-C", str(root), "config", name], SECONDS)
    return done.stdout.strip() if done is not None and done.returncode == 0 else ""


def dvc(root: Path) -> list[Finding]:
    """Check DVC's settings and that its folder can be written."""
    config = configparser.ConfigParser(interpolation=None)
    try:
        config.read_string((root / ".dvc" / "config").read_text(encoding="utf-8"))
    except (OSError, configparser.Error, UnicodeDecodeError) as error:
        message = " ".join(str(error).split())
        return [Finding(MISSING, "dvc", f".dvc/config cannot be read: {message}", "git restore .dvc/config")]
    if not os.access(root, os.W_OK) or not os.access(root / ".dvc", os.W_OK):
        return [Finding(MISSING, "dvc", f"{root} cannot be written", f"chown -R $(id -un) '{root}'")]
    if find_spec("dvc") is None:
        return [Finding(MISSING, "dvc", "is not installed", "rm -f .venv/.ready; make setup")]
    return [Finding(OK, "dvc", "settings in .dvc/config")]


def cores(root: Path) -> list[Finding]:
    """Count the cores that this process may use."""
    count = usable_cores()
    if count < 2:
        return [Finding(WARNING, "cores", "1: the demo takes about twice as long as on 2")]
    return [Finding(OK, "cores", str(count))]


def memory(root: Path) -> list[Finding]:
    """Compare free memory with what the demo needs."""
    free = _free_memory() / 1e9
    if free < MEMORY_GB:
        return [Finding(WARNING, "memory", f"{free:.1f} GB free, the demo needs {MEMORY_GB}", "end other programs")]
    return [Finding(OK, "memory", f"{free:.1f} GB free")]


def _free_memory() -> float:
    """Return bytes: the kernel's available memory, or the rest of a container's limit when that is less."""
    free = float(psutil.virtual_memory().available)
    group = Path("/sys/fs/cgroup")
    try:
        limit, used = (group / "memory.max").read_text().strip(), (group / "memory.current").read_text()
        return free if limit == "max" else min(free, float(limit) - float(used))
    except (OSError, ValueError):
        return free


def disk(root: Path) -> list[Finding]:
    """Compare the free disk with what the demo writes; little is needed where it has run."""
    free = shutil.disk_usage(root).free / 1e9
    need = 0.2 if (root / "dvc.lock").is_file() and (root / ".dvc" / "cache").is_dir() else DISK_GB
    if free < need:
        return [Finding(MISSING, "disk", f"{free:.1f} GB free at {root}, the demo needs {need}", "free some, or clone elsewhere")]
    return [Finding(OK, "disk", f"{free:.1f} GB free")]


def gpu(root: Path) -> list[Finding]:
    """Name the NVIDIA GPUs. None is needed."""
    tool = shutil.which("nvidia-smi")
    done = run_tool([tool, "-L"], SECONDS) if tool else None
    if done is None or done.returncode != 0:
        return [Finding(OK, "GPU", "none, and none is needed")]
    return [Finding(OK, "GPU", "; ".join(line.split(" (UUID")[0] for line in done.stdout.splitlines()))]


def ports(root: Path) -> list[Finding]:
    """Check that the ports of `make ui` are free on loopback; a Prefect server of the project that runs is used."""
    needed = {name: port for name, port in PORTS.items() if name != "prefect" or not running_server(root)}
    taken = {name: port for name, port in needed.items() if not _is_free(port)}
    if not taken:
        return [Finding(OK, "ports", f"{', '.join(map(str, needed.values()))} are free")]
    in_use = ", ".join(f"{port} ({name})" for name, port in taken.items())
    options = " ".join(f"--{name} {port + 1}" for name, port in taken.items())
    return [Finding(WARNING, "ports", f"in use: {in_use}; `make ui` needs others", f"python -m flows.ui {options}")]


def _is_free(port: int) -> bool:
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True
