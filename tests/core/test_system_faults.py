"""What is wrong with the machine's files is one line and exit code 2, whatever command meets it."""

from __future__ import annotations

import errno
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from components.core.files import explain_error
from components.core.params import read_params_file
from tests.support import PROJECT
from tests.support.settings_files import copy_settings, write_settings


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """The files that a command needs to start."""
    copy_settings(tmp_path)
    shutil.copy(PROJECT / "takedown.jsonl", tmp_path)
    return tmp_path


def command(project: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "HEARSIGHT_TRACKING": "now"}
    return subprocess.run(
        [sys.executable, "-m", *words], cwd=project, env=environment, capture_output=True, text=True, check=False
    )


@pytest.mark.long
@pytest.mark.parametrize(
    "words",
    [
        ("components.cli.entry", "run", "crawl", "--dataset", "english"),
        ("components.cli.main", "run", "crawl", "--dataset", "english"),
    ],
)
def test_a_file_in_place_of_the_state_folder_gives_a_one_line_error(project, words):
    (project / ".hearsight").write_text("not a folder")
    done = command(project, *words)
    assert done.returncode == 2, done.stderr
    (line,) = done.stderr.strip().splitlines()
    assert line.startswith("hearsight: ") and ".hearsight" in line and "Not a directory" in line and "run again" in line


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_state_folder_without_permission_gives_a_one_line_error(project):
    (project / ".hearsight").mkdir(mode=0o500)
    done = command(project, "components.cli.entry", "run", "crawl", "--dataset", "english")
    assert done.returncode == 2 and len(done.stderr.strip().splitlines()) == 1 and "Permission denied" in done.stderr


@pytest.mark.parametrize(
    ("number", "message"), [(errno.ENOSPC, "no space is left"), (errno.EROFS, "Read-only"), (errno.EINVAL, None)]
)
def test_faults_of_the_machine_are_distinguished_from_defects(number, message):
    result = explain_error(OSError(number, os.strerror(number), "/x/y"))
    assert result is None if message is None else message in str(result) and "/x/y" in str(result)


FULL = """
mount -t tmpfs -o size=700k none "$0" && cd "$0" && cp "$1"/takedown.jsonl "$1"/dvc.yaml . && cp "$2" params.yaml &&
cp -r "$(dirname "$2")/datasets" . && ln -s "$3" web && exec "$4" -m components.cli.entry run crawl --dataset english
"""


@pytest.mark.long
@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare")
def test_a_full_disk_during_a_crawl_gives_a_one_line_error(tmp_path):

    from tests.support.crawl.crawls import fixture_params
    from tests.support.crawl.fixture_web import build_fixture_web

    content = read_params_file(PROJECT / "params.yaml")
    content["english"]["crawl"] = fixture_params().plain()
    write_settings(tmp_path, content)
    build_fixture_web(tmp_path / "web", pages=30)
    (disk := tmp_path / "disk").mkdir()
    words = ["unshare", "-rm", "sh", "-c", FULL, disk, PROJECT, tmp_path / "params.yaml", tmp_path / "web", sys.executable]
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "HEARSIGHT_TRACKING": "now"}
    done = subprocess.run([str(word) for word in words], env=environment, capture_output=True, text=True, check=False)
    if "mount" in done.stderr or "unshare" in done.stderr:
        pytest.skip("this host lets no user mount a file system of its own")
    # The database of MLflow may not fit either; that is a warning of its own.
    output = [line for line in done.stderr.splitlines() if "hearsight: " in line and "not in MLflow" not in line]
    assert done.returncode == 2 and "Traceback" not in done.stderr, done.stderr
    assert len(output) == 1 and "no space is left on the disk" in output[0]


FILL = """
import os, sys
from pathlib import Path
from types import SimpleNamespace
from components.core.errors import HearsightError
from components.core.result_cache import ResultCache
disk, free = Path(sys.argv[1]), int(sys.argv[2])
room = os.statvfs(disk)
(disk / "filled").write_bytes(bytes(room.f_bavail * room.f_bsize - free))
try:
    ResultCache(disk / "cache").write(SimpleNamespace(name="n", version=1, model="m", codec="bytes"), {"key": bytes(30_000)})
except HearsightError as error:
    print(error)
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="needs unshare")
@pytest.mark.parametrize("free", [0, 16_384, 40_960])  # no file; no index of the log; no room for the result
def test_a_full_disk_is_named_wherever_the_result_cache_meets_it(tmp_path, free):
    mount = 'mount -t tmpfs -o size=1m none "$0" && exec "$@"'
    words = ["unshare", "-rm", "sh", "-c", mount, tmp_path, sys.executable, "-c", FILL, tmp_path, free]
    done = subprocess.run([str(word) for word in words], cwd=PROJECT, capture_output=True, text=True, check=False)
    if "mount" in done.stderr or "unshare" in done.stderr:
        pytest.skip("this host lets no user mount a file system of its own")
    assert "no space is left on the disk" in done.stdout, done.stderr


INTERRUPTED = """
import signal, time
from components.core.streams import report_errors
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background jobs ignore it
raise SystemExit(report_errors(lambda: print("ready", flush=True) or time.sleep(600)))
"""


def test_an_interrupt_is_one_line_and_the_shells_exit_code() -> None:
    running = subprocess.Popen([sys.executable, "-c", INTERRUPTED], cwd=PROJECT, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None and running.stdout.readline() == b"ready\n"
    running.send_signal(signal.SIGINT)
    _, printed = running.communicate(timeout=60)
    assert running.returncode == 130 and printed.count(b"\n") == 1 and b"interrupted" in printed
