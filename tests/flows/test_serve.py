"""The schedule really fires: a server and the serving process as a user starts them, a cron of every minute."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.support import until
from tests.support.flows.clones import Make, git

PROJECT = Path(__file__).resolve().parents[2]


@pytest.mark.slow
def test_a_schedule_starts_the_flow_and_completes_its_stages(make_project: Make) -> None:
    root = make_project()
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    env = {name: value for name, value in os.environ.items() if not name.startswith("PREFECT_")}
    env |= {"PYTHONPATH": str(PROJECT), "PREFECT_HOME": str(root / "prefect")}
    log = (root / "serve.log").open("wb")
    process = subprocess.Popen(
        [sys.executable, "-m", "flows.serve", "--port", str(port)], cwd=root, env=env, stdout=log, stderr=log
    )
    try:
        deadline = time.monotonic() + 600
        while not (root / "b.txt").is_file():
            assert process.poll() is None, (root / "serve.log").read_text()
            assert time.monotonic() < deadline, (root / "serve.log").read_text()
            time.sleep(0.5)
        assert not (root / "c.txt").exists(), "the schedule's target is b alone"
        assert len((root / "b.txt").read_text()) == 36
        until(lambda: git(root, "tag", "--list", "runs/often/*"))
    finally:
        process.send_signal(signal.SIGINT)
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        log.close()
