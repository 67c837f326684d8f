"""What an item of work needs of machines, and the GPUs of this one."""

from __future__ import annotations

import os
from dataclasses import dataclass

from components.core.errors import HearsightError

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
