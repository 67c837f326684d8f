"""Java processes for metrics that exist only as jars, always ended after use."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

_OPTIONS = re.compile(r"JAVA_TOOL_OPTIONS|\w*_?JAVA_OPTIONS")
"""Variables whose options a Java takes; their names differ by its maker."""
_NOTICE = re.compile(r"Picked up |NOTE: |WARNING: |.*\bwarning: |\s+(?:at |\.\.\. )", re.I)


class JarUnavailable(ValueError):
    """Java or a jar is missing, or its answer is invalid; the message states the cause and the remedy."""


def find_java(java: str = "java") -> str:
    """Return the path of the Java program.

    Args:
        java: a program on PATH, or a path.

    Raises:
        JarUnavailable: it is not found.
    """
    path = shutil.which(java)
    if path is None:
        raise JarUnavailable(
            f"Java was not found as '{java}': install a Java runtime (Debian: default-jre-headless), or give its path"
        )
    return path


def jar_command(java: str, jar: Path, memory: str) -> list[str]:
    """Return the command line of a jar, to be run in :func:`java_environment`: figures are written as in English."""
    locale = ["-Duser.language=en", "-Duser.country=US", "-Dfile.encoding=UTF-8"]
    return [find_java(java), f"-Xmx{memory}", *locale, "-jar", str(jar)]


def java_environment() -> dict[str, str]:
    """Return this process's environment without what would give Java another locale or other options."""
    own = {name: value for name, value in os.environ.items() if not _OPTIONS.fullmatch(name)}
    return own | {"LC_ALL": "C.UTF-8"}


def run_jar(command: Sequence[str], folder: Path, seconds: float, lines: Sequence[str] = ()) -> list[str]:
    """Run a jar in a folder, give it lines, and return those that it prints; it is ended after ``seconds``.

    Raises:
        JarUnavailable: it does not start, fails, or takes too long; the message has its first lines that are no notices.
    """
    given = "".join(f"{line}\n" for line in lines).encode("utf-8", errors="replace")
    try:
        done = subprocess.run(command, cwd=folder, env=java_environment(), input=given, capture_output=True, timeout=seconds)
    except OSError as error:
        raise JarUnavailable(f"{command[0]} does not start: {error.strerror or error}") from None
    except subprocess.TimeoutExpired:
        raise JarUnavailable(f"no answer within {seconds:g} s") from None
    printed = done.stdout.decode("utf-8", errors="replace").splitlines()
    if done.returncode or len(printed) < len(lines):
        said = (done.stderr or done.stdout).decode("utf-8", errors="replace").splitlines()
        causes = [line.strip() for line in said if line.strip() and not _NOTICE.match(line)]
        why = f": {'; '.join(causes[:2])[:300]}" if causes else ""
        raise JarUnavailable(f"it ended with code {done.returncode}{why}")
    return printed


def find_packaged_file(*inside: str) -> Path | None:
    """Return a file of an installed pycocoevalcap, which includes the jars; None without it."""
    spec = importlib.util.find_spec("pycocoevalcap")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder, *inside)
        if path.is_file():
            return path
    return None
