"""`make ui`: the application is started with the others' addresses; one that does not start is left out with a warning."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from tests.support import HANG, PROJECT, until
from tests.support.app.project import new_project
from tests.support.flows.served import free_port

pytestmark = pytest.mark.long


def accept_ctrl_c() -> None:
    """Undo what a shell does to commands in the background: they ignore Ctrl-C, and so do their children."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


def test_the_start_page_links_what_runs_and_everything_ends_with_ctrl_c(tmp_path: Path):
    new_project(tmp_path)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = free_port()
        # An MLflow and a Prefect that run elsewhere: the first answers, and of the second's port something else has hold.
        environment = os.environ | {
            "HEARSIGHT_ROOT": str(tmp_path), "PYTHONPATH": str(PROJECT), "HEARSIGHT_TRACKING": "off",
            "MLFLOW_TRACKING_URI": "http://someone:word@127.0.0.1:9/",  # pragma: allowlist secret
        }  # fmt: skip
        environment.pop("PREFECT_API_URL", None)
        command = [sys.executable, "-m", "flows.ui", "--app", str(port), "--prefect", str(taken.getsockname()[1])]
        out, err = tmp_path / "out", tmp_path / "err"
        with out.open("wb") as stdout, err.open("wb") as stderr:
            process = subprocess.Popen(
                command, cwd=tmp_path, env=environment, stdout=stdout, stderr=stderr, preexec_fn=accept_ctrl_c
            )
        try:
            until(lambda: "Ctrl-C" in out.read_text() or process.poll() is not None)
            lines = out.read_text().splitlines()
            start, token = lines[0].split()[-1].split("/login?token=")
            assert lines[0].startswith("start page ") and start == f"http://127.0.0.1:{port}"
            assert lines[1].endswith("http://127.0.0.1:9/") and len(lines) == 3
            (warning,) = err.read_text().splitlines()
            assert warning.startswith("hearsight: warning: without prefect: ")
            log = tmp_path / ".hearsight" / "app-server.log"
            assert token in log.read_text() and log.stat().st_mode & 0o077 == 0
            owner = urllib.request.Request(f"{start}/", headers={"Authorization": f"Bearer {token}"})
            page = urllib.request.urlopen(owner).read().decode()
            assert 'href="http://127.0.0.1:9/"' in page, "and no login in it"
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(HANG) == 0
    with socket.socket() as again:
        again.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        again.bind(("127.0.0.1", port))
