"""The device that a setting ``accelerator`` selects on this machine."""

from __future__ import annotations

from typing import Literal

from components.core.errors import HearsightError

Accelerator = Literal["auto", "cpu", "gpu"]


def choose_device(accelerator: Accelerator) -> Literal["cpu", "gpu"]:
    """Return the device for ``accelerator``; raise HearsightError if a GPU is asked for and there is none."""
    if accelerator == "cpu":
        return "cpu"
    # Imported here: torch is slow to load, and commands that only read settings import this module.
    import torch

    # device_count asks the driver's library; is_available would begin CUDA, which no forked process could use then.
    if torch.cuda.device_count():
        return "gpu"
    if accelerator == "gpu":
        raise HearsightError("this machine has no GPU that torch can use", where="accelerator", hint="set it to cpu or auto")
    return "cpu"
