"""Faults of processes: kill -9 of a runner, a worker or dvc, and of a Prefect flow, its server or one of its stages.

A flow, its server and its commands are processes of their own here, as a schedule starts them.
"""

from __future__ import annotations

import json
import os
import random
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from typing import Any

import psutil

from tests.faults import commands
from tests.faults.commands import Done
from tests.faults.fault import Fault, World
from tests.faults.project import Small
from tests.support import PROJECT, until
from tests.support.pipeline.harness import ENVIRONMENT

PATIENCE = 1200.0
"""Seconds until a flow has hung: without its server, Prefect's client tries each call six times, for a minute."""
VICTIMS = ("server", "flow", "stage")
SILENT = {"PREFECT_SERVER_ANALYTICS_ENABLED": "false", "DO_NOT_TRACK": "1", "PREFECT_LOGGING_LEVEL": "INFO"}


def kill(draw: random.Random, world: World) -> Fault:
    """Kill a process at a moment of a stage, or some milliseconds after it."""
    stage, goal = world.stage_and_goal(draw)
    roles = ["runner", "dvc", *(["worker"] if world.steps[f"run {stage}"]["worker"] else [])]
    victim = draw.choice(roles)
    delay = draw.choice((0.0, draw.uniform(0.001, 0.05)))

    def strike_now() -> None:
        if victim == "dvc":
            os.kill(os.getppid(), signal.SIGKILL)
        elif delay:
            # Inside a call of a library, where no step is counted. The default action of the signal ends the process at once.
            signal.signal(signal.SIGALRM, signal.SIG_DFL)
            signal.setitimer(signal.ITIMER_REAL, delay)
        else:
            os.kill(os.getpid(), signal.SIGKILL)

    strike = world.strike(draw, stage, strike_now, "worker" if victim == "worker" else "runner")
    later = f" + {delay * 1000:.0f} ms" if delay and victim != "dvc" else ""
    return Fault(f"{victim} killed at step {strike.at}{later} of {stage}", stage, goal, strike=strike, kills=True)


def flow(draw: random.Random, world: World) -> Fault:
    """Kill one part of a flow whose stage has begun, some moments later."""
    victim, delay, stage = draw.choice(VICTIMS), draw.uniform(0, 1.0), draw.choice(("crawl", "split"))
    fault = Fault(
        f"{victim} of a flow killed {delay:.2f} s after {stage} began", stage, stage, kills=victim == "flow", chatty=True
    )
    fault.run = lambda project, goal, first: _run(project, goal, victim if first else "", delay, stage)
    return fault


def _run(project: Small, goal: str, victim: str, delay: float, stage: str) -> Done:
    """Run the flow up to ``goal`` on a server of its own; kill ``victim`` in the first run."""
    home = project.root.parent / "prefect"
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    environment = {
        **ENVIRONMENT,
        **commands.SETTINGS,
        **SILENT,
        "HEARSIGHT_ROOT": str(project.root),
        "DVC_SITE_CACHE_DIR": str(project.root.parent / "site"),
        "PREFECT_HOME": str(home),
        "PREFECT_API_URL": f"http://127.0.0.1:{port}/api",
        "PYTHONPATH": str(PROJECT),
    }
    (project.root / ".hearsight" / "locks" / f"english.{stage}.lock").unlink(missing_ok=True)
    server = _start(project, environment, "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port))
    try:
        until(lambda: _answers(f"http://127.0.0.1:{port}/api/health"))
        running = _start(project, environment, "flows.pipeline", "--target", goal)
        if victim:
            lock = project.root / ".hearsight" / "locks" / f"english.{stage}.lock"
            until(lambda: lock.exists() or running.poll() is not None)
            time.sleep(delay)
            _kill(victim, server, running)
        running.wait(PATIENCE)
        output = (project.root.parent / "flows.pipeline.log").read_text(errors="replace")
        if victim != "server":
            output += "\nSTATES " + ", ".join(_states(port))
        return Done(("python", "-m", "flows.pipeline", "--target", goal), running.returncode, output)
    finally:
        for child in psutil.Process(server.pid).children(recursive=True) if server.poll() is None else []:
            child.terminate()
        server.terminate()
        server.wait()


def _kill(victim: str, server: subprocess.Popen[bytes], running: subprocess.Popen[bytes]) -> None:
    if victim == "stage":
        for child in psutil.Process(running.pid).children(recursive=True):
            if "hearsight run" in " ".join(child.cmdline()):
                return child.kill()
        return
    os.kill((server if victim == "server" else running).pid, signal.SIGKILL)


def _start(project: Small, environment: dict[str, str], *module: str) -> subprocess.Popen[bytes]:
    with (project.root.parent / f"{module[0]}.log").open("wb") as log:
        return subprocess.Popen([sys.executable, "-m", *module], cwd=project.root, env=environment, stdout=log, stderr=log)


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except (urllib.error.URLError, OSError):
        return False


def _states(port: int) -> list[str]:
    """Return the states of all flow runs, as Prefect shows them."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/api/flow_runs/filter", data=b"{}", headers={"Content-Type": "application/json"}
    )
    with urllib.request.urlopen(request, timeout=30) as answer:
        runs: list[dict[str, Any]] = json.load(answer)
    return sorted(run["state_name"] for run in runs)
