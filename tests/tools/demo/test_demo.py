"""`hearsight demo` shows overall progress, passes failures on, and leaves no process behind."""

from __future__ import annotations

import io
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest
import yaml

from components.core.addresses import parse_output_name, stage_address
from components.core.graph import load_graph
from components.tools.demo.lanes import lanes, new_lanes, next_lane
from components.tools.demo.overlay import HEADER
from components.tools.demo.progress import Progress, count_stages
from components.tools.demo.repro import LOG, reason
from tests.support import PROJECT

pytestmark = pytest.mark.long

ENVIRONMENT = {**os.environ, "DVC_NO_ANALYTICS": "1", "HEARSIGHT_TRACKING": "off"}
PIPELINE = {
    "stages": {
        "first": {"foreach": "${words}", "do": {"cmd": "echo ${item.word} > ${key}", "outs": ["${key}"]}},
        "second": {"foreach": "${chain.second}", "do": {"cmd": "sh second.sh", "deps": ["a", "b", "second.sh"], "outs": ["c"]}},
    }
}
PARAMS = {
    "words": {"a": {"word": "one"}, "b": {"word": "two"}},
    "chain": {"first": {"a": {}, "b": {}}, "second": {"c": {"input": "a/first", "more": "b/first"}}},
}


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "dvc.yaml").write_text(yaml.safe_dump(PIPELINE))
    (tmp_path / "params.yaml").write_text(yaml.safe_dump(PARAMS))
    (tmp_path / "experiments.yaml").write_text("words: {a: {word: large}}\n")
    subprocess.run([sys.executable, "-m", "dvc", "init", "-q", "--no-scm"], cwd=tmp_path, env=ENVIRONMENT, check=True)
    return tmp_path


def start(root: Path, verb: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "components.cli.main", verb], env=ENVIRONMENT | {"HEARSIGHT_ROOT": str(root)},
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def test_a_failure_is_shown_with_its_log_and_the_same_command_continues(root):
    (root / "second.sh").write_text("echo 'hearsight: the disk is full' >&2; exit 3\n")
    failed = start(root, "demo")
    result = failed.communicate()[0]
    assert failed.returncode != 0
    assert {"first@a", "first@b"} == set(re.findall(r"stage [12] of 3: (\S+)", result))
    assert "stage 3 of 3: second@c" in result
    assert "'second@c' failed: hearsight: the disk is full" in result
    assert str(root / LOG) in result
    assert "exit 3" not in result  # only the log holds everything
    (root / "second.sh").write_text("cat a b > c\n")
    again = start(root, "demo")
    result = again.communicate()[0]
    assert again.returncode == 0, result
    assert "stage 3 of 3: second@c" in result
    assert "1 stages ran, 2 were up to date" in result


def test_a_signal_ends_dvc_and_its_stages_and_restores_the_settings(root):
    (root / "second.sh").write_text("sleep 300 & echo $! > pid; wait\n")
    before = (root / "params.yaml").read_bytes()
    run = start(root, "experiments")
    pid = root / "pid"
    while not (pid.is_file() and pid.read_text().strip()):
        assert run.poll() is None, run.communicate()[0]
        time.sleep(0.05)
    assert (root / "params.yaml").read_text().startswith(HEADER)
    assert (root / "a").read_text() == "large\n"
    family = [psutil.Process(int(pid.read_text())), *psutil.Process(run.pid).children(recursive=True)]
    run.send_signal(signal.SIGTERM)
    run.communicate()
    assert run.returncode == 128 + signal.SIGTERM
    assert not psutil.wait_procs(family, timeout=30)[1]
    assert (root / "params.yaml").read_bytes() == before


def test_every_stage_is_in_one_lane_behind_what_it_reads():
    graph = load_graph(PROJECT)
    reads = {
        stage_address(dataset, stage): {stage_address(*parse_output_name(output)) for output in inputs.values()}
        for stage, takers in graph.chain.items()
        for dataset, inputs in takers.items()
    }
    waiting, done = lanes(graph), []
    while waiting:
        lane = next_lane(waiting, [])
        assert lane is not None
        waiting.remove(lane)
        for target in lane.targets:
            done.append(target)
            assert reads.get(target, set()) <= set(done), f"{target} runs before what it reads"
    assert len(done) == len(set(done)) == count_stages(graph)


def test_lanes_that_run_at_the_same_time_read_nothing_of_each_other():
    graph = load_graph(PROJECT)
    result = lanes(graph)
    lane_of = {target: lane for lane in result for target in lane.targets}
    for stage, takers in graph.chain.items():
        for dataset, inputs in takers.items():
            mine = lane_of[stage_address(dataset, stage)]
            theirs = [lane_of[stage_address(*parse_output_name(output))] for output in inputs.values()]
            assert all(lane is mine or mine.waits_for(lane) for lane in theirs), f"{dataset}/{stage}"
    first = [lane for lane in result if not any(lane.waits_for(other) for other in result)]
    assert len(first) == len(graph.chain["crawl"]) and result[: len(first)] == first
    assert next_lane(result[len(first) :], first) is None


def test_only_stages_that_never_ran_have_lanes(tmp_path):
    graph = load_graph(PROJECT)
    assert new_lanes(tmp_path, graph) == lanes(graph)
    done = [target for lane in lanes(graph)[1:] for target in lane.targets]
    (tmp_path / "dvc.lock").write_text(yaml.safe_dump({"stages": dict.fromkeys(done)}))
    assert new_lanes(tmp_path, graph) == []  # one lane alone needs no second process


def test_progress_counts_stages_that_are_up_to_date_and_ignores_other_output():
    stream = io.StringIO()
    progress = Progress(3, stream)
    for line in ("Stage 'a' didn't change, skipping", "Running stage 'b':", "> stage 'c'", "Stage 'c' is cached - skipping run"):
        progress.add_line(line)
    assert (progress.visited, progress.ran, progress.current) == (3, 1, "b")
    assert [line.split("] ")[1] for line in stream.getvalue().splitlines()] == ["stage 2 of 3: b"]


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        (["hearsight: no voice", "ERROR: failed to reproduce 'a'"], "hearsight: no voice"),
        (["hearsight: warning: slow", "ERROR: failed to reproduce 'a'", ""], "ERROR: failed to reproduce 'a'"),
        (["x", "y"], "y"),
        ([], "no output"),
    ],
)
def test_the_reason_of_a_failure_is_the_stages_own_line(lines, expected):
    assert reason(lines) == expected
