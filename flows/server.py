"""Context managers of servers on loopback, which end with the block and with this process."""

from __future__ import annotations

import atexit
import os
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from urllib.parse import urlsplit

from components.core.errors import HearsightError
from components.core.files import PRIVATE, keep_private
from flows.entry import require_server
from flows.settings import configure_prefect, set_login

PATIENCE = 180.0
"""Seconds within which a server must answer; Prefect's first creates its database."""
LOOPBACK = "127.0.0.1"


def reach_server(root: Path) -> None:
    """Have flows of this process report to the configured server, else to one with the project's database until the process ends.

    Raises:
        HearsightError: as :func:`prefect_server`.
    """
    if configure_prefect(root):
        stack = ExitStack()
        atexit.register(stack.close)  # before Prefect's own, which runs first then and sends what the server has not got yet
        stack.enter_context(prefect_server(root))
    else:
        require_server()


@contextmanager
def prefect_server(root: Path, port: int = 0) -> Iterator[str]:
    """Yield the URL of Prefect's API: ``PREFECT_API_URL``, or a server that runs until the block ends and asks for the login.

    Args:
        port: its port; 0 for a free one, and a server without pages and schedules.

    Raises:
        HearsightError: the server did not start, or the configured one does not answer.
    """
    if configured := os.environ.get("PREFECT_API_URL"):
        require_server()
        yield configured
        return
    set_login(root)
    command = [sys.executable, "-m", "flows.prefect_app", *([] if port else ["--temporary"])]
    if not port:
        with socket.socket() as free:
            free.bind((LOOPBACK, 0))
            port = free.getsockname()[1]
    url = f"http://{LOOPBACK}:{port}/api"
    command.append(str(port))
    with run_server("prefect", command, f"{url}/health", root):
        os.environ["PREFECT_API_URL"] = url
        yield url


@contextmanager
def run_server(name: str, command: Sequence[str], health: str, root: Path) -> Iterator[None]:
    """Run ``command`` in ``root`` until the block ends; the block starts when the URL ``health`` answers.

    Raises:
        HearsightError: the server did not start; its log is ``.hearsight/<name>-server.log``.
    """
    log = root / ".hearsight" / f"{name}-server.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    address = urlsplit(health)
    with suppress(OSError), socket.create_connection((address.hostname, address.port), 5):
        raise HearsightError(f"something already listens at {address.netloc}", hint=f"end it, or choose another port for {name}")
    guarded = [sys.executable, "-m", "flows.guard", "1e9", str(os.getpid()), "--", *command]
    log.touch(PRIVATE)
    keep_private(log)  # the application prints its token
    with log.open("wb") as handle:
        process = subprocess.Popen(guarded, cwd=root, stdout=handle, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            deadline = time.monotonic() + PATIENCE
            while not _answers(health):
                if process.poll() is not None or time.monotonic() > deadline:
                    raise HearsightError(f"the {name} server did not start", where=log, hint="read that log; is the port in use?")
                time.sleep(0.5)
            yield
        finally:
            process.terminate()
            process.wait()


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
