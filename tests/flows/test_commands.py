"""DVC's locks: a stage that another process holds is waited for, not failed."""

from __future__ import annotations

import json
import os
import threading
from pathlib import Path

import pytest
import yaml

from components.core.errors import HearsightError
from flows import graph
from flows.commands import environment, run_dvc
from flows.graph import read_plan
from tests.support import THOROUGH
from tests.support.flows.clones import Make


def enter(root: Path, name: str) -> Path:
    """Enter this process in DVC's file as the writer of an output."""
    entries = root / ".dvc" / "tmp" / "rwlock"
    entries.parent.mkdir(exist_ok=True)
    entries.write_text(json.dumps({"write": {str(root / name): {"pid": os.getpid(), "cmd": "a test"}}, "read": {}}))
    return entries


@pytest.mark.long
def test_a_stage_that_another_process_writes_is_started_again_until_it_is_free(make_project: Make) -> None:
    root, lines = make_project(), []
    entries = enter(root, "a.txt")

    def take(line: str) -> None:
        lines.append(line)
        if "is busy, it is being blocked by" in line:
            entries.write_text("{}")

    code, last = run_dvc(["repro", "-s", "a"], root, environment("", ""), 600, take)
    assert code == 0 and (root / "a.txt").is_file(), lines
    assert any("is busy" in line for line in lines) and not any("is busy" in line for line in last)


def test_asking_what_has_changed_waits_for_a_writer_and_names_it(make_project: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    root = make_project()
    entries = enter(root, "a.txt")
    timer = threading.Timer(1.0, lambda: entries.write_text("{}"))
    timer.start()
    tasks, changed = read_plan(root)
    timer.join()
    assert changed == {task.address for task in tasks} == {"a", "b", "c"}
    enter(root, "a.txt")
    monkeypatch.setattr(graph, "BUSY_PATIENCE", 0.0)
    with pytest.raises(HearsightError, match=rf"is busy, it is being blocked by:.*PID {os.getpid()}.*wait for that process"):
        read_plan(root)


@pytest.mark.slow
def test_eight_stages_that_start_at_once_never_fail_on_a_lock(make_project: Make) -> None:
    root = make_project()
    names = [f"s{number}" for number in range(8)]
    stages = {name: {"cmd": f"cp source {name}", "deps": ["source"], "outs": [name]} for name in names}
    (root / "dvc.yaml").write_text(yaml.safe_dump({"stages": stages}))
    for repeat in range(50 if THOROUGH else 2):
        (root / "source").write_text(str(repeat))
        results: dict[str, tuple[int, list[str]]] = {}

        def start(name: str, results: dict[str, tuple[int, list[str]]] = results) -> None:
            results[name] = run_dvc(["repro", "-s", name], root, environment("", ""), 600)

        threads = [threading.Thread(target=start, args=(name,)) for name in names]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert {name: lines for name, (code, lines) in results.items() if code} == {}
        assert all((root / name).read_text() == str(repeat) for name in names)
        assert read_plan(root)[1] == set(), "no entry of dvc.lock was lost"
