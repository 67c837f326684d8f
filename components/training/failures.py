"""Explanations of insufficient memory in training and inference, in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.multiprocessing.spawn import ProcessException, ProcessExitedException

from components.core.errors import HearsightError

_MEMORY = ("can't allocate memory", "cannot allocate memory", "not enough memory", "out of memory", "bad_alloc")
_OURS = f"{HearsightError.__module__}.{HearsightError.__qualname__}: "
_WORKER = ("dataloader worker", "is killed by signal")
TRAINING = "batch, longest, layers or width, or precision: bf16"
"""What to lower for a training that needs too much memory."""


def lacks_memory(error: BaseException) -> bool:
    """Return whether an error means that memory, of the device or the host, was insufficient."""
    if isinstance(error, (torch.cuda.OutOfMemoryError, MemoryError)):
        return True
    text = str(error).lower()
    kinds = (RuntimeError, OSError, ProcessException)
    return isinstance(error, kinds) and any(phrase in text for phrase in _MEMORY)


@contextmanager
def explain_failures(batch: int, where: str, kept: str, lower: str = TRAINING) -> Iterator[None]:
    """Turn insufficient memory, and a reader process killed for it, into a HearsightError.

    Args:
        batch: items a step.
        where: the model's name.
        kept: what a later run resumes from, for the message.
        lower: the settings that take less memory.
    """
    try:
        yield
    except (RuntimeError, MemoryError, OSError, ProcessException) as error:
        message = next((line for line in str(error).splitlines() if line.startswith(_OURS)), None)
        if message is not None:
            # A forked process returns its traceback only, which contains the message.
            raise HearsightError(message.removeprefix(_OURS)) from error
        text = " ".join(str(error).split()[-40:])
        if isinstance(error, ProcessExitedException) and error.signal_name == "SIGKILL":
            what = "a device's process was killed, usually for lack of memory"
            raise HearsightError(what, where=where, hint=f"lower batch ({batch}) or devices; {kept}") from error
        if all(sign in text.lower() for sign in _WORKER):
            what = "a data loading process was killed, usually for lack of memory"
            raise HearsightError(
                f"{what} ({text[:160]})", where=where, hint=f"lower workers or batch ({batch}); {kept}"
            ) from error
        if lacks_memory(error):
            what = f"too little memory for a batch of {batch} ({text[:160] or type(error).__name__})"
            hint = f"lower {lower}; {kept}"
            raise HearsightError(what, where=where, hint=hint) from error
        raise
