"""infra/slurm.sh starts a real Ray cluster with stand-ins for SLURM's commands, and continues after a signal."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from tests.support import PROJECT, until
from tests.support.execution.ray_support import free_port

SCRIPT = PROJECT / "infra" / "slurm.sh"
COMMANDS = {
    # A task a node; the nodes are this machine.
    "srun": """tasks=1
while [[ $1 == --* ]]; do [[ $1 == --ntasks=* ]] && tasks=${1#*=}; shift; done
for ((n = 0; n < tasks; n++)); do SLURM_PROCID=$n "$@" & running+=($!); done
trap 'kill "${running[@]}"' TERM
wait; wait
""",
    "scontrol": """case "$1 $2" in
"show hostnames") printf 'one\\ntwo\\n' ;;
*) echo "$@" >> "$STAND_INS/scontrol.log" ;;
esac
""",
    "hostname": "echo 127.0.0.1\n",
}


@pytest.fixture
def environment(tmp_path: Path) -> Iterator[dict[str, str]]:
    """What sbatch sets, for a job of two nodes of one core."""
    commands = tmp_path / "bin"
    commands.mkdir()
    for name, content in COMMANDS.items():
        (commands / name).write_text("#!/bin/bash\n" + content)
        (commands / name).chmod(0o755)
    home = tempfile.mkdtemp(prefix="hr", dir="/tmp")
    yield {
        **os.environ,
        "PATH": os.pathsep.join((str(commands), str(Path(sys.executable).parent), os.environ["PATH"])),
        "STAND_INS": str(tmp_path),
        "RAY_TMPDIR": home,
        "HEARSIGHT_RAY_PORT": str(free_port() % 20000 + 20000),
        "SLURM_JOB_ID": "77",
        "SLURM_JOB_NUM_NODES": "2",
        "SLURM_JOB_NODELIST": "n[1-2]",
        "SLURM_CPUS_PER_TASK": "1",
        "SLURM_NTASKS": "2",
        "SLURM_SUBMIT_DIR": str(PROJECT),
    }
    shutil.rmtree(home, ignore_errors=True)


def processes_of(environment: dict[str, str]) -> list[psutil.Process]:
    """The processes of the cluster."""
    found = []
    for process in psutil.process_iter():
        try:
            if environment["RAY_TMPDIR"] in " ".join(process.cmdline()):
                found.append(process)
        except psutil.Error:
            continue
    return found


def start(environment: dict[str, str], root: Path) -> subprocess.Popen[str]:
    command = ["bash", str(SCRIPT), sys.executable, "-m", "tests.execution.ray_work", "jobs", str(root)]
    return subprocess.Popen(command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


@pytest.mark.slow
def test_a_job_that_is_told_of_its_end_is_queued_again_and_continues(tmp_path: Path, environment: dict[str, str]) -> None:
    work = tmp_path / ".hearsight" / "work" / "english" / "crawl"
    try:
        first = start(environment, tmp_path)
        until(lambda: first.poll() is not None or (work / "tried-c").exists())
        assert first.poll() is None, first.communicate()[1][-3000:]
        first.send_signal(signal.SIGUSR1)
        _, told = first.communicate(timeout=300)
        assert first.returncode == 0 and "queued again" in told, told
        assert (tmp_path / "scontrol.log").read_text() == "requeue 77\n"
        until(lambda: not processes_of(environment))
        (work / "go").touch()
        again = start(environment | {"SLURM_RESTART_COUNT": "1"}, tmp_path)
        made, told = again.communicate(timeout=300)
        assert again.returncode == 0 and made.split() == list("abcd"), told
        assert [(work / f"tried-{name}").read_text() for name in "ab"] == ["x", "x"]
        assert "start 1, 2 nodes" in told
        until(lambda: not processes_of(environment))
    finally:
        for process in processes_of(environment):
            process.kill()


@pytest.mark.slow
def test_a_failed_command_ends_the_job_with_its_code(tmp_path: Path, environment: dict[str, str]) -> None:
    done = subprocess.run(["bash", str(SCRIPT), "bash", "-c", "exit 3"], env=environment, capture_output=True, text=True)
    assert done.returncode == 3, done.stderr[-3000:]
    assert not (tmp_path / "scontrol.log").exists()
    until(lambda: not processes_of(environment))
