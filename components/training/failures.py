"""Failures of a training run that a person can fix, told in one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch.multiprocessing.spawn import ProcessException, ProcessExitedException

from components.core.errors import HearsightError

_MEMORY = ("can't allocate memory", "cannot allocate memory", "not enough memory", "out of memory", "bad_alloc")
_OURS = f"{HearsightError.__module__}.{HearsightError.__qualname__}: "
_WORKER = ("dataloader worker", "is killed by signal")


def lacks_memory(error: BaseException) -> bool:
    """Whether an error says that the device's or the processor's memory did not suffice."""
    if isinstance(error, (torch.cuda.OutOfMemoryError, MemoryError)):
        return True
    text = str(error).lower()
    kinds = (RuntimeError, OSError, ProcessException)
    return isinstance(error, kinds) and any(sign in text for sign in _MEMORY)


@contextmanager
def explain_failures(batch: int, where: str, kept: str) -> Iterator[None]:
    """Turn too little memory, and a reader that was killed for it, into a HearsightError.

    Args:
        batch: items a step.
        where: which model.
        kept: what a later run goes on from.
    """
    try:
        yield
    except (RuntimeError, MemoryError, OSError, ProcessException) as error:
        told = next((line for line in str(error).splitlines() if line.startswith(_OURS)), None)
        if told is not None:
            # A forked process can only send its traceback back; the line in it is what a person is to read.
            raise HearsightError(told.removeprefix(_OURS)) from error
        text = " ".join(str(error).split()[-40:])
        if isinstance(error, ProcessExitedException) and error.signal_name == "SIGKILL":
            what = "a device's process was killed, mostly for lack of memory"
            raise HearsightError(what, where=where, hint=f"lower batch ({batch}) or devices; {kept}") from error
        if all(sign in text.lower() for sign in _WORKER):
            what = "a process that reads ahead was killed, mostly for lack of memory"
            raise HearsightError(
                f"{what} ({text[:160]})", where=where, hint=f"lower workers or batch ({batch}); {kept}"
            ) from error
        if lacks_memory(error):
            what = f"too little memory for a batch of {batch} ({text[:160] or type(error).__name__})"
            hint = f"lower batch, longest, layers or width in params.yaml, or precision: bf16; {kept}"
            raise HearsightError(what, where=where, hint=hint) from error
        raise
