"""Helpers of the tests of the Ray engine."""

from __future__ import annotations

import shutil
import socket
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from components.core.errors import HearsightError
from components.execution.ray_engine import RayEngine
from tests.support import HANG

SMALL = {"num_cpus": 1, "num_gpus": 2, "object_store_memory": 80_000_000, "node_ip_address": "127.0.0.1"}
"""A node of one core and two GPUs, which Ray counts and this machine need not have."""


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def refusal(engine: RayEngine, lock: Path, folders: list[Path]) -> str:
    """The one line with which the engine refuses to open."""
    with pytest.raises(HearsightError) as caught, engine.open(lock.parent, lock, folders):
        pass
    assert "\n" not in str(caught.value)
    return str(caught.value)


@contextmanager
def loopback_cluster(nodes: int) -> Iterator[Any]:
    """A cluster of the head and ``spare`` nodes on loopback; no dashboard, nothing told to anybody."""
    # Not pytest's folder: the path of a socket may have 107 bytes.
    home = tempfile.mkdtemp(prefix="hr", dir="/tmp")
    # Ray would take this machine's outer address for 127.0.0.1, but on the systems that this is made for.
    quiet = {"RAY_TMPDIR": home, "RAY_USAGE_STATS_ENABLED": "0", "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0"}
    with pytest.MonkeyPatch.context() as patch:
        for name, value in {**quiet, "HEARSIGHT_MARK": "seen"}.items():
            patch.setenv(name, value)
        from ray.cluster_utils import Cluster

        head = SMALL | {"include_dashboard": False, "include_log_monitor": False, "ray_client_server_port": free_port()}
        made = patiently(lambda: Cluster(initialize_head=True, head_node_args=head))
        try:
            made.client = f"ray://127.0.0.1:{head['ray_client_server_port']}"
            # Addresses of their own, as machines have: the driver's node is the head, never one that a test removes.
            made.spare = [add_node(made, part) for part in range(2, nodes + 1)]
            made.wait_for_nodes(timeout=HANG)
            yield made
        finally:
            made.shutdown()
            shutil.rmtree(home, ignore_errors=True)


def add_node(cluster: Any, part: int) -> Any:
    """Add a node with the address 127.0.0.``part``; not waiting for it."""
    return patiently(lambda: cluster.add_node(wait=False, **SMALL | {"node_ip_address": f"127.0.0.{part}"}))


def patiently(start: Callable[[], Any]) -> Any:
    """Start a node; again if the machine is busy: Ray gives a node 30 s to start and has no setting for it."""
    for left in (4, 3, 2, 1, 0):
        try:
            return start()
        except Exception as error:
            if "timed out during startup" not in str(error) or not left:
                raise
