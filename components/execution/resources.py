"""What an item of work needs of machines, the device that a setting ``accelerator`` selects on this one, and its GPUs."""

from __future__ import annotations

import os
from dataclasses import dataclass
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


VISIBLE = "CUDA_VISIBLE_DEVICES"
"""The variable that says which GPUs a process sees; read once, when CUDA starts."""


@dataclass(frozen=True)
class Resources:
    """What one item needs; the default is one core."""

    gpus: int = 0
    """GPUs of each node; no other item uses them meanwhile."""
    cpus: int = 1
    """Cores of each node."""
    nodes: int = 1
    """Machines; on each of several, ``processes`` run the same item together as the ranks of one group."""
    processes: int = 1
    """Processes of each node."""

    @property
    def world(self) -> int:
        """Ranks of all nodes."""
        return self.nodes * self.processes


CORE = Resources()


def local_gpus() -> list[str]:
    """Return the ids of the GPUs that this process may use: those of ``CUDA_VISIBLE_DEVICES``, or all that torch counts."""
    listed = os.environ.get(VISIBLE)
    if listed is not None:
        return [one.strip() for one in listed.partition("-1")[0].split(",") if one.strip()]
    # Imported here: torch is slow to load. It counts through the driver's library; starting CUDA would break forked processes.
    import torch

    return [str(number) for number in range(torch.cuda.device_count())]


def share_gpus(resources: Resources) -> list[str]:
    """Divide this machine's GPUs among items; return the ids of each share, as ``CUDA_VISIBLE_DEVICES`` has them.

    Raises:
        HearsightError: an item needs more GPUs than there are, or several machines.
    """
    if resources.nodes > 1:
        raise HearsightError(
            f"{resources.nodes} nodes are more than the local engine has",
            where="hardware.nodes",
            hint="set engine: {kind: ray} in params.yaml (docs/cluster.md), or nodes: 1",
        )
    if not resources.gpus:
        return []
    ids, size = local_gpus(), resources.gpus
    if size > len(ids):
        what = f"an item needs {size} GPU{'s' * (size > 1)} and this machine has {len(ids)}"
        raise HearsightError(what, where="hardware.devices", hint="lower devices, set accelerator: cpu, or use a larger machine")
    return [",".join(ids[first : first + size]) for first in range(0, len(ids) - size + 1, size)]


def show_gpus(ids: str) -> None:
    """Have this process see these GPUs only, in a worker before CUDA starts; empty hides all."""
    os.environ[VISIBLE] = ids
