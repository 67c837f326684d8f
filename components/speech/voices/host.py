"""The program that holds one engine: ``python -m components.speech.voices.host ENGINE PARENT``.

It loads the engine once, then answers requests (``frames``) from standard input on standard output until that closes.
An answer is a function of the text, whatever was spoken before. Where an engine cannot promise that by itself
(``Engine.carries_on``), each text is spoken by a fork of what was just loaded, which is gone with the answer: the noise it
draws and the phases it carries on begin anew each time. When such a fork crashes, the host dies of the same cause.

Engines under the GPL run here, in a program of their own that hears text and answers with sound, and nowhere else.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
from importlib import import_module

from components.execution.process import die_with_parent
from components.speech.voices.engines import ENGINES, Engine
from components.speech.voices.frames import FAILED, HEAD, READY, frame, read_asked, spoken


def main(engine: str, parent: int) -> int:
    """Answer until nobody asks any more; returns the exit code."""
    die_with_parent(parent)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    requests, answers = _pipes()
    try:
        import_module("numpy")  # here, not in each fork
        speaking = _made(engine)
    except Exception as error:
        _write(answers, frame(FAILED, _line(error)))
        return 1
    _write(answers, frame(READY))
    gc.collect()
    gc.freeze()  # what is loaded stays, and a fork need not copy it to count it
    while (request := _read(requests)) is not None:
        if not speaking.carries_on:
            _write(answers, _spoken(speaking, request))
        elif (code := _in_fork(speaking, request, answers)) != 0:
            return code
    return 0


def _pipes() -> tuple[int, int]:
    """Return the two pipes, moved out of the engine's way: what it prints goes to standard error, what it reads is nothing."""
    requests, answers = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return requests, answers


def _made(engine: str) -> Engine:
    """Return an engine of ours by name, or one of another module as ``module:class``."""
    if engine in ENGINES:
        return ENGINES[engine]()
    module, _, name = engine.partition(":")
    made: Engine = getattr(import_module(module), name)()
    return made


def _spoken(engine: Engine, request: bytes) -> bytes:
    """Return the answer, as it is written."""
    try:
        speaker, text = read_asked(request)
        return spoken(*engine.say(text, speaker))
    except Exception as error:
        return frame(FAILED, _line(error))


def _in_fork(engine: Engine, request: bytes, answers: int) -> int:
    """Answer from a fork; returns its exit code, or dies of the signal it died of."""
    host = os.getpid()
    child = os.fork()
    if not child:
        die_with_parent(host)
        _write(answers, _spoken(engine, request))
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        _die_of(os.WTERMSIG(status))
    return os.waitstatus_to_exitcode(status)


def _line(error: BaseException) -> bytes:
    told = " ".join(str(error).split())[:300]
    return (f"{type(error).__name__}: {told}" if told else type(error).__name__).encode(errors="replace")


def _die_of(number: int) -> None:
    if number != signal.SIGKILL:
        signal.signal(number, signal.SIG_DFL)
    os.kill(os.getpid(), number)


def _read(pipe: int) -> bytes | None:
    head = _exactly(pipe, HEAD.size)
    return None if head is None else _exactly(pipe, HEAD.unpack(head)[1])


def _exactly(pipe: int, count: int) -> bytes | None:
    parts: list[bytes] = []
    while count:
        part = os.read(pipe, min(count, 1 << 20))
        if not part:
            return None
        parts.append(part)
        count -= len(part)
    return b"".join(parts)


def _write(pipe: int, data: bytes) -> None:
    left = memoryview(data)
    while left:
        left = left[os.write(pipe, left) :]


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
