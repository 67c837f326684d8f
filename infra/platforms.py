"""Check which systems and versions of Python can install the locked packages: ``python -m infra.platforms [LOCK]``.

uv resolves each lock for each platform from the metadata of the package index, wheels only. What has no wheel is listed; packages
of :data:`PURE` are built from their source on any platform. Nothing is installed, and nothing runs on those systems.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PLATFORMS = {
    "Linux x86_64": "x86_64-manylinux_2_28",
    "Linux aarch64": "aarch64-manylinux_2_28",
    "macOS 14 arm64": "aarch64-apple-darwin",
}
"""Name → uv's name of the platform."""
PYTHONS = ("3.11", "3.12", "3.13")
PURE = {"antlr4-python3-runtime", "names"}
"""Packages without wheels that are Python alone."""


def requirements(lock: Path) -> list[str]:
    """Return the lines of a lock that name a package, without hashes and continuation marks."""
    lines = [line.split(" \\")[0].split(" --hash")[0].strip() for line in lock.read_text(encoding="utf-8").splitlines()]
    return [line for line in lines if re.match(r"[A-Za-z0-9]", line)]


def name_of(line: str) -> str:
    """Return the package of a requirement."""
    return re.split(r"[\[=<>;@ ]", line, maxsplit=1)[0].lower()


def without_wheels(lines: list[str], platform: str, python: str) -> list[str]:
    """Return the packages that have no wheel for a platform and a version of Python.

    Raises:
        SystemExit: uv reports something else, e.g. that the index cannot be reached.
    """
    beside = Path(sys.executable).with_name("uv")
    command = [str(beside) if beside.exists() else shutil.which("uv") or "uv", "pip", "compile", "-", "--quiet", "--no-deps"]
    command += ["--only-binary", ":all:", "--python-platform", PLATFORMS[platform], "--python-version", python, "-o", os.devnull]
    environment = {**os.environ, "MACOSX_DEPLOYMENT_TARGET": "14.0"}  # the oldest that torch supports
    missing: list[str] = []
    while True:
        left = [line for line in lines if name_of(line) not in missing]
        done = subprocess.run(command, input="\n".join(left), env=environment, capture_output=True, text=True, check=False)
        if done.returncode == 0:
            return missing
        said = " ".join(done.stderr.split())
        named = [name_of(line) for line in left if re.search(rf"Because {re.escape(name_of(line))}(==\S+)? has no ", said)]
        if not named:
            raise SystemExit(f"uv: {said[:600]}")
        missing.append(named[0])


def main(arguments: list[str]) -> int:
    """Print a table in Markdown; return 1 if a package that is not pure has no wheel somewhere."""
    lines = requirements(Path(arguments[0]) if arguments else ROOT / "requirements.lock")
    print("| packages without a wheel | " + " | ".join(PYTHONS) + " |\n|---|" + "---|" * len(PYTHONS), flush=True)
    bad = 0
    for platform in PLATFORMS:
        cells = []
        for python in PYTHONS:
            missing = [name for name in without_wheels(lines, platform, python) if name not in PURE]
            bad += len(missing)
            cells.append(", ".join(missing) or "none")
        print(f"| {platform} | " + " | ".join(cells) + " |", flush=True)
    return int(bad > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
