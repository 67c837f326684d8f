"""Scheduled runs with a real server: they are versioned, made up for once, notified, and ended when their process has died."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from tests.support import until
from tests.support.flows.clones import KEYS, another_clone, copying, git, make_origin
from tests.support.flows.served import Server, kill_all, plain_environment, prefect_server, serving, workers

pytestmark = pytest.mark.slow
STAGES = {
    "a": {"cmd": copying("source.txt", "a.out"), "deps": ["source.txt"], "outs": ["a.out"], "params": ["day"]},
    "table-a": {"cmd": copying("a.out", "a.csv"), "deps": ["a.out"], "outs": [{"a.csv": {"cache": False}}]},
}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with prefect_server(tmp_path_factory.mktemp("server")) as server:
        yield server


def ended(server: Server, run: str) -> bool:
    return server.state(run)["type"] in ("COMPLETED", "FAILED", "CRASHED", "CANCELLED")


def test_a_schedule_fires_and_its_results_are_a_tag_with_data_in_s3(tmp_path: Path, server: Server, s3: str) -> None:
    origin, one = make_origin(
        tmp_path / "p", STAGES, {"day": 1, "schedules": {"minutely": {"cron": "* * * * *", "push": "origin"}}}, s3
    )
    with serving(one, server):
        until(lambda: "refs/tags/runs/minutely/" in git(origin, "for-each-ref"), within=900)
    tag = git(origin, "for-each-ref", "--format=%(refname:short)", "refs/tags").split()[0]
    message = git(origin, "log", "-1", "--format=%B", tag)
    assert "Schedule: minutely" in message and "Ran: a" in message
    other = another_clone(origin, "other")
    git(other, "checkout", "-q", tag)
    subprocess.run([sys.executable, "-m", "dvc", "pull", "-q"], cwd=other, env={**os.environ, **KEYS}, check=True)
    assert (other / "a.out").read_text() == "source a.out " and (other / "a.csv").is_file()


def test_days_that_were_missed_are_made_up_for_by_exactly_one_run(tmp_path: Path, server: Server) -> None:
    params = {"day": 1, "schedules": {"yearly": {"cron": "0 0 1 1 *"}, "rests": {"cron": "0 0 1 1 *", "catch_up": False}}}
    _, one = make_origin(tmp_path / "p", STAGES, params)
    for name in params["schedules"]:  # type: ignore[attr-defined]
        git(one, "tag", f"runs/{name}/2020-01-01T00-00-00Z")
    with serving(one, server):
        until(lambda: len(git(one, "tag", "--list", "runs/yearly/*").split()) == 2, within=900)
    with serving(one, server):
        pass
    assert len(git(one, "tag", "--list", "runs/yearly/*").split()) == 2, "a second start has nothing to make up for"
    assert len(git(one, "tag", "--list", "runs/rests/*").split()) == 1


class Receiver(BaseHTTPRequestHandler):
    """Keeps what is posted."""

    got: list[dict[str, str]] = []

    def do_POST(self) -> None:
        self.got.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        return


def save_block(server: Server, home: Path, url: str) -> None:
    """Register a block as a user does in Prefect's pages."""
    data = {"subject": "{{subject}}", "body": "{{body}}"}
    code = (
        "from prefect.blocks.notifications import CustomWebhookNotificationBlock as Block; "
        f"Block(name='team', url={url!r}, json_data={data!r}).save('team', overwrite=True)"
    )
    subprocess.run([sys.executable, "-c", code], env=plain_environment(home, PREFECT_API_URL=server.url), check=True)


def test_a_failed_run_is_notified_and_a_missing_block_is_one_line_at_the_start(tmp_path: Path, server: Server) -> None:
    stages = {"a": {"cmd": "sh -c 'echo hearsight: a.txt: is odd >&2; exit 2'", "deps": ["source.txt"], "outs": ["a.out"]}}
    params = {"schedules": {"told": {"cron": "0 0 1 1 *", "notify": "custom-webhook/team"}}}
    _, one = make_origin(tmp_path / "p", stages, params)
    env = plain_environment(tmp_path / "home", PREFECT_API_URL=server.url)
    refused = subprocess.run([sys.executable, "-m", "flows.serve"], cwd=one, env=env, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert "schedules.told.notify: the Prefect server has no block 'custom-webhook/team' — make it" in refused.stderr
    assert len(refused.stderr.strip().splitlines()) == 1, refused.stderr
    receiver = HTTPServer(("127.0.0.1", 0), Receiver)
    thread = threading.Thread(target=receiver.serve_forever, daemon=True)
    thread.start()
    try:
        save_block(server, tmp_path / "home", f"http://127.0.0.1:{receiver.server_port}/")
        with serving(one, server):
            run = server.start("pipeline/told")
            until(lambda: ended(server, run), within=600)
            assert server.state(run)["type"] == "FAILED"
            until(lambda: Receiver.got, within=600)
    finally:
        receiver.shutdown()
        thread.join()
        receiver.server_close()
    assert Receiver.got[0]["subject"] == "Hearsight: told Failed"
    assert "a: a.txt: is odd" in Receiver.got[0]["body"]


def test_a_run_whose_processes_were_killed_is_marked_as_crashed(tmp_path: Path, server: Server) -> None:
    slow = copying("source.txt", "a.out", "import time; open('notes', 'w'); time.sleep(3000)")
    stages = {"a": {"cmd": slow, "deps": ["source.txt"], "outs": ["a.out"]}}
    _, one = make_origin(tmp_path / "p", stages, {"schedules": {"hangs": {"cron": "0 0 1 1 *"}}})
    with serving(one, server) as process:
        run = server.start("pipeline/hangs")
        until((one / "notes").is_file, within=600)
        kill_all(process)
        assert server.state(run)["type"] == "RUNNING"
        until(lambda: ended(server, run), within=900)
    state = server.state(run)
    assert state["type"] == "CRASHED" and state["message"] == "its process gave no sign of life for 120 s"


def on_a_worker(name: str) -> dict[str, object]:
    """A stage of the pool gpu that takes some seconds, with data and a table."""
    return {
        "cmd": f"{copying('a.out', f'{name}.out', 'import time; time.sleep(5)')} && cp {name}.out {name}.csv",
        "deps": ["a.out", "a.csv"],
        "outs": [f"{name}.out", {f"{name}.csv": {"cache": False}}],
        "meta": {"pool": "gpu", "retries": 1},
    }


CHAIN = {
    "a": {"cmd": copying("source.txt", "a.out"), "deps": ["source.txt"], "outs": ["a.out"]},
    "table-a": {"cmd": copying("a.out", "a.csv"), "deps": ["a.out"], "outs": [{"a.csv": {"cache": False}}]},
    "left": on_a_worker("left"),
    "right": on_a_worker("right"),
    "joined": {"cmd": copying("left.out", "joined.out"), "deps": ["left.out", "right.out", "left.csv"], "outs": ["joined.out"]},
}


def test_workers_in_other_clones_run_the_pools_stages_and_the_flow_goes_on(tmp_path: Path, server: Server, s3: str) -> None:
    pools = {"gpu": {"work_pool": "gpu", "at_once": 2}}
    params = {"schedules": {"wide": {"cron": "0 0 1 1 *", "push": "origin"}}, "pools": pools}
    origin, one = make_origin(tmp_path / "p", CHAIN, params, s3)
    clones = [another_clone(origin, name) for name in ("two", "three")]
    with serving(one, server), workers("gpu", server, *clones):
        run = server.start("pipeline/wide")
        until(lambda: ended(server, run), within=900)
        assert server.state(run)["type"] == "COMPLETED", server.state(run)
    assert (one / "ran").read_text().split() == ["a.out", "a.csv", "joined.out"], "the pool's stages ran elsewhere"
    assert sorted((clone / "ran").read_text().strip() for clone in clones) == ["left.out", "right.out"], "one stage in each clone"
    assert (one / "joined.out").read_text() == "source a.out left.out joined.out "
    assert (one / "left.csv").read_text() == (one / "left.out").read_text()
    refs = git(origin, "for-each-ref", "--format=%(refname)").split()
    assert [ref for ref in refs if "hearsight" in ref] == [], "neither locks nor work is left"
    tag = next(ref for ref in refs if ref.startswith("refs/tags/runs/wide/"))
    assert {"left.csv", "right.csv", "a.csv", "dvc.lock"} <= set(git(origin, "ls-tree", "--name-only", tag).split())
    # What a killed flow has left is deleted by the next one that sends a stage; that of a flow nobody here knows is not.
    ended_flow, unknown = (f"refs/hearsight/work/{flow}/left-0" for flow in (run, uuid.uuid4()))
    for ref in (ended_flow, unknown):
        git(origin, "update-ref", ref, tag)
    (one / "left.out").unlink()
    with serving(one, server), workers("gpu", server, clones[0]):
        run = server.start("pipeline/wide")
        until(lambda: ended(server, run), within=900)
    assert server.state(run)["type"] == "COMPLETED", server.state(run)
    assert git(origin, "for-each-ref", "--format=%(refname)", "refs/hearsight").split() == [unknown]


def test_the_stage_of_a_killed_worker_is_run_again_by_another(tmp_path: Path, server: Server, s3: str) -> None:
    slow = "import os, time; open('notes', 'w'); time.sleep(0 if os.path.exists('quick') else 3000)"
    meta = {"pool": "gpu", "retries": 1}
    chain = {"a": {"cmd": copying("source.txt", "a.out", slow), "deps": ["source.txt"], "outs": ["a.out"], "meta": meta}}
    params = {"schedules": {"kill": {"cron": "0 0 1 1 *"}}, "pools": {"gpu": {"work_pool": "killed"}}}
    origin, one = make_origin(tmp_path / "p", chain, params, s3)
    two, three = (another_clone(origin, name) for name in ("two", "three"))
    (three / "quick").write_text("")
    with serving(one, server), workers("killed", server, two) as (first,):
        run = server.start("pipeline/kill")
        until((two / "notes").is_file, within=600)
        kill_all(first)
        with workers("killed", server, three):
            until(lambda: ended(server, run), within=900)
    assert server.state(run)["type"] == "COMPLETED", server.state(run)
    assert (one / "a.out").read_text() == "source a.out " and (three / "notes").is_file()
    assert datetime.now(UTC) - datetime.fromisoformat(server.state(run)["timestamp"]) < timedelta(hours=1)
