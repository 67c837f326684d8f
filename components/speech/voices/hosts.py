"""The engines' hosts as seen by the process that has them speak: started when first needed, kept, replaced when they fail.

A process has one host an engine (``host``), and a fork of the process starts its own. A host that does not answer in
time is killed, and one that is gone is replaced; the text it was at is tried once more in a new one.
"""

from __future__ import annotations

import atexit
import os
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from components.speech.voices import host
from components.speech.voices.exchange import Exchange, TooLate
from components.speech.voices.failures import CRASH, ERROR, HANG, EngineDown
from components.speech.voices.frames import FAILED, READY, asked, read_spoken

if TYPE_CHECKING:
    from components.speech.audio.files import Samples

START_SECONDS = 180.0
"""How long an engine may load; the slowest takes 2 s of processor time."""
SECONDS, SECONDS_PER_CHARACTER = 30.0, 0.1
"""How long a text may take: a hundred times what the slowest engine needs, so that a busy machine fails nothing."""
GIVE_UP = 8
"""So many texts in a row that an engine hangs, crashes or errs at, and it is the engine that is broken."""
MOST_SAID = 1 << 20
"""Bytes of a host's standard error before it is emptied."""
HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""A host gets its memory in large pieces (glibc 2.35 and later; others do not know it). espeak, which forks for each text, then
takes 3 to 5 % less processor time; piper, which no longer forks, up to 3 %. A host holds 1 to 6 MB more."""
Result = TypeVar("Result")


class Failed(Exception):
    """One text failed, twice if the host was lost over it."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


class _Lost(Failed):
    """The host is gone, by itself or by our hand."""


class Host:
    """One running host.

    Args:
        engine: a name of ``engines.ENGINES``, or another class as ``module:class``.
        start_seconds: how long it may load.

    Raises:
        EngineDown: the engine cannot be loaded; the message says what it said.
    """

    def __init__(self, engine: str, start_seconds: float = START_SECONDS) -> None:
        self._said = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the host
        root = str(Path(__file__).resolve().parents[3])
        paths = [root, *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        self._process = _in_lasting_thread(
            partial(
                subprocess.Popen,
                [sys.executable, "-P", "-m", host.__name__, engine, str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._said,
                bufsize=0,
                # The host runs this code, and its numeric libraries one thread.
                env={**HUGE_PAGES, **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "OMP_NUM_THREADS": "1"},
                start_new_session=True,
            )
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._exchange = Exchange(self._process.stdin.fileno(), self._process.stdout.fileno())
        try:
            kind, payload = self._answer(b"", start_seconds)
        except Failed as failed:
            told = self.last_words()
            self.close()
            raise EngineDown(f"it {failed.detail}" + (f" ({told})" if told else "")) from None
        if kind != READY:
            self.close()
            raise EngineDown(payload.decode(errors="replace"))

    @property
    def pid(self) -> int:
        """The process."""
        return self._process.pid

    def say(self, speaker: str, text: str, seconds: float) -> tuple[Samples, int]:
        """Float32 samples in -1..1 and their rate in Hz.

        Raises:
            Failed: of reason error when the engine refuses; hang or crash when the host is lost.
        """
        kind, payload = self._answer(asked(speaker, text), seconds)
        if os.fstat(self._said.fileno()).st_size > MOST_SAID:
            os.ftruncate(self._said.fileno(), 0)
        if kind == FAILED:
            raise Failed(ERROR, payload.decode(errors="replace"))
        return read_spoken(kind, payload)

    def _answer(self, request: bytes, seconds: float) -> tuple[bytes, bytes]:
        try:
            return self._exchange.ask(request, seconds)
        except TooLate:
            raise _Lost(HANG, f"gave no answer in {seconds:g} s") from None
        except EOFError:
            raise _Lost(CRASH, self._fate()) from None

    def _fate(self) -> str:
        try:
            code = self._process.wait(timeout=10.0)
        except subprocess.TimeoutExpired:
            return "closed its pipes"
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    def last_words(self) -> str:
        """Return the last line on its standard error."""
        size = os.fstat(self._said.fileno()).st_size
        lines = os.pread(self._said.fileno(), 4096, max(0, size - 4096)).decode(errors="replace").split("\n")
        return next((line.strip()[-300:] for line in reversed(lines) if line.strip()), "")

    def close(self) -> None:
        """End it, and all it started."""
        if self._process.returncode is None:
            try:
                os.killpg(self._process.pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):  # gone already, or not its group's leader yet
                self._process.kill()
            self._process.wait()
        self.forget()

    def forget(self) -> None:
        """Let go of it without ending it: in a fork, where it is the parent's."""
        self._process.returncode = self._process.returncode or 0
        for pipe in (self._process.stdin, self._process.stdout, self._said):
            if pipe is not None:
                pipe.close()


class CacheServer:
    """Keeps one engine's host: starts it, and another when it is lost.

    Args:
        engine: as of :class:`Host`.
        seconds, seconds_per_character: how long a text may take.
        give_up: so many failures in a row end it.
    """

    def __init__(
        self,
        engine: str,
        *,
        seconds: float = SECONDS,
        seconds_per_character: float = SECONDS_PER_CHARACTER,
        give_up: int = GIVE_UP,
    ) -> None:
        self.engine = engine
        self.host: Host | None = None
        """None before the first text, and while none runs."""
        self._seconds, self._seconds_per_character, self._give_up = seconds, seconds_per_character, give_up
        self._failures = 0
        self._lock = threading.Lock()

    def say(self, speaker: str, text: str) -> tuple[Samples, int]:
        """Float32 samples in -1..1 and their rate in Hz.

        Raises:
            Failed: this text failed; the next may not.
            EngineDown: the engine cannot be started, or has failed ``give_up`` texts in a row.
        """
        with self._lock:
            try:
                answer = self._twice(speaker, text)
            except Failed as failed:
                self._failures += 1
                if self._failures < self._give_up:
                    raise
                raise EngineDown(f"it failed {self._failures} texts in a row, the last by: {failed.detail}") from None
            self._failures = 0
            return answer

    def _twice(self, speaker: str, text: str) -> tuple[Samples, int]:
        try:
            return self._once(speaker, text)
        except _Lost:
            return self._once(speaker, text)

    def _once(self, speaker: str, text: str) -> tuple[Samples, int]:
        if self.host is None:
            self.host = Host(self.engine)
        try:
            return self.host.say(speaker, text, self._seconds + self._seconds_per_character * len(text))
        except Failed as failed:
            if isinstance(failed, _Lost):
                self.close()
            raise
        except BaseException:  # Ctrl-C in between: the next answer would be this one's
            self.close()
            raise

    def close(self) -> None:
        """End the host, if there is one."""
        if self.host is not None:
            self.host.close()
            self.host = None


_keepers: dict[str, CacheServer] = {}


def keeper(engine: str) -> CacheServer:
    """This process's keeper of that engine."""
    return _keepers.setdefault(engine, CacheServer(engine))


def close_all() -> None:
    """End this process's hosts; what speaks next starts new ones."""
    for each in _keepers.values():
        each.close()


_starter: ThreadPoolExecutor | None = None


def _in_lasting_thread(start: Callable[[], Result]) -> Result:
    """Start a child where its parent thread lasts: the kernel ends it with the thread, not the process, that started it."""
    global _starter
    if threading.current_thread() is threading.main_thread():
        return start()
    _starter = _starter or ThreadPoolExecutor(1, "voices")
    return _starter.submit(start).result()


def _after_fork() -> None:
    """In a fork the hosts are the parent's, and so are its threads."""
    global _starter
    _starter = None
    for each in _keepers.values():
        if each.host is not None:
            each.host.forget()
    _keepers.clear()


atexit.register(close_all)
os.register_at_fork(after_in_child=_after_fork)
