"""The DVC graph as a flow: order, failure, retries, time limits, and nothing left running."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.core.errors import HearsightError
from flows.graph import StageTask, affected_by, read_tasks, seconds
from tests.support.flows.clones import Make

PROJECT = Path(__file__).resolve().parents[2]


def test_the_flows_graph_equals_dvcs_graph_with_its_meta(make_project: Make) -> None:
    root = make_project(meta={"b": {"pool": "gpu", "retries": 2, "timeout": "2h"}})
    tasks = read_tasks(root)
    assert [(task.address, task.upstream) for task in tasks] == [("a", ()), ("b", ("a",)), ("c", ("a",))]
    assert (tasks[1].pool, tasks[1].retries, tasks[1].timeout) == ("gpu", 2, 7200)
    assert [task.address for task in read_tasks(root, ["b"])] == ["a", "b"]
    with pytest.raises(HearsightError, match="has no stage 'z' — known are: a, b, c"):
        read_tasks(root, ["z"])


def test_only_what_has_changed_and_what_needs_it_is_affected() -> None:
    needs: dict[str, tuple[str, ...]] = {"a": (), "b": ("a",), "c": ("b",), "d": ("a",), "e": ("c", "d")}
    stages = [StageTask(name, "", upstream) for name, upstream in needs.items()]
    for changed, affected in {"": "", "a": "abcde", "b": "bce", "d": "de", "e": "e", "bd": "bcde"}.items():
        assert [stage.address for stage in affected_by(changed, stages)] == list(affected)


@pytest.mark.parametrize("meta, message", [({"timeout": "soon"}, "timeout is 'soon'"), ({"retry": 2}, "'retry' is not known")])
def test_invalid_meta_is_named(make_project: Make, meta: dict[str, object], message: str) -> None:
    root = make_project(meta={"c": meta})
    with pytest.raises(HearsightError) as caught:
        read_tasks(root)
    assert message in str(caught.value)
    assert "c.meta" in str(caught.value)


def test_times_are_read_with_their_units() -> None:
    assert [seconds(text) for text in ("90s", "30m", "2h", "1d", 5)] == [90, 1800, 7200, 86400, 5]


@pytest.mark.usefixtures("prefect_server")
@pytest.mark.long
class TestFlow:
    """What needs a Prefect server."""

    def test_a_run_executes_each_task_once_and_ends_cleanly(self, make_project: Make) -> None:
        from flows.flow import pipeline

        root = make_project()
        assert pipeline() == 3
        flow_run = (root / "a.txt").read_text()
        assert len(flow_run) == 36
        assert pipeline() == 3
        assert (root / "a.txt").read_text() == flow_run

    def test_a_failed_stage_fails_the_flow_and_stops_what_follows(self, make_project: Make) -> None:
        from flows.flow import pipeline

        tries = "open('tries', 'a').write('x'); import sys; "
        root = make_project(
            meta={"a": {"retries": 2}}, a=tries + "print('hearsight: a.txt: is odd — fix it', file=sys.stderr); sys.exit(2)"
        )
        with pytest.raises(HearsightError) as caught:
            pipeline()
        assert "a: a.txt: is odd — fix it; not run: b, c" in str(caught.value)
        assert (root / "tries").read_text() == "x", "a refusal is not tried again"
        assert not (root / "b.txt").exists()

    def test_a_runs_parameters_name_what_the_project_has_and_nothing_runs_otherwise(
        self, make_project: Make, tmp_path_factory: pytest.TempPathFactory
    ) -> None:
        from flows.flow import pipeline

        root, other = make_project(), tmp_path_factory.mktemp("other")
        (other / "dvc.yaml").write_text(yaml.safe_dump({"stages": {"a": {"cmd": f"touch {root / 'taken'}"}}}))
        refused: dict[str, dict[str, Any]] = {
            "has no stage '--all-pipelines'": {"target": "b --all-pipelines"},
            f"has no stage '{other / 'dvc.yaml'}:a'": {"target": f"{other / 'dvc.yaml'}:a"},
            "there is no stage 'crawl'": {"snapshots": ["--help"]},
            "pool 'cpu' has size 0": {"pools": {"cpu": 0}},
        }
        for message, parameters in refused.items():
            with pytest.raises(HearsightError, match=re.escape(message)):
                pipeline(**parameters)
        with pytest.raises(TypeError, match="root"):
            pipeline(root=str(other))
        assert not [name for name in ("a.txt", "taken") if (root / name).exists()]

    @pytest.mark.slow
    def test_a_stage_that_fails_once_is_retried(self, make_project: Make, monkeypatch: pytest.MonkeyPatch) -> None:
        from flows import flow

        monkeypatch.setattr(flow, "RETRY_AFTER", [0.1, 0.1])
        stumble = "import os, sys; n = os.path.exists('once'); open('once', 'w'); sys.exit(3) if not n else open('b.txt', 'w')"
        make_project(meta={"b": {"retries": 1}}, b=stumble)
        assert flow.pipeline() == 3
