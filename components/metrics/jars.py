"""Java processes for metrics that exist only as jars, always ended after use."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO

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


def cause_of_end(code: int, output: bytes) -> str:
    """Return why a Java program ended: its exit code and the first lines that are no notices and no stack."""
    lines = output.decode("utf-8", errors="replace").strip().splitlines()
    causes = [line.strip() for line in lines if line.strip() and not _NOTICE.match(line)]
    return f"it ended with code {code}" + (f": {'; '.join(causes[:2])[:300]}" if causes else "")


def find_packaged_file(*inside: str) -> Path | None:
    """Return a file of an installed pycocoevalcap, which includes the jars; None without it."""
    spec = importlib.util.find_spec("pycocoevalcap")
    for folder in (spec.submodule_search_locations or []) if spec else []:
        path = Path(folder, *inside)
        if path.is_file():
            return path
    return None


class JarProcess:
    """One jar process that answers requests line by line; the context manager always ends it."""

    def __init__(self, command: Sequence[str], folder: Path, *, seconds: float) -> None:
        """Start the process.

        Args:
            command: the command line.
            folder: its working directory.
            seconds: timeout of one answer.
        """
        self._seconds, self._late = seconds, False
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by end()
        try:
            self._process = subprocess.Popen(
                list(command),
                cwd=folder,
                env=java_environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._errors,
            )
        except OSError as error:
            self._errors.close()
            raise JarUnavailable(f"{command[0]} does not start: {error.strerror or error}") from None

    def __enter__(self) -> JarProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def ask(self, line: str, answers: int = 1) -> list[str]:
        """Write one line and return that many answer lines.

        Raises:
            JarUnavailable: the process ended or timed out; the message has its error.
        """
        sent, received = self._process.stdin, self._process.stdout
        assert sent is not None and received is not None
        watch = threading.Timer(self._seconds, self._kill_late)
        watch.start()
        try:
            sent.write(line.encode("utf-8", errors="replace") + b"\n")
            sent.flush()
            lines = [received.readline() for _ in range(answers)]
        except OSError:
            lines = [b""]
        finally:
            watch.cancel()
        if not all(lines):
            raise JarUnavailable(self._cause_of_end())
        return [line_read.decode("utf-8", errors="replace").strip() for line_read in lines]

    def end(self) -> None:
        """Kill the process and wait for its end."""
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass  # unflushed data has no reader any more
        self._process.wait()
        self._errors.close()

    def _kill_late(self) -> None:
        self._late = True
        self._process.kill()

    def _cause_of_end(self) -> str:
        if self._late:
            return f"no answer within {self._seconds:g} s"
        self._process.kill()
        code = self._process.wait()
        self._errors.seek(0)
        return cause_of_end(code, self._errors.read())
