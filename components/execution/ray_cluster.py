"""The Ray cluster behind ``engine: ray``: connecting to it, and refusing one that would not give the same bytes.

Not in scope: starting a cluster (but for ``address: local``), and running anything on it (``engine_ray``).
"""

from __future__ import annotations

import logging
import os
import shlex
import socket
import sys
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.shard_cache import machine_id
from components.execution import ray_node as node
from components.execution.engine import THREAD_LIMITS
from components.execution.writer_lock import WriterLock

PATIENCE = 60.0
"""Seconds to wait for the nodes' first answers."""
STORE_BYTES = 100_000_000
"""Shared memory of a node that ``address: local`` starts: only annotations and small results pass through it."""
RECONNECT = "10"
"""Seconds after which a cluster gives up a silent ``ray://`` client, and ends its tasks; below a new writer's patience."""
SETTING = "params.yaml: engine.address"


def connect(address: str, workers: int) -> Any:
    """The module ``ray``, connected.

    Args:
        address: see :class:`components.execution.ray_engine.RayEngine`.
        workers: cores of the cluster that ``local`` starts; 0 takes those this process may use.

    Raises:
        HearsightError: Ray is not installed, or no cluster can be used at this address.
    """
    runtime: dict[str, Any] = {"env_vars": _environment()}
    if (quoted := shlex.quote(sys.executable)) != sys.executable:
        # Ray starts workers through a shell without quoting the interpreter's path, which may have a space.
        runtime["py_executable"] = quoted
    settings: dict[str, Any] = {"runtime_env": runtime, "log_to_driver": False}
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_CLIENT_RECONNECT_GRACE_PERIOD", RECONNECT)
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if address == "local":
        # Bound to loopback and without a dashboard: nothing of it is seen from outside. The address alone would not do:
        # Ray listens everywhere unless it takes this for a system where it has no clusters.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        settings |= {"num_cpus": workers or len(os.sched_getaffinity(0)), "include_dashboard": False}
        settings |= {"object_store_memory": STORE_BYTES, "_node_ip_address": "127.0.0.1"}
    elif address != "auto":
        _reach(address)
    try:
        import ray
    except ImportError:
        raise HearsightError(
            "the package ray is not installed", where="params.yaml: engine.kind", hint="pip install 'hearsight[ray]'"
        ) from None
    try:
        ray.init(address, logging_level=logging.ERROR, **settings)
    except (ConnectionError, RuntimeError, ValueError, TimeoutError) as error:
        raise HearsightError(
            f"no Ray cluster can be used at '{address}' ({first_line(error)})",
            where=SETTING,
            hint="start one (`ray start --head`), run on one of its nodes, or set the address",
        ) from None
    return ray


def pin_to_node(node_id: str) -> Any:
    """The scheduling strategy that runs a task on that node and nowhere else."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

    return NodeAffinitySchedulingStrategy(node_id, soft=False)


def check_nodes(ray: Any, cpus: float, writer_lock: WriterLock, folders: Sequence[Path]) -> str:
    """Refuse a cluster that would not give the same bytes; returns the node that keeps the annotations.

    Raises:
        HearsightError: no node has ``cpus`` cores, or one of them does not see the folders, runs other code or
            packages, or does not feel the locks of this machine.
    """
    nodes = [entry for entry in ray.nodes() if entry["Alive"]]
    working = {entry["NodeID"] for entry in nodes if entry["Resources"].get("CPU", 0) >= cpus}
    if not working:
        raise HearsightError(
            f"none of the cluster's {len(nodes)} nodes has {cpus:g} cores for a task",
            where="params.yaml: engine.cpus",
            hint="add a node, or ask for less",
        )
    token = uuid.uuid4().hex
    probes = [folder / f".seen-{token}" for folder in folders]
    try:
        for probe in probes:
            publish_bytes(probe, token.encode())
        looking, sight = ray.remote(node.report_node), dict.fromkeys(map(str, probes), token)
        asked = {}
        for entry in nodes:
            there = looking.options(num_cpus=0, max_retries=2, scheduling_strategy=pin_to_node(entry["NodeID"]))
            asked[there.remote(sight, writer_lock)] = entry
        answered, silent = ray.wait(list(asked), num_returns=len(asked), timeout=PATIENCE)
        looks: dict[str, node.NodeReport] = {}
        for reference in answered:
            try:
                looks[asked[reference]["NodeID"]] = ray.get(reference)
            except (ray.exceptions.NodeDiedError, ray.exceptions.TaskUnschedulableError):
                continue  # It left meanwhile.
            except ray.exceptions.RayError as error:
                if asked[reference]["NodeID"] in working:
                    raise _unfit(asked[reference]["NodeManagerAddress"], f"cannot run this code ({first_line(error)})") from None
        for entry in (asked[reference] for reference in silent):
            if entry["NodeID"] in working:
                raise _unfit(entry["NodeManagerAddress"], f"has not answered within {PATIENCE:g} s")
    finally:
        for probe in probes:
            probe.unlink(missing_ok=True)
    _same({name: seen for name, seen in looks.items() if name in working})
    # SQLite's log holds on one machine: this one, if it is of the cluster, so that a local run may go on beside it.
    near = [name for name, seen in looks.items() if seen.machine == machine_id() and not seen.unseen]
    if not near and not working & set(looks):
        raise HearsightError("every node left while it was looked at", where="engine: ray", hint="start nodes and run again")
    # The driver's own first: when that is gone, so is the run. Which of the others answered first is chance.
    own = str(ray.get_runtime_context().get_node_id())
    return own if own in near else min(near or working & set(looks))


def _environment() -> Mapping[str, str]:
    """What workers find in their environment: this code, one numeric thread, and the HEARSIGHT settings of this run."""

    kept = {name: value for name, value in os.environ.items() if name.startswith("HEARSIGHT_")}
    if "site-packages" not in node.PACKAGE.parts:
        kept["PYTHONPATH"] = os.pathsep.join(filter(None, (str(node.PACKAGE.parent), os.environ.get("PYTHONPATH"))))
    return {**dict.fromkeys(THREAD_LIMITS, "1"), "TOKENIZERS_PARALLELISM": "false", **kept}


def _reach(address: str) -> None:
    """Fail within seconds where Ray would try for a minute."""
    try:
        parts = urlsplit(address if "://" in address else f"//{address}")
        host, port = parts.hostname, parts.port
        if not host or not port or parts.scheme not in ("", "ray"):
            raise ValueError
    except ValueError:
        raise HearsightError(
            f"'{address}' is not an address of a cluster", where=SETTING, hint="give auto, local, host:port or ray://host:port"
        ) from None
    try:
        socket.create_connection((host, port), timeout=5).close()
    except OSError as error:
        raise HearsightError(
            f"nothing answers at {address} ({error})",
            where=SETTING,
            hint="start the cluster (`ray start --head`), or set the address",
        ) from None


def _same(looks: Mapping[str, node.NodeReport]) -> None:
    code, packages = node.local_code_digest(), node.local_packages()
    for seen in looks.values():
        if seen.unseen:
            raise _unfit(
                seen.host,
                f"cannot see and write {' and '.join(seen.unseen)}",
                "mount the project's folder there, at the same path",
            )
        if not seen.locks:
            raise _unfit(
                seen.host,
                "does not feel this machine's file locks",
                "mount the folder with locks (NFS 4; not nolock or local_lock)",
            )
        if seen.code != code:
            raise _unfit(seen.host, "runs another version of Hearsight's code", "install the same one there")
        others = [name for name in packages if seen.packages.get(name) != packages[name]]
        if others:
            there, here = seen.packages.get(others[0], "none"), packages[others[0]]
            raise _unfit(seen.host, f"has {others[0]} {there}, not {here}", "install requirements.lock there: bytes depend on it")


def _unfit(host: str, what: str, hint: str = "fix that node or take it out of the cluster") -> HearsightError:
    return HearsightError(f"node {host} {what}", where="engine: ray", hint=hint)


def first_line(error: BaseException) -> str:
    """The first line of what an error says."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)[:200]
