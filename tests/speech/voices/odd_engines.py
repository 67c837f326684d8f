"""Engines that go wrong, for real: hosts load them as ``tests.speech.voices.odd_engines:NAME`` in processes of their own."""

from __future__ import annotations

import ctypes
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np


class Obedient:
    """Does what the text says; else it says one second of a tone that tells the process and how many texts it has had."""

    keeps_state = False

    def __init__(self) -> None:
        self.count = 0
        print("loading, says the engine on standard output", flush=True)

    def say(self, text: str, speaker: str):
        self.count += 1
        print("chatter on standard output", flush=True)
        os.write(1, b"and past Python")
        match text.split(":")[0]:
            case "hang":
                time.sleep(600)
            case "spin":  # with the interpreter's lock held
                ctypes.PyDLL(None).usleep(600_000_000)
            case "segfault":
                ctypes.string_at(0)
            case "kill":
                os.kill(os.getpid(), signal.SIGKILL)
            case "exit":
                os._exit(3)
            case "raise":
                raise ValueError("cannot say\nthis")
            case "silent":
                return np.zeros(16_000, np.float32), 16_000
            case "nothing":
                return np.zeros(0, np.int16), 16_000
            case "once":  # fails the first time only
                path = Path(text.split(":", 1)[1])
                if not path.exists():
                    path.touch()
                    os._exit(4)
            case "much":
                return np.full(5_000_000, 0.25, np.float32), 22_050
            case "stdin":
                assert sys.stdin.read() == ""
        return np.array([os.getpid(), self.count, len(text)], dtype=np.float32), 16_000


class Forgetful(Obedient):
    """The same, which must be forked for each text."""

    keeps_state = True


class Broken:
    """Cannot be loaded."""

    def __init__(self) -> None:
        raise OSError("libvoice.so.7: cannot open shared object file")


class Stillborn:
    """Brings its host down while loading."""

    def __init__(self) -> None:
        sys.stderr.write("the licence of this engine has run out\n")
        sys.stderr.flush()
        os._exit(9)


class Slow:
    """Never done with loading."""

    def __init__(self) -> None:
        time.sleep(600)
