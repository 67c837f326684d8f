"""Java and the jars of metrics that exist nowhere else: found, started, never left behind."""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import tempfile
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import IO


class JarUnavailable(ValueError):
    """Java or a jar is missing, or what it said is no answer; the message says what, and how to get it."""


def find_java(java: str = "java") -> str:
    """Where Java is.

    Args:
        java: a program on PATH, or the path of one.

    Raises:
        JarUnavailable: there is none.
    """
    found = shutil.which(java)
    if found is None:
        raise JarUnavailable(f"no Java found as '{java}': install a Java runtime (Debian: default-jre-headless), or name one")
    return found


def find_packaged_file(*inside: str) -> Path | None:
    """A file of an installed pycocoevalcap, which brings the jars; None without one."""
    found = importlib.util.find_spec("pycocoevalcap")
    for place in (found.submodule_search_locations or []) if found else []:
        path = Path(place, *inside)
        if path.is_file():
            return path
    return None


class JarProcess:
    """One jar, open for question after question, a line each; ended with the block, whatever happens in it."""

    def __init__(self, command: Sequence[str], folder: Path, *, seconds: float) -> None:
        """Start it.

        Args:
            command: the whole command line.
            folder: where it runs.
            seconds: how long one answer may take.
        """
        self._seconds, self._late = seconds, False
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed by end()
        try:
            self._process = subprocess.Popen(
                list(command), cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors
            )
        except OSError as error:
            self._errors.close()
            raise JarUnavailable(f"{command[0]} does not start: {error.strerror or error}") from None

    def __enter__(self) -> JarProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def ask(self, line: str, answers: int = 1) -> list[str]:
        """Write one line and read so many.

        Raises:
            JarUnavailable: it ended, or took too long; the last thing it said on its errors' side is told.
        """
        sent, received = self._process.stdin, self._process.stdout
        assert sent is not None and received is not None
        watch = threading.Timer(self._seconds, self._strike)
        watch.start()
        try:
            sent.write(line.encode("utf-8", errors="replace") + b"\n")
            sent.flush()
            found = [received.readline() for _ in range(answers)]
        except OSError:
            found = [b""]
        finally:
            watch.cancel()
        if not all(found):
            raise JarUnavailable(self._death())
        return [each.decode("utf-8", errors="replace").strip() for each in found]

    def end(self) -> None:
        """Close it and wait until it is gone."""
        self._process.kill()
        for stream in (self._process.stdin, self._process.stdout):
            if stream is not None:
                try:
                    stream.close()
                except OSError:
                    pass  # what was not flushed has no reader any more
        self._process.wait()
        self._errors.close()

    def _strike(self) -> None:
        self._late = True
        self._process.kill()

    def _death(self) -> str:
        if self._late:
            return f"no answer within {self._seconds:g} s"
        self._process.kill()
        code = self._process.wait()
        self._errors.seek(0)
        said = self._errors.read().decode("utf-8", errors="replace").strip().splitlines()
        return f"it ended with code {code}" + (f": {said[0][:300]}" if said else "")
