"""Starts, keeps and replaces the host processes of engines.

A process has one host per engine (``host``); a fork of the process starts its own. A host that does not answer in time is
killed, and a lost host is replaced; its text is tried once more in the new one.
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
from multiprocessing.connection import Connection
from typing import TYPE_CHECKING, TypeVar

from components.core.addresses import CODE_ROOT
from components.speech.voices import host
from components.speech.voices.exchange import FAILED, READY, decode_speech, encode_request
from components.speech.voices.failures import CRASH, ERROR, HANG, EngineDown

if TYPE_CHECKING:
    from components.speech.audio.files import Samples

START_SECONDS = 180.0
"""Time limit for loading an engine; the slowest takes 2 s of processor time."""
SECONDS, SECONDS_PER_CHARACTER = 30.0, 0.1
"""Time limit per text: a hundred times what the slowest engine needs, for busy machines."""
GIVE_UP = 8
"""Failed texts in a row after which the engine counts as broken."""
MAX_STDERR_BYTES = 1 << 20
"""Size of a host's standard error at which it is truncated."""
HUGE_PAGES = {"GLIBC_TUNABLES": "glibc.malloc.hugetlb=1"}
"""Large memory pages for hosts (glibc 2.35 and later). espeak, which forks for each text, takes 3 to 5 % less processor time,
piper up to 3 %; a host holds 1 to 6 MB more."""
Result = TypeVar("Result")


class Failed(Exception):
    """One text failed, twice if its host was lost."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(reason, detail)
        self.reason, self.detail = reason, detail


class _HostLost(Failed):
    """The host has crashed, or was killed after its time limit."""


class Host:
    """One running host.

    Args:
        engine: a name of ``engines.ENGINES``, or another class as ``module:class``.
        start_seconds: time limit for loading.

    Raises:
        EngineDown: the engine cannot be loaded; the message contains its last line of standard error.
    """

    def __init__(self, engine: str, start_seconds: float = START_SECONDS) -> None:
        self._stderr = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the host
        paths = [str(CODE_ROOT), *os.environ.get("PYTHONPATH", "").split(os.pathsep)]
        self._process = _in_permanent_thread(
            partial(
                subprocess.Popen,
                [sys.executable, "-P", "-m", host.__name__, engine, str(os.getpid())],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=self._stderr,
                bufsize=0,
                # The host imports this source tree, and its numeric libraries use one thread.
                env={**HUGE_PAGES, **os.environ, "PYTHONPATH": os.pathsep.join(filter(None, paths)), "OMP_NUM_THREADS": "1"},
                start_new_session=True,
            )
        )
        assert self._process.stdin is not None and self._process.stdout is not None
        self._requests = Connection(os.dup(self._process.stdin.fileno()), readable=False)
        self._answers = Connection(os.dup(self._process.stdout.fileno()), writable=False)
        try:
            answer = self._answer(b"", start_seconds)
        except Failed as failed:
            line = self.last_error_line()
            self.close()
            raise EngineDown(f"it {failed.detail}" + (f" ({line})" if line else "")) from None
        if answer != READY:
            self.close()
            raise EngineDown(answer[1:].decode(errors="replace"))

    @property
    def pid(self) -> int:
        """The host's process id."""
        return self._process.pid

    def say(self, speaker: str, text: str, seconds: float) -> tuple[Samples, int]:
        """Return float32 samples in -1..1 and their rate in Hz.

        Raises:
            Failed: reason error when the engine raises an error; hang or crash when the host is lost.
        """
        answer = self._answer(encode_request(speaker, text), seconds)
        if os.fstat(self._stderr.fileno()).st_size > MAX_STDERR_BYTES:
            os.ftruncate(self._stderr.fileno(), 0)
        if answer[:1] == FAILED:
            raise Failed(ERROR, answer[1:].decode(errors="replace"))
        return decode_speech(answer)

    def _answer(self, request: bytes, seconds: float) -> bytes:
        """Return the answer to a request; to none, whether the engine is loaded. The host is killed when its time is over."""
        late = threading.Event()

        def end() -> None:
            late.set()
            self._kill()

        timer = threading.Timer(seconds, end)
        timer.start()
        try:
            if request:
                self._requests.send_bytes(request)
            return self._answers.recv_bytes()
        except (EOFError, OSError):
            if late.is_set():
                raise _HostLost(HANG, f"gave no answer in {seconds:g} s") from None
            raise _HostLost(CRASH, self._exit_reason()) from None
        finally:
            timer.cancel()

    def _exit_reason(self) -> str:
        try:
            code = self._process.wait(timeout=10.0)
        except subprocess.TimeoutExpired:
            return "closed its pipes"
        return f"was killed by {signal.Signals(-code).name}" if code < 0 else f"ended with exit code {code}"

    def last_error_line(self) -> str:
        """Return the last line of the host's standard error."""
        size = os.fstat(self._stderr.fileno()).st_size
        lines = os.pread(self._stderr.fileno(), 4096, max(0, size - 4096)).decode(errors="replace").split("\n")
        return next((line.strip()[-300:] for line in reversed(lines) if line.strip()), "")

    def close(self) -> None:
        """Kill the host and its children."""
        if self._process.returncode is None:
            self._kill()
            self._process.wait()
        self.forget()

    def _kill(self) -> None:
        try:
            os.killpg(self._process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):  # ended already, or not yet leader of its group
            self._process.kill()

    def forget(self) -> None:
        """Close the pipes without killing the host: in a fork it belongs to the parent."""
        self._process.returncode = self._process.returncode or 0
        for pipe in (self._process.stdin, self._process.stdout, self._stderr, self._requests, self._answers):
            if pipe is not None:
                pipe.close()


class HostSupervisor:
    """Starts the host of one engine, and replaces it when it is lost.

    Args:
        engine: see :class:`Host`.
        seconds, seconds_per_character: time limit per text.
        give_up: failures in a row after which :class:`EngineDown` is raised.
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
        """None while no host runs."""
        self._seconds, self._seconds_per_character, self._give_up = seconds, seconds_per_character, give_up
        self._failures = 0
        self._lock = threading.Lock()

    def say(self, speaker: str, text: str) -> tuple[Samples, int]:
        """Return float32 samples in -1..1 and their rate in Hz.

        Raises:
            Failed: this text failed; others may succeed.
            EngineDown: the engine cannot be started, or has failed ``give_up`` texts in a row.
        """
        with self._lock:
            try:
                answer = self._say_with_retry(speaker, text)
            except Failed as failed:
                self._failures += 1
                if self._failures < self._give_up:
                    raise
                raise EngineDown(f"it failed {self._failures} texts in a row, the last by: {failed.detail}") from None
            self._failures = 0
            return answer

    def _say_with_retry(self, speaker: str, text: str) -> tuple[Samples, int]:
        try:
            return self._say_once(speaker, text)
        except _HostLost:
            return self._say_once(speaker, text)

    def _say_once(self, speaker: str, text: str) -> tuple[Samples, int]:
        if self.host is None:
            self.host = Host(self.engine)
        try:
            return self.host.say(speaker, text, self._seconds + self._seconds_per_character * len(text))
        except Failed as failed:
            if isinstance(failed, _HostLost):
                self.close()
            raise
        except BaseException:  # after Ctrl-C the pending answer would be taken for the next one's
            self.close()
            raise

    def close(self) -> None:
        """Kill the host, if one runs."""
        if self.host is not None:
            self.host.close()
            self.host = None


_supervisors: dict[str, HostSupervisor] = {}


def supervisor(engine: str) -> HostSupervisor:
    """Return this process's supervisor of an engine."""
    return _supervisors.setdefault(engine, HostSupervisor(engine))


def close_all() -> None:
    """Kill this process's hosts; the next text starts new ones."""
    for each in _supervisors.values():
        each.close()


_starter: ThreadPoolExecutor | None = None


def _in_permanent_thread(start: Callable[[], Result]) -> Result:
    """Start a child from a permanent thread: the kernel's parent-death signal follows the thread, not the process."""
    global _starter
    if threading.current_thread() is threading.main_thread():
        return start()
    _starter = _starter or ThreadPoolExecutor(1, "voices")
    return _starter.submit(start).result()


def _after_fork() -> None:
    """Drop the parent's hosts and threads in a fork."""
    global _starter
    _starter = None
    for each in _supervisors.values():
        if each.host is not None:
            each.host.forget()
    _supervisors.clear()


atexit.register(close_all)
os.register_at_fork(after_in_child=_after_fork)
