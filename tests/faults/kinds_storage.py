"""Faults of storage in S3: its server is killed, or connections to it are cut, while stages write outputs to the bucket."""

from __future__ import annotations

import os
import random
import signal
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import yaml

from components.execution.process import die_with_parent
from tests.faults import commands
from tests.faults.fault import Fault, World
from tests.faults.kinds_network import draw_cut
from tests.faults.project import STAGES, Small
from tests.faults.servers import Served
from tests.support import until
from tests.support.storage.server import S3Server, answers

PATIENCE = 7.0
"""Seconds that a run waits for a server that does not answer."""
BYTES = 600_000
"""About what passes in a run of all stages, in both directions."""
BACK = {signal.SIGUSR1: 1.0, signal.SIGUSR2: 2 * PATIENCE}
"""Signal that kills the server → seconds until it is started again."""


def storage(draw: random.Random, world: World) -> Fault:
    """Kill the server of the bucket or cut connections to it; a killed one comes back during the run or after it."""
    server = world.server("storage", lambda: serve_storage(world.folder / "bucket-server"))
    world.edits.setdefault("storage", (lambda root: set_storage(root, server.url), "crawl"))
    world.environments["storage"] = S3Server.environment
    cut = draw_cut(draw, BYTES)
    if draw.random() < 0.5:
        cut.mode = "kill"
    if cut.mode in ("kill", "stall"):
        cut.times = 1  # each stalled connection costs half a minute
    cut.kill_with = draw.choice(list(BACK))
    _, goal = world.stage_and_goal(draw, "crawl")
    proxy = cut.proxy(server)
    proxy.run()
    name = (
        f"the bucket's server, for {BACK[cut.kill_with]:g} s" if cut.mode == "kill" else f"{cut.times} connections to the bucket"
    )
    return Fault(
        f"{name}: {cut.mode} after {cut.after} bytes",
        "crawl",
        goal,
        prepare=lambda project: set_storage(project.root, proxy.url),
        environment=S3Server.environment,
        after=lambda _: until(lambda: answers(server.port)),
        variant="storage",
        struck=lambda: cut.struck,
        verify=lambda project: _wrong(project, world, goal),
        end=proxy.kill,
    )


def set_storage(root: Path, url: str) -> None:
    """Keep the project's outputs in the bucket at ``url``, below a prefix of their own."""
    path = root / "params.yaml"
    content = yaml.safe_load(path.read_text())
    place = f"s3://bucket/{uuid.uuid4().hex[:8]}"
    content["storage"] = {"kind": "s3", "url": place, "endpoint": url, "patience": PATIENCE, "versioned": "/manifest.json"}
    path.write_text(yaml.safe_dump(content, sort_keys=False))


def serve_storage(folder: Path) -> Served:
    """Return rclone's S3 server over a folder, under a process that kills and starts it again at the signals of :data:`BACK`."""

    def start(port: int) -> int:
        server, parent, delay = S3Server(folder), os.getpid(), [0.0]
        server.port = port or server.port
        started = threading.Event()

        def kill(number: int, _: Any) -> None:
            delay[0] = BACK[signal.Signals(number)]
            if server.process is not None:
                server.process.kill()

        def supervise() -> None:
            while True:
                server.start(preexec_fn=lambda: die_with_parent(parent))
                started.set()
                if server.process is not None:
                    server.process.wait()
                time.sleep(delay[0])

        for number in BACK:
            signal.signal(number, kill)
        threading.Thread(target=supervise, daemon=True).start()
        started.wait()
        return server.port

    return Served(start)


def _wrong(project: Small, world: World, goal: str) -> list[str]:
    """Return what the bucket lacks, and the outputs whose digest is not that of the same output on a disk."""
    done = commands.hearsight(project.root, "storage", "status", **S3Server.environment)
    lacks = [f"the bucket lacks objects: {done.output}"] if done.code else []
    local = world.manifests[""]
    other = [stage for stage in STAGES[: STAGES.index(goal) + 1] if project.manifests()[stage] != local[stage]]
    return lacks + [f"{stage}: another digest than on a disk" for stage in other]
