"""The program that runs one engine: ``python -m components.speech.voices.host ENGINE PARENT``.

It loads the engine once, then answers requests (``exchange``) from standard input on standard output until that closes.
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
from multiprocessing.connection import Connection

from components.execution.process import die_with_parent
from components.speech.voices.engines import ENGINES
from components.speech.voices.exchange import FAILED, READY, decode_request, encode_speech
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
        answers.send_bytes(FAILED + _line(error))
        return 1
    answers.send_bytes(READY)
    gc.collect()
    gc.freeze()  # forks then share the loaded objects: collection would copy their pages
    while True:
        try:
            request = requests.recv_bytes()
        except EOFError:
            return 0
        if not keeps_state:
            answers.send_bytes(_answer(loaded, request))
        elif (code := _answer_in_fork(loaded, request, answers)) != 0:
            return code


def _pipes() -> tuple[Connection, Connection]:
    """Return the two pipes on other descriptors: the engine's own prints go to standard error, and its reads are empty."""
    requests, answers = Connection(os.dup(0), writable=False), Connection(os.dup(1), readable=False)
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
    """Return the answer to a request."""
    try:
        speaker, text = decode_request(request)
        return encode_speech(*engine.say(text, speaker))
    except Exception as error:
        return FAILED + _line(error)


def _answer_in_fork(engine: Engine, request: bytes, answers: Connection) -> int:
    """Answer from a fork; return its exit code, or die of the signal that killed it."""
    host = os.getpid()
    child = os.fork()
    if not child:
        die_with_parent(host)
        answers.send_bytes(_answer(engine, request))
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


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], int(sys.argv[2])))
