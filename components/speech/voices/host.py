"""The program that runs one engine: ``python -m components.speech.voices.host ENGINE PARENT``.

It loads the engine once, then answers requests (``frames``) from standard input on standard output until that closes.
An answer is a function of the text, independent of earlier texts. For an engine that keeps state (``Engine.keeps_state``),
each text is spoken in a fork of the freshly loaded engine, which ends with the answer. When such a fork crashes, the host
dies of the same signal.

Engines under the GPL run only here, in a program of their own that receives text and returns audio.
"""

from __future__ import annotations

import gc
import os
import resource
import signal
import sys
from importlib import import_module

from components.execution.process import die_with_parent
from components.speech.voices.engines import ENGINES
from components.speech.voices.exchange import FAILED, HEAD, READY, decode_request, encode_speech, frame
from components.speech.voices.voice import Engine


def main(engine: str, parent: int) -> int:
    """Answer requests until the pipe closes; return the exit code."""
    die_with_parent(parent)
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    requests, answers = _pipes()
    try:
        loaded = _load(engine)
        keeps_state = loaded.keeps_state
    except Exception as error:
        _write(answers, frame(FAILED, _line(error)))
        return 1
    _write(answers, frame(READY))
    gc.collect()
    gc.freeze()  # forks then share the loaded objects: collection would copy their pages
    while (request := _read(requests)) is not None:
        if not keeps_state:
            _write(answers, _answer(loaded, request))
        elif (code := _answer_in_fork(loaded, request, answers)) != 0:
            return code
    return 0


def _pipes() -> tuple[int, int]:
    """Return the two pipes on other descriptors: the engine's own prints go to standard error, and its reads are empty."""
    requests, answers = os.dup(0), os.dup(1)
    null = os.open(os.devnull, os.O_RDONLY)
    os.dup2(null, 0)
    os.close(null)
    os.dup2(2, 1)
    return requests, answers


def _load(engine: str) -> Engine:
    """Return the engine of that name, or one of another module as ``module:class``."""
    if engine in ENGINES:
        return ENGINES[engine].load()
    module, _, name = engine.partition(":")
    loaded: Engine = getattr(import_module(module), name)()
    return loaded


def _answer(engine: Engine, request: bytes) -> bytes:
    """Return the frame that answers a request."""
    try:
        speaker, text = decode_request(request)
        return encode_speech(*engine.say(text, speaker))
    except Exception as error:
        return frame(FAILED, _line(error))


def _answer_in_fork(engine: Engine, request: bytes, answers: int) -> int:
    """Answer from a fork; return its exit code, or die of the signal that killed it."""
    host = os.getpid()
    child = os.fork()
    if not child:
        die_with_parent(host)
        _write(answers, _answer(engine, request))
        os._exit(0)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        _die_of(os.WTERMSIG(status))
    return os.waitstatus_to_exitcode(status)


def _line(error: BaseException) -> bytes:
    message = " ".join(str(error).split())[:300]
    return (f"{type(error).__name__}: {message}" if message else type(error).__name__).encode(errors="replace")


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
