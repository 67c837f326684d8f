"""``hearsight app``: the link it prints logs the owner in, at the default address as at a public one."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from tests.support import PROJECT, until
from tests.support.app.project import new_project

pytestmark = pytest.mark.long


@contextmanager
def started(root: Path, *options: str) -> Iterator[str]:
    """The line that the command prints; it is ended by Ctrl-C."""
    environment = os.environ | {"HEARSIGHT_ROOT": str(root), "PYTHONPATH": str(PROJECT)}
    command = [sys.executable, "-m", "components.cli.entry", "app", "--port", "0", *options]
    process = subprocess.Popen(command, cwd=root, env=environment, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.stdout.readline()
    finally:
        process.send_signal(signal.SIGINT)
        assert process.wait(60) in (0, 130)


def listens(address: str) -> bool:
    try:
        return httpx.get(f"{address}/static/app.css", timeout=60).is_success
    except httpx.ConnectError:
        return False


def test_the_printed_link_logs_the_owner_in_and_its_token_is_in_a_private_file(tmp_path: Path):
    new_project(tmp_path)
    with started(tmp_path) as line:
        address, _, token = line.split()[1].partition("/login?token=")
        until(lambda: listens(address))
        file = tmp_path / ".hearsight" / "app" / "token"
        assert file.read_text().strip() == token and file.stat().st_mode & 0o777 == 0o600
        with httpx.Client(base_url=address, timeout=60) as client:
            assert client.get("/").status_code == 403
            assert client.get("/", headers={"authorization": f"Bearer {token}"}).is_success
            assert client.get(f"/login?token={token}").status_code == 303 and client.get("/").is_success
    with started(tmp_path, "--name", "rate.example") as line:
        found = re.search(r"http://rate\.example(:\d+)(/login\?token=\S+)", line)
        assert found
        address = f"http://127.0.0.1{found[1]}"
        until(lambda: listens(address))
        with httpx.Client(base_url=address, headers={"host": "rate.example"}, timeout=60) as client:
            assert client.get("/").status_code == 403
            assert token not in found[2], "another one for each start"
            assert client.get(found[2]).status_code == 303
            ((name, value),) = client.cookies.items()
            client.cookies.set(name, value, domain="127.0.0.1")
            assert client.get("/").is_success
