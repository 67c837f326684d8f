"""The environment of a rank: one process of several that train one model together on several machines.

The Ray engine starts ranks (:mod:`components.execution.ray_groups`). Training reads the environment that torchrun would set.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass

RUN = "TORCHELASTIC_RUN_ID"
"""Set in ranks only; Lightning and torch look for it."""


@dataclass(frozen=True)
class Rank:
    """The place of one process in its group."""

    number: int
    node: int
    local: int
    """Number among the ranks of its node."""
    processes: int
    """Ranks of each node."""
    world: int
    """Ranks of all nodes."""
    address: str
    """Of rank 0."""
    port: int

    def enter(self) -> None:
        """Set the environment of this process."""
        values = {
            "RANK": self.number,
            "GROUP_RANK": self.node,
            "NODE_RANK": self.node,
            "LOCAL_RANK": self.local,
            "LOCAL_WORLD_SIZE": self.processes,
            "WORLD_SIZE": self.world,
            "MASTER_ADDR": self.address,
            "MASTER_PORT": self.port,
            RUN: "hearsight",
        }
        os.environ.update({name: str(value) for name, value in values.items()})


def is_rank() -> bool:
    """Return whether this process is one of the ranks of a group."""
    return RUN in os.environ


def rank_number() -> int:
    """Return this process's number among its group's; 0 without a group."""
    return int(os.environ.get("RANK", "0")) if is_rank() else 0


_listeners: list[Callable[[], object]] = []


def on_checkpoint(listener: Callable[[], object]) -> None:
    """Have ``listener`` called after each checkpoint that this process writes."""
    _listeners[:] = [listener]


def checkpoint_written() -> None:
    """Tell the listener that a checkpoint was written, by which the engine knows that a restarted group makes progress."""
    for listener in _listeners:
        listener()
