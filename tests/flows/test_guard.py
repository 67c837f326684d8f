"""Commands under a guard, those of DVC among them: exit codes, time limits, and nothing left running."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import psutil
import pytest
import yaml

from components.execution.background import MARK
from flows.commands import environment, error_line, run_dvc
from flows.graph import read_plan
from flows.guard import ENDED, TIMED_OUT, end_commands, run_guarded
from tests.flows.processes import FORK, all_gone, pids
from tests.support import PROJECT, alive
from tests.support.flows.clones import Make


def test_the_guard_passes_on_lines_and_the_exit_code(tmp_path: Path) -> None:
    lines: list[str] = []
    code = run_guarded(
        ["sh", "-c", "echo one; echo two >&2; exit 7"], cwd=tmp_path, env=os.environ, limit=30, on_line=lines.append
    )
    assert (code, sorted(lines)) == (7, ["one", "two"])


def test_the_guard_lets_background_processes_live(tmp_path: Path) -> None:
    code = f"import os, subprocess, sys; env = {{**os.environ, {MARK!r}: 'x'}}; sleep = ['sleep', '600']; "
    code += "children = [subprocess.Popen(sleep, env=env, stdout=-3, stderr=-3), subprocess.Popen(sleep, stdout=-3, stderr=-3)]; "
    code += "print(*(child.pid for child in children))"
    lines: list[str] = []
    run_guarded([sys.executable, "-c", code], cwd=tmp_path, env=os.environ, limit=60, on_line=lines.append)
    background, other = map(int, lines[0].split())
    try:
        assert alive(background) and not alive(other)
    finally:
        os.kill(background, signal.SIGKILL)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_no_process_outlives_a_killed_runner(tmp_path: Path, number: int) -> None:
    code = f"import os, pathlib; from flows.guard import run_guarded; run_guarded([{sys.executable!r}, '-c', {FORK!r}], "
    code += f"cwd=pathlib.Path({str(tmp_path)!r}), env=os.environ, limit=600, on_line=print)"
    runner = subprocess.Popen([sys.executable, "-c", code], cwd=PROJECT)
    result = pids(tmp_path / "pids")
    runner.send_signal(number)
    runner.wait()
    assert all_gone(result)


def test_no_process_outlives_a_killed_guard(tmp_path: Path) -> None:
    code = "import time, os; open('pids', 'w').write(f'{os.getpid()} {os.getppid()}'); time.sleep(600)"
    runner = subprocess.Popen(
        [sys.executable, "-m", "flows.guard", "600", str(os.getpid()), "--", sys.executable, "-c", code],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )
    result = pids(tmp_path / "pids")
    runner.kill()
    runner.wait()
    assert all_gone(result[:1])


def test_signals_during_the_cleaning_up_do_not_end_it(tmp_path: Path) -> None:
    """A parent with threads that is killed sends one signal for each of them."""
    guard = subprocess.Popen(
        [sys.executable, "-m", "flows.guard", "600", str(os.getpid()), "--", sys.executable, "-c", FORK],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(PROJECT)},
    )
    result = pids(tmp_path / "pids")
    while guard.poll() is None:
        guard.send_signal(signal.SIGTERM)
    assert guard.returncode == ENDED and all_gone(result)


@pytest.mark.long
def test_forks_of_dvc_write_the_bytes_of_plain_dvc_though_files_and_settings_change_between(make_project: Make) -> None:
    copy = "text = open('{0}').read() + open('params.yaml').read(); open('{1}.txt', 'w').write(text)"
    sources = {"a": "a.py", "b": "a.txt", "c": "b.txt"}
    root = make_project(**{name: copy.format(source, name) for name, source in sources.items()})
    stages = yaml.safe_load((root / "dvc.yaml").read_text())
    stages["stages"]["c"]["deps"].append("b.txt")
    for stage in stages["stages"].values():
        stage["params"] = ["day"]
    (root / "dvc.yaml").write_text(yaml.safe_dump(stages))

    def state() -> dict[str, bytes]:
        return {name: (root / name).read_bytes() for name in ("a.txt", "b.txt", "c.txt", "dvc.lock")}

    for day in ("1", "2"):
        (root / "params.yaml").write_text(f"day: {day}\n")
        for name in "abc":
            assert run_dvc(["repro", "-s", name], root, environment("", ""), 600)[0] == 0
        assert read_plan(root)[1] == set()
        result = state()
        subprocess.run([sys.executable, "-m", "dvc", "repro", "--force", "--no-run-cache"], cwd=root, check=True)
        assert state() == result
    assert any("didn't change, skipping" in line for line in run_dvc(["repro", "-s", "a"], root, environment("", ""), 600)[1])


@pytest.mark.long
def test_a_stage_gets_the_environment_of_its_request_and_fails_with_its_line(make_project: Make) -> None:
    fails = "import sys; print('hearsight: b.txt: is odd', file=sys.stderr); sys.exit(2)"
    root = make_project(b=fails)
    for run in ("first", "second"):
        (root / "a.py").write_text((root / "a.py").read_text() + "\n")
        assert run_dvc(["repro", "-s", "a"], root, environment(run, ""), 600)[0] == 0
        assert (root / "a.txt").read_text() == run
    code, lines = run_dvc(["repro", "-s", "b"], root, environment("", ""), 600)
    assert (code, error_line(lines)) == (255, "b.txt: is odd")
    assert error_line(run_dvc(["repro", "-s", "z"], root, environment("", ""), 600)[1]).startswith("Stage 'z' not found")


@pytest.mark.long
def test_the_time_limit_ends_a_stage_of_dvc_and_the_next_command_runs(make_project: Make) -> None:
    root = make_project(a=FORK)
    assert run_dvc(["repro", "-s", "a"], root, environment("", ""), 6)[0] == TIMED_OUT
    assert all_gone(pids(root / "pids"))
    (root / "a.py").write_text("open('a.txt', 'w')")
    assert run_dvc(["repro", "-s", "a"], root, environment("", ""), 600)[0] == 0
    assert "a" not in read_plan(root)[1]


@pytest.mark.long
@pytest.mark.parametrize("who", ["guard", "dvc", "this process"])
def test_whoever_is_killed_no_process_of_a_stage_is_left_and_the_next_command_runs(make_project: Make, who: str) -> None:
    wait = f"import sys; sys.path.insert(0, {str(PROJECT)!r})\n"
    wait += "from components.execution.process import die_with_ancestor; die_with_ancestor('dvc')\n"
    alone = "import os, time; open('pids', 'w').write(f'{os.getpid()} {os.getpid()}'); time.sleep(600)"
    root = make_project(a=wait + (alone if who == "guard" else FORK))
    code = "import pathlib, sys; from flows.commands import environment, run_dvc; "
    code += "sys.exit(run_dvc(['repro', '-s', 'a'], pathlib.Path.cwd(), environment('', ''), 600)[0])"
    runner = subprocess.Popen([sys.executable, "-c", code], cwd=root, env={**os.environ, "PYTHONPATH": str(PROJECT)})
    stage = pids(root / "pids")
    parents = psutil.Process(stage[0]).parents()  # counted from the runner, since a shell may stand before the stage
    guard, dvc = parents[: parents.index(psutil.Process(runner.pid))][:-3:-1]
    {"guard": guard, "dvc": dvc, "this process": psutil.Process(runner.pid)}[who].kill()
    ended = {"guard": 256 - signal.SIGKILL, "dvc": 128 + signal.SIGKILL, "this process": -signal.SIGKILL}
    assert runner.wait(60) == ended[who]
    assert all_gone([guard.pid, dvc.pid, *stage])
    (root / "a.py").write_text("open('a.txt', 'w')")
    assert run_dvc(["repro", "-s", "a"], root, environment("", ""), 600)[0] == 0


@pytest.mark.long
def test_ended_commands_return_at_once_and_the_next_one_runs(make_project: Make) -> None:
    root, codes = make_project(a=FORK), list[int]()
    thread = threading.Thread(target=lambda: codes.append(run_dvc(["repro", "-s", "a"], root, environment("", ""), 600)[0]))
    thread.start()
    stage = pids(root / "pids")
    end_commands()
    thread.join(60)
    assert codes == [ENDED] and all_gone(stage)
    assert run_dvc(["version"], root, environment("", ""), 600)[0] == 0
