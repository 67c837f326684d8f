"""`hearsight demo` shows overall progress, passes failures on, and leaves no process behind."""

from __future__ import annotations

import re
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import yaml

from components.tools.demo import HEADER
from flows.progress import LOG
from tests.support.flows.served import plain_environment

pytestmark = pytest.mark.long

PIPELINE = {
    "vars": ["datasets/words.yaml"],
    "stages": {
        "first": {"foreach": "${list}", "do": {"cmd": "echo ${item.word} > ${key}", "outs": ["${key}"]}},
        "second": {"foreach": "${chain.second}", "do": {"cmd": "sh second.sh", "deps": ["a", "b", "second.sh"], "outs": ["c"]}},
    },
}
PARAMS = {
    "chain": {"first": {"a": {}, "b": {}}, "second": {"c": {"input": "a/first", "more": "b/first"}}},
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "dvc.yaml").write_text(yaml.safe_dump(PIPELINE))
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(PARAMS))
    (tmp_path / "datasets").mkdir()
    (tmp_path / "datasets" / "words.yaml").write_text(yaml.safe_dump({"list": {"a": {"word": "one"}, "b": {"word": "two"}}}))
    (tmp_path / "experiments.yaml").write_text("words: {list: {a: {word: large}}}\n")
    subprocess.run([sys.executable, "-m", "dvc", "init", "-q", "--no-scm"], cwd=tmp_path, check=True)
    return tmp_path


def start(root: Path, verb: str) -> subprocess.Popen[str]:
    env = plain_environment(root / ".hearsight" / "prefect", HOME=str(root), HEARSIGHT_ROOT=str(root))
    return subprocess.Popen(
        [sys.executable, "-m", "components.cli.main", verb], env=env,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def test_a_failure_is_shown_with_its_log_and_the_same_command_continues(root):
    (root / "second.sh").write_text("echo details; echo 'hearsight: the disk is full' >&2; exit 2\n")
    failed = start(root, "demo")
    result = failed.communicate()[0]
    assert failed.returncode == 2
    assert {"first@a", "first@b", "second@c"} == set(re.findall(r"stage \d of 3: (\S+)", result))
    (line,) = [line for line in result.splitlines() if line.startswith("hearsight: ")]
    assert line.startswith(f"hearsight: second@c: the disk is full — see {root / LOG}; the same command")
    assert "details" not in result and "| second@c | details" in (root / LOG).read_text()
    (root / "second.sh").write_text("cat a b > c\n")
    again = start(root, "demo")
    result = again.communicate()[0]
    assert again.returncode == 0, result
    assert "stage 3 of 3: second@c" in result
    assert "1 stages ran, 2 were up to date" in result
    with sqlite3.connect(root / ".hearsight" / "prefect" / "prefect.db") as database:  # the database of `make ui`
        runs = database.execute("select state_type from flow_run order by created").fetchall()
        tasks = database.execute("select name, state_type from task_run where name like 'second%' order by created").fetchall()
    assert runs == [("FAILED",), ("COMPLETED",)]
    assert tasks == [("second@c", "FAILED"), ("second@c", "COMPLETED")]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_ends_the_flow_and_its_stages_and_restores_the_settings(root, number):
    (root / "second.sh").write_text("sleep 300 & echo $! > pid; wait\n")
    before = (root / "datasets" / "words.yaml").read_bytes()
    run = start(root, "experiments")
    pid = root / "pid"
    while not (pid.is_file() and pid.read_text().strip()):
        assert run.poll() is None, run.communicate()[0]
        time.sleep(0.05)
    assert (root / "datasets" / "words.yaml").read_text().startswith(HEADER)
    assert (root / "a").read_text() == "large\n"
    family = [psutil.Process(int(pid.read_text())), *psutil.Process(run.pid).children(recursive=True)]
    run.send_signal(number)
    run.communicate()
    assert run.returncode == (-number if number == signal.SIGKILL else 128 + number)
    assert not psutil.wait_procs(family, timeout=60)[1]
    if number != signal.SIGKILL:  # then the next command restores them
        assert (root / "datasets" / "words.yaml").read_bytes() == before
