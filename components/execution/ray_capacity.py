"""What the nodes of a Ray cluster can run at once, and the wait for nodes that are missing."""

from __future__ import annotations

import math
import sys
import time
from typing import Any

from components.core.errors import HearsightError
from components.execution.resources import Resources

COUNT_INTERVAL = 5.0
"""Seconds between two queries of the cluster's nodes."""


class Capacity:
    """Counts the nodes that have what an item needs.

    Args:
        ray: the module, connected.
        cpus: cores of a task at least.
        wait: seconds for which the cluster may have too few nodes; 0 does not wait.
    """

    def __init__(self, ray: Any, resources: Resources, cpus: float, wait: float) -> None:
        self.ray, self.nodes, self.wait = ray, resources.nodes, wait
        self.need = {"CPU": max(cpus, float(resources.cpus))} | ({"GPU": float(resources.gpus)} if resources.gpus else {})
        self._counted, self._enough, self._slots, self._told = 0.0, time.monotonic(), 0, False

    def slots(self) -> int:
        """Return how many items run at once; 0 while nodes are missing.

        Raises:
            HearsightError: there have been too few nodes for ``wait`` seconds.
        """
        now = time.monotonic()
        if self._slots and now - self._counted <= COUNT_INTERVAL:
            return self._slots
        have = [entry["Resources"] for entry in self.ray.nodes() if entry["Alive"]]
        shares = [math.floor(min(node.get(name, 0.0) / amount for name, amount in self.need.items())) for node in have]
        self._counted, fitting = now, sum(share > 0 for share in shares)
        self._slots = sum(shares) // self.nodes if fitting >= self.nodes else 0
        if self._slots:
            self._enough, self._told = now, False
            return self._slots
        what = f"the cluster has {fitting} of {self.nodes} nodes with {self.needed()}"
        if now - self._enough >= self.wait:
            more = f", for {self.wait:g} s" if self.wait else ""
            hint = "start nodes and run again, ask for less in hardware or engine.cpus, or raise engine.wait"
            raise HearsightError(what + more, where="engine: ray", hint=hint)
        if not self._told:
            self._told = True
            print(f"{what}: waiting for more, at most {self.wait:g} s", file=sys.stderr)
        return 0

    def needed(self) -> str:
        """Return what an item needs of a node, for messages: ``1 core and 2 GPUs``."""
        names = {"CPU": "core", "GPU": "GPU"}
        return " and ".join(f"{amount:g} {names[name]}{'s' * (amount != 1)}" for name, amount in self.need.items())
