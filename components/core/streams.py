"""How a command begins and ends: its errors, and standard streams that are closed, lack characters, or lost their reader."""

from __future__ import annotations

import codecs
import errno
import io
import os
import select
import signal
import sys
from collections.abc import Callable
from typing import NoReturn

from components.core.errors import HearsightError
from components.core.files import explain_error
from components.core.home import use_writable_home
from components.core.printing import print_error

_NAMES = ("stdin", "stdout", "stderr")
_ESCAPE = "hearsight.escape"
BROKEN_PIPE = 128 + signal.SIGPIPE
"""Exit code of shells for a command whose reader has left."""
_CLICK_BROKEN_PIPE = 1
"""The exit code that click gives it."""
INTERRUPTED = 128 + signal.SIGINT
"""Exit code of shells for a command that SIGINT ended."""


def run_program(command: Callable[[], int | None]) -> NoReturn:
    """Run a command and end the process with its exit code; it has a home to write to.

    Closed streams are the null device. Characters that a stream lacks are written as JSON escapes (``\\u00e3``). When the reader
    of its output leaves (``| head -1``), the command ends without a message.
    """
    use_utf8()
    open_streams()
    use_writable_home()
    code: int | str | None = 1
    try:
        code = command()
    except SystemExit as left:
        code = left.code
    except BrokenPipeError:
        if not _is_left():
            raise
    if _is_left() and code == _CLICK_BROKEN_PIPE:
        code = BROKEN_PIPE
    raise SystemExit(_flush() or code)


def report_errors(
    command: Callable[[], int | None], explain: Callable[[BaseException], HearsightError | None] = explain_error
) -> int:
    """Run a command and return its exit code.

    An error that a user can fix is one line on standard error, and 2; so is an interrupt (Ctrl-C), and 130.

    Args:
        explain: returns such an error for an exception, None for a defect, which is raised.
    """
    try:
        return command() or 0
    except KeyboardInterrupt:
        print_error("interrupted; what is finished is kept — run it again to continue")
        return INTERRUPTED
    except Exception as error:
        if (known := explain(error)) is None:
            raise
        print_error(str(known))
        return 2


def use_utf8() -> None:
    """Start this process again with UTF-8 for names of files and texts if the locale has another encoding."""
    if sys.getfilesystemencoding() != "utf-8":
        encoding = sys.stdout.encoding if sys.stdout else "ascii"
        os.environ.update({"PYTHONUTF8": "1", "PYTHONIOENCODING": os.environ.get("PYTHONIOENCODING") or encoding})
        os.execv(sys.executable, [sys.executable, "-X", "utf8", *sys.orig_argv[1:]])


def open_streams() -> None:
    """Replace closed streams by the null device, and let the output streams escape what their encoding lacks."""
    codecs.register_error(_ESCAPE, _escape)
    for number, name in enumerate(_NAMES):
        if getattr(sys, name) is None:
            _discard(number)
            stream = open(number, "w" if number else "r", encoding="utf-8", closefd=False)  # noqa: SIM115 - until the end
            setattr(sys, name, stream)
            setattr(sys, f"__{name}__", stream)
    for output in (sys.stdout, sys.stderr):
        if isinstance(output, io.TextIOWrapper):
            output.reconfigure(errors=_ESCAPE)


def _escape(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    units = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at : at + 2].hex()}" for at in range(0, len(units), 2)), error.end


def _is_left() -> bool:
    """Return whether the reader of standard output or standard error has left."""
    poll = select.poll()
    for number in (1, 2):
        poll.register(number, 0)
    return any(event & select.POLLERR for _, event in poll.poll(0))


def _flush() -> int:
    """Write what the output streams hold; return the exit code of a failure, else 0. What cannot be written is discarded."""
    code = 0
    for number, stream in ((1, sys.stdout), (2, sys.stderr)):
        try:
            stream.flush()
        except OSError as error:
            code = BROKEN_PIPE if error.errno == errno.EPIPE else 2
            _discard(number)
    return code


def _discard(number: int) -> None:
    """Make the null device of a file descriptor."""
    null = os.open(os.devnull, os.O_RDWR)
    if null != number:
        os.dup2(null, number)
        os.close(null)
