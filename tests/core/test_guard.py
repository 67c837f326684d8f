"""A test that writes into the project's own folder fails and is named (tests/support/guard.py)."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support import PROJECT

CONFTEST = """
from pathlib import Path
from tests.support.guard import Guard

def pytest_configure(config):
    config.pluginmanager.register(Guard(Path(__file__).parent))
"""

TESTS = """
import subprocess
from pathlib import Path

HERE = Path(__file__).parent

def test_writes_elsewhere(tmp_path):
    (tmp_path / "file").write_text("x")
    (HERE / "__pycache__" / "compiled").write_text("x")
    assert (HERE / "reports/curves.csv").read_text() == "old"

def test_makes_a_folder():
    (HERE / "made/inner").mkdir(parents=True)

def test_adds_below_a_folder_that_a_test_made():
    (HERE / "made/inner/file").write_text("x")

def test_replaces_a_file():
    (HERE / "new").write_text("new")
    (HERE / "new").replace(HERE / "reports/curves.csv")

def test_writes_in_a_child():
    subprocess.run(["sh", "-c", "echo x >> reports/curves.csv"], cwd=HERE, check=True)

def test_removes_a_file():
    (HERE / "reports/curves.csv").unlink()

def test_fails_and_writes():
    (HERE / "left").touch()
    assert False, "its own reason"

def test_reads_the_project():
    assert (HERE / "conftest.py").read_text()
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project of one file of tests, with the guard on its folder."""
    (tmp_path / "reports").mkdir()
    (tmp_path / "__pycache__").mkdir()
    (tmp_path / "reports/curves.csv").write_text("old")
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (tmp_path / "test_it.py").write_text(TESTS)
    return tmp_path


@pytest.mark.skipif(sys.platform != "linux", reason="folders are watched on Linux only")
@pytest.mark.parametrize("workers", [(), ("-n", "1")], ids=["one process", "a worker"])
def test_a_test_that_writes_into_the_project_fails_and_is_named(project: Path, workers: tuple[str, ...]):
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-p",
        "no:hypothesispytest",
        *workers,
        "test_it.py",
    ]
    environment = os.environ | {"PYTHONPATH": str(PROJECT)}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    named = {line.rpartition("::")[2].split()[0] for line in done.stdout.splitlines() if line.startswith("ERROR ")}
    assert named == {
        "test_makes_a_folder",
        "test_adds_below_a_folder_that_a_test_made",
        "test_replaces_a_file",
        "test_writes_in_a_child",
        "test_removes_a_file",
        "test_fails_and_writes",
    }, done.stdout
    assert done.returncode == 1
    assert "test_writes_in_a_child - written in the project's folder" in done.stdout
    assert "made/inner/file" in done.stdout
