"""The device that a setting ``accelerator`` selects on this machine, and the precision it computes in."""

from __future__ import annotations

from typing import Literal

from components.core.errors import HearsightError

Accelerator = Literal["auto", "cpu", "gpu"]
Device = Literal["cpu", "gpu"]


def choose_device(accelerator: Accelerator) -> Device:
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


def forbid_tf32() -> None:
    """Have GPUs compute in whole single precision: TF32, torch's default for convolutions, errs by 1e-3, above the tolerance."""
    import torch  # here: see above

    torch.backends.cudnn.allow_tf32 = torch.backends.cuda.matmul.allow_tf32 = False
