"""The project has one Prefect server: what serves schedules, what shows pages and what triggers runs all find it."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from flows.settings import ADDRESS, login_path, running_server
from tests.support import PROJECT, until
from tests.support.flows.clones import Make, git
from tests.support.flows.served import Server, free_port, kill_all, started

pytestmark = pytest.mark.long


def nobody(root: Path) -> dict[str, str]:
    """The environment of a person who has set nothing: no server, no git identity, an empty home."""
    home = root.parent / "home"
    home.mkdir(exist_ok=True)
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PREFECT_", "GIT_", "HEARSIGHT_"))}
    more = {"HOME": str(home), "PYTHONPATH": str(PROJECT), "GIT_CONFIG_NOSYSTEM": "1", "HEARSIGHT_TRACKING": "off"}
    return {**env, **more, "MLFLOW_TRACKING_URI": "http://127.0.0.1:9/"}  # an MLflow elsewhere


def prefect(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run Prefect's command as the documents show it, in another process than what serves."""
    command = [sys.executable, "-m", "flows.prefect", *words]
    wide = nobody(root) | {"COLUMNS": "200"}
    return subprocess.run(command, cwd=root, env=wide, capture_output=True, text=True, timeout=600, check=False)


def run_now(root: Path, deployment: str, *words: str) -> None:
    """Trigger a run and wait until it has ended well."""
    done = prefect(root, "deployment", "run", deployment, "--watch", *words)
    assert done.returncode == 0 and "Flow run finished successfully" in done.stdout, done.stdout + done.stderr


def test_schedules_are_served_listed_and_triggered_while_the_pages_are_open_and_after(make_project: Make) -> None:
    root = make_project()
    (root / "params.yaml").write_text("schedules:\n  yearly: {cron: '0 0 1 1 *', target: b}\n")
    git(root, "commit", "-qam", "a schedule that is not due")
    env, port, log = nobody(root), free_port(), root / "serve.log"
    pages = ["-m", "flows.ui", "--app", str(free_port()), "--prefect", str(port)]
    url = f"http://127.0.0.1:{port}"
    with ExitStack() as stack:
        ui = stack.enter_context(started(pages, root, env, root.with_name("ui.log")))
        until(lambda: "Ctrl-C ends everything" in root.with_name("ui.log").read_text() or ui.poll() is not None)
        serving = stack.enter_context(started(["-m", "flows.serve"], root, env, log))
        until(lambda: "served until Ctrl-C" in log.read_text() or serving.poll() is not None)
        assert f"Prefect's server of this project runs already and is used: {url}\n" in log.read_text()
        run_now(root, "pipeline/yearly")
        assert (root / "b.txt").is_file() and not (root / "c.txt").exists(), "the schedule's target is b alone"
        (tag,) = git(root, "tag", "--list", "runs/yearly/*").split()
        assert git(root, "log", "-1", "--format=%an <%ae>", tag) == "Hearsight <hearsight@localhost>", "nobody has set another"
        ui.send_signal(signal.SIGINT)
        ui.wait()
        run_now(root, "pipeline/on-demand", "--param", "target=c")
        assert (root / "c.txt").is_file(), "the server outlives the pages while schedules are served"
        for words, text in (
            ("deployment ls", "pipeline/yearly"),
            ("flow-run ls", "COMP"),
            ("concurrency-limit ls", "oncurrency limits"),
        ):
            listed = prefect(root, *words.split())
            assert listed.returncode == 0 and text in listed.stdout, listed.stdout + listed.stderr
        server = Server(f"{url}/api", auth=tuple(login_path(root).read_text().split(":", 1)))
        runs = server.post("/flow_runs/filter", flow_runs={"state": {"type": {"any_": ["COMPLETED"]}}})
        logs = server.post("/logs/filter", logs={"flow_run_id": {"any_": [run["id"] for run in runs]}})
        assert len(runs) == 2 and any("Running stage 'c'" in line["message"] for line in logs), "the pages show runs and logs"
    until(lambda: not running_server(root), within=60)
    refused = prefect(root, "deployment", "ls")
    assert refused.returncode == 2 and not refused.stdout
    assert refused.stderr == (
        f"hearsight: {root}: no Prefect server of this project runs — start it in another terminal: python -m flows.serve\n"
    )


HOLD = (
    "import sys; from pathlib import Path; from flows.server import prefect_server\n"
    "with prefect_server(Path.cwd(), int(sys.argv[1])) as url: print(url, flush=True); input()"
)
"""A program that keeps the project's server until it gets a line."""


@pytest.mark.parametrize("signals", ["ctrl-c", "ctrl-c of a program", "service manager", "power"])
def test_a_run_whose_serving_was_ended_ends_and_is_marked_as_crashed(make_project: Make, signals: str) -> None:
    code = "import time; open('note.txt', 'w'); print('hearsight: warning: of no account', flush=True); time.sleep(3000)"
    root = make_project(a=code, meta={"a": {"retries": 1}})
    (root / "params.yaml").write_text("schedules:\n  yearly: {cron: '0 0 1 1 *'}\n")
    git(root, "commit", "-qam", "a schedule that is not due")
    env, log = nobody(root), root / "serve.log"
    pipe, words = subprocess.PIPE, [sys.executable, "-m", "flows.serve"]
    if signals == "service manager":  # as a shell starts it by `nohup … &`
        words = ["sh", "-c", "trap '' INT; exec \"$@\"", "sh", *words]

    def serve() -> subprocess.Popen[bytes]:
        with log.open("wb") as handle:
            process = subprocess.Popen(words, cwd=root, env=env, stdout=handle, stderr=handle, start_new_session=True)
        until(lambda: "served until Ctrl-C" in log.read_text() or process.poll() is not None)
        return process

    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(free_port())], cwd=root, env=env, stdin=pipe, stdout=pipe, text=True
    ) as holder:
        assert holder.stdout is not None
        server = Server(holder.stdout.readline().strip(), auth=tuple(login_path(root).read_text().split(":", 1)))
        serving = serve()
        run = server.start("pipeline/yearly")
        until((root / "note.txt").is_file)
        if signals == "power":
            kill_all(serving)
            assert server.state(run)["type"] == "RUNNING"
            serving = serve()  # which knows that nothing runs
            assert server.state(run)["message"] == "its process ended without a word"
            kill_all(serving)
        elif signals == "service manager":
            serving.terminate()
        elif signals == "ctrl-c of a program":
            serving.send_signal(signal.SIGINT)
        else:
            os.killpg(serving.pid, signal.SIGINT)
        assert serving.wait(90) == 0 or signals == "power", log.read_text()
        assert server.state(run)["type"] == "CRASHED"
        text = log.read_text()
        assert "coroutine" not in text and "of no account'" not in text, "neither Prefect's handler nor a false cause"
        holder.communicate("\n")


def test_of_two_processes_that_need_a_server_at_once_one_starts_it(tmp_path: Path) -> None:
    pipe, env = subprocess.PIPE, nobody(tmp_path)
    commands = [[sys.executable, "-c", HOLD, str(free_port())] for _ in range(2)]
    both = [subprocess.Popen(words, cwd=tmp_path, env=env, stdin=pipe, stdout=pipe, text=True) for words in commands]
    outputs = [process.communicate("\n", timeout=600)[0].split() for process in both]
    assert [process.returncode for process in both] == [0, 0]
    assert outputs[0][-1] == outputs[1][-1], "both use the same server"
    until(lambda: not running_server(tmp_path), within=60)


def test_another_program_at_the_address_of_a_server_that_has_ended_is_asked_nothing(make_project: Make) -> None:
    root = make_project()
    with socket.create_server(("127.0.0.1", 0)) as other:
        other.setblocking(False)
        (root / ADDRESS).parent.mkdir(exist_ok=True)
        (root / ADDRESS).write_text(f"http://127.0.0.1:{other.getsockname()[1]}/api")
        assert prefect(root, "deployment", "ls").returncode == 2
        with pytest.raises(BlockingIOError):
            other.accept()
