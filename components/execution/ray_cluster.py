"""Connection to the Ray cluster of ``engine: ray``, what its nodes can run at once, and checks that they give the same bytes.

Tasks are run by :mod:`components.execution.ray_engine`. Clusters are started by the user, except for ``address: local``.
"""

from __future__ import annotations

import logging
import math
import os
import shlex
import socket
import sys
import time
import uuid
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from components.core.addresses import CODE_ROOT, code_path
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.machine import usable_cores
from components.core.object_store import ObjectStore
from components.core.shard_cache import machine_id
from components.execution import ray_node as node
from components.execution.engine import THREAD_LIMITS
from components.execution.resources import Resources
from components.execution.writer_lock import WriterLock

PATIENCE = 60.0
"""Seconds to wait for the nodes' first answers."""
STORE_BYTES = 100_000_000
"""Bytes of shared memory of a node that ``address: local`` starts; only cached results and small values pass through it."""
STARTS = 5
"""Times that ``address: local`` tries to start a cluster on a busy machine."""
RECONNECT = "10"
"""Seconds after which a cluster ends the tasks of a silent ``ray://`` client; less than a new writer waits."""
SETTING = "params.yaml: engine.address"


def connect(address: str, workers: int) -> Any:
    """Connect to a cluster and return the module ``ray``.

    Args:
        address: see :class:`components.execution.ray_engine.RayEngine`.
        workers: cores of the cluster that ``local`` starts; 0 takes all that this process may use.

    Raises:
        HearsightError: Ray is not installed, or there is no usable cluster at this address.
    """
    runtime: dict[str, Any] = {"env_vars": _environment()}
    if (quoted := shlex.quote(sys.executable)) != sys.executable:
        # Ray starts workers through a shell and does not quote the interpreter's path, which may have a space.
        runtime["py_executable"] = quoted
    settings: dict[str, Any] = {"runtime_env": runtime, "log_to_driver": False}
    os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
    os.environ.setdefault("RAY_CLIENT_RECONNECT_GRACE_PERIOD", RECONNECT)
    os.environ.setdefault("RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO", "0")
    if address == "local":
        # On loopback and without a dashboard, so that it is not reachable from outside. The address is not enough: Ray listens on
        # all interfaces unless this variable disables clusters.
        os.environ["RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER"] = "0"
        settings |= {"num_cpus": workers or usable_cores(), "include_dashboard": False}
        settings |= {"object_store_memory": STORE_BYTES, "_node_ip_address": "127.0.0.1"}
    elif address != "auto":
        _require_reachable(address)
    try:
        import ray  # here: optional and slow to import
    except ImportError:
        raise HearsightError(
            "the package ray is not installed", where="params.yaml: engine.kind", hint="pip install --editable '.[ray]'"
        ) from None
    for left in range(STARTS if address == "local" else 1)[::-1]:
        try:
            ray.init(address, logging_level=logging.ERROR, **settings)
            break
        except Exception as error:
            # A plain Exception, after 30 s, for which Ray has no setting; the machine may be busy.
            slow = "timed out during startup" in str(error)
            if not slow and not isinstance(error, (ConnectionError, RuntimeError, ValueError, TimeoutError)):
                raise
            if slow and left:
                ray.shutdown()
                continue
            raise HearsightError(
                f"no Ray cluster can be used at '{address}' ({first_line(error)})",
                where=SETTING,
                hint="start one (`ray start --head`), run on one of its nodes, or set the address",
            ) from None
    return ray


def pin_to_node(node_id: str) -> Any:
    """Return the scheduling strategy that runs a task on that node only."""
    from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy  # here: optional and slow to import

    return NodeAffinitySchedulingStrategy(node_id, soft=False)


def check_nodes(ray: Any, cpus: float, writer_lock: WriterLock, folders: Sequence[Path], store: ObjectStore | None = None) -> str:
    """Verify that the cluster gives the same bytes; return the id of the node for the cache server.

    Raises:
        HearsightError: no node has ``cpus`` cores, or a node does not see the folders, runs other code or packages, or is not
            reached by the locks of this machine.
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
    # With storage in S3 the nodes share the bucket alone.
    probes = [folder / f".seen-{token}" for folder in folders] if store is None else []
    try:
        for probe in probes:
            publish_bytes(probe, token.encode())
        task, contents = ray.remote(node.report_node), dict.fromkeys(map(str, probes), token)
        requests = {}
        for entry in nodes:
            pinned = task.options(num_cpus=0, max_retries=2, scheduling_strategy=pin_to_node(entry["NodeID"]))
            requests[pinned.remote(contents, writer_lock, store)] = entry
        answered, silent = ray.wait(list(requests), num_returns=len(requests), timeout=PATIENCE)
        reports: dict[str, node.NodeReport] = {}
        for reference in answered:
            entry = requests[reference]
            try:
                reports[entry["NodeID"]] = ray.get(reference)
            except (ray.exceptions.NodeDiedError, ray.exceptions.TaskUnschedulableError):
                continue  # the node left meanwhile
            except ray.exceptions.RayError as error:
                if entry["NodeID"] in working:
                    raise _unfit(entry["NodeManagerAddress"], f"cannot run this code ({first_line(error)})") from None
        for entry in (requests[reference] for reference in silent):
            if entry["NodeID"] in working:
                raise _unfit(entry["NodeManagerAddress"], f"has not answered within {PATIENCE:g} s")
    finally:
        for probe in probes:
            probe.unlink(missing_ok=True)
    require_equal({name: report for name, report in reports.items() if name in working}, store is not None)
    # SQLite's write-ahead log works on one machine: this one, if it is in the cluster, so that local runs share the cache.
    local = [name for name, report in reports.items() if report.machine == machine_id() and not report.unseen]
    if store is not None and not local:
        hint = "run on one of the cluster's nodes: the result caches are files of this machine"
        raise HearsightError("this machine is not in the cluster", where="engine: ray, storage: s3", hint=hint)
    if not local and not working & set(reports):
        raise HearsightError("every node left while it was checked", where="engine: ray", hint="start nodes and run again")
    # The driver's node first, because the run ends with it; otherwise the choice must not depend on the order of answers.
    own = str(ray.get_runtime_context().get_node_id())
    return own if own in local else min(local or working & set(reports))


def _environment() -> Mapping[str, str]:
    """Return the workers' environment: this code's path, one numeric thread, and the HEARSIGHT variables of this run."""
    inherited = {name: value for name, value in os.environ.items() if name.startswith("HEARSIGHT_")}
    if "site-packages" not in CODE_ROOT.parts:
        inherited["PYTHONPATH"] = code_path(os.environ)
    return {**dict.fromkeys(THREAD_LIMITS, "1"), "TOKENIZERS_PARALLELISM": "false", **inherited}


def _require_reachable(address: str) -> None:
    """Raise HearsightError within seconds when nothing answers; Ray would try for a minute."""
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


def require_equal(reports: Mapping[str, node.NodeReport], in_bucket: bool = False) -> None:
    """Raise HearsightError when a node does not see the folders or locks, or has other code or packages than this process."""
    code, packages = node.local_code_digest(), node.local_packages()
    for report in reports.values():
        if report.unseen and in_bucket:
            raise _unfit(report.host, f"has no access to the bucket: {report.unseen[0]}", "give it credentials and a network")
        if report.unseen:
            what = f"cannot see and write {' and '.join(report.unseen)}"
            raise _unfit(report.host, what, "mount the project's folder there, at the same path")
        if not report.locks:
            hint = "mount the folder with locks (NFS 4; not nolock or local_lock)"
            raise _unfit(report.host, "is not reached by this machine's file locks", hint)
        if report.code != code:
            raise _unfit(report.host, "runs another version of Hearsight's code", "install the same one there")
        others = [name for name in packages if report.packages.get(name) != packages[name]]
        if others:
            name = others[0]
            what = f"has {name} {report.packages.get(name, 'none')}, not {packages[name]}"
            raise _unfit(report.host, what, "install requirements.lock there: bytes depend on it")


def _unfit(host: str, what: str, hint: str = "fix that node or take it out of the cluster") -> HearsightError:
    return HearsightError(f"node {host} {what}", where="engine: ray", hint=hint)


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message, or its class name."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), type(error).__name__)[:200]


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
