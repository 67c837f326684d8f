"""A Prefect server, the serving process and workers as a user starts them, each on loopback."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import psutil

from tests.support import PROJECT, until
from tests.support.flows.clones import KEYS


def free_port() -> int:
    """Return a port of loopback that is free now."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def plain_environment(home: Path, **more: str) -> dict[str, str]:
    """Return the environment without the test server's settings."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    silent = {"PREFECT_SERVER_ANALYTICS_ENABLED": "false", "DO_NOT_TRACK": "1", "HEARSIGHT_TRACKING": "off"}
    return {**env, **KEYS, **silent, "PYTHONPATH": str(PROJECT), "PREFECT_HOME": str(home), "DVC_NO_ANALYTICS": "1", **more}


def kill_all(process: subprocess.Popen[bytes]) -> None:
    """Kill a process and all that it started, at once, as a machine that loses power."""
    family = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
    for member in family:
        try:
            member.send_signal(signal.SIGKILL)
        except psutil.NoSuchProcess:
            continue
    process.wait()


@contextmanager
def started(words: Sequence[str], root: Path, env: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Run ``python words`` in ``root`` until the block ends."""
    with log.open("ab") as handle:
        process = subprocess.Popen([sys.executable, *words], cwd=root, env=env, stdout=handle, stderr=handle)
        try:
            yield process
        finally:
            if process.poll() is None:
                process.send_signal(signal.SIGINT)
                try:
                    process.wait(60)
                except subprocess.TimeoutExpired:
                    kill_all(process)


class Server:
    """A Prefect server's API."""

    def __init__(self, url: str, auth: Any = None) -> None:
        self.url, self.auth = url, auth

    def post(self, path: str, **body: Any) -> Any:
        """Return the answer; a server whose SQLite is busy answers 503 and is asked again, as Prefect's client does."""

        def answer() -> Any:
            response = httpx.post(f"{self.url}{path}", json=body, auth=self.auth, timeout=60)
            if response.status_code == 503:
                return None
            response.raise_for_status()
            return response

        return until(answer).json()

    def start(self, deployment: str, **parameters: Any) -> str:
        """Start a run of ``pipeline/daily`` as a person does; return its id."""
        found = until(lambda: self._get(f"/deployments/name/{deployment}"))
        return str(
            self.post(f"/deployments/{found['id']}/create_flow_run", parameters=parameters, state={"type": "SCHEDULED"})["id"]
        )

    def state(self, run: str) -> dict[str, Any]:
        """Return the state of a run."""
        return dict(until(lambda: self._get(f"/flow_runs/{run}"))["state"])

    def _get(self, path: str) -> Any:
        response = httpx.get(f"{self.url}{path}", auth=self.auth, timeout=60)
        return response.json() if response.status_code == 200 else None


@contextmanager
def prefect_server(folder: Path) -> Iterator[Server]:
    """Run a server with a database of its own until the block ends."""
    port = free_port()
    home = folder / "prefect-home"
    home.mkdir()
    server = Server(f"http://127.0.0.1:{port}/api")
    words = ["-m", "prefect", "server", "start", "--host", "127.0.0.1", "--port", str(port)]
    patient = {f"PREFECT_SERVER_DATABASE_{name}": "60" for name in ("TIMEOUT", "CONNECTION_TIMEOUT")}
    with started(words, folder, plain_environment(home, **patient), folder / "server.log") as process:

        def answers() -> bool:
            assert process.poll() is None, (folder / "server.log").read_text()
            try:
                return httpx.get(f"{server.url}/health", timeout=5).status_code == 200
            except httpx.HTTPError:
                return False

        until(answers, within=600)
        yield server


@contextmanager
def serving(root: Path, server: Server, **env: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run ``python -m flows.serve`` in a project until the block ends; the block starts when it serves."""
    log = root.with_name(f"{root.name}-serve-{free_port()}.log")
    environment = plain_environment(root.parent / "prefect-home", PREFECT_API_URL=server.url, **env)
    with started(["-m", "flows.serve"], root, environment, log) as process:

        def serves() -> bool:
            assert process.poll() is None, log.read_text()
            return "served until Ctrl-C" in log.read_text()

        until(serves, within=600)
        yield process


@contextmanager
def workers(pool: str, server: Server, *clones: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Run a worker in each clone until the block ends."""
    with ExitStack() as stack:
        yield [
            stack.enter_context(
                started(
                    ["-m", "flows.worker", "--pool", pool],
                    clone,
                    plain_environment(clone.parent / "prefect-home", PREFECT_API_URL=server.url, HEARSIGHT_ROOT=str(clone)),
                    clone.with_name(f"{clone.name}-worker.log"),
                )
            )
            for clone in clones
        ]
