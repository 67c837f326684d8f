"""Answers by forks of a warm process: they see the client's environment, run the code as it is, and die with it."""

from __future__ import annotations

import json
import os
import signal
import stat
import subprocess
import sys
import textwrap
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from components.execution.warm_client import SINGLE_THREADED
from tests.support import PROJECT, alive, until
from tests.support.check.boundaries import make

pytestmark = pytest.mark.long

PRELOAD = """
def preload():
    pass
"""
WORK = """
import os, time

def work(question):
    mine = {"pid": os.getpid(), "parent": os.getppid(), "folder": os.getcwd(), "words": question["words"]}
    if "print" in question["words"]:
        from components.core.streams import open_streams
        open_streams()
        print("a line of the fork")
    if "wait" in question["words"]:
        open("waiting", "w").write(f"{os.getpid()} {os.getppid()}")
        time.sleep(600)
    return {**mine, "value": os.environ.get("VALUE")}
"""
CLIENT = """
import json, sys
from pathlib import Path
from components.execution.warm_client import ForkLost, run_warm
from toy.preload import preload
from toy.work import work

try:
    print(json.dumps(run_warm(Path(sys.argv[1]), preload, work, {"words": sys.argv[2:]})))
except ForkLost:
    print("lost")
"""


class Toy:
    """A project with a server of its own that has nothing to import."""

    def __init__(self, root: Path) -> None:
        self.root = root
        (root / "toy").mkdir(parents=True)
        for name, source in (("preload", PRELOAD), ("work", WORK), ("client", CLIENT)):
            (root / "toy" / f"{name}.py").write_text(source)

    def start(self, *words: str, **environment: str) -> subprocess.Popen[str]:
        path = os.pathsep.join([str(self.root), str(PROJECT)])
        return subprocess.Popen(
            [sys.executable, "-m", "toy.client", str(self.root), *words], cwd=self.root, text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env={**os.environ, "PYTHONPATH": path, "HEARSIGHT_WARM": "", **environment},
        )  # fmt: skip

    def run(self, *words: str, **environment: str) -> dict[str, Any]:
        """What the fork says of itself."""
        out, err = self.start(*words, **environment).communicate(timeout=120)
        assert not err
        return json.loads(out)

    def waiting(self) -> tuple[subprocess.Popen[str], dict[str, int]]:
        """A client whose fork is at work for long."""
        note = self.root / "waiting"
        note.unlink(missing_ok=True)
        client = self.start("wait")
        until(lambda: note.is_file() and len(note.read_text().split()) == 2)
        return client, dict(zip(("pid", "parent"), map(int, note.read_text().split()), strict=True))

    @property
    def servers(self) -> list[psutil.Process]:
        return [one for one in psutil.process_iter(["cmdline", "cwd"]) if self._is_mine(one.info)]

    def _is_mine(self, info: dict[str, Any]) -> bool:
        return "toy.preload" in (info["cmdline"] or []) and (info["cwd"] or "").startswith(str(self.root))


@pytest.fixture
def toy(tmp_path: Path) -> Iterator[Toy]:
    # A path with a space and an umlaut, and longer than the name of a socket may be.
    toy = Toy(tmp_path / "ein längerer Weg" / ("x" * 120))
    yield toy
    for server in toy.servers:
        with suppress(psutil.NoSuchProcess):  # a server ends by itself
            server.kill()


def test_a_fork_has_the_clients_question_folder_environment_and_current_code(toy: Toy) -> None:
    first = toy.run("a", "b c", VALUE="1")
    assert (first["folder"], first["words"], first["value"]) == (str(toy.root), ["a", "b c"], "1")
    assert [server.pid for server in toy.servers] == [first["parent"]]
    (toy.root / "toy" / "work.py").write_text(WORK.replace('"words":', '"edited words":'))
    second = toy.run("d")
    assert (second["edited words"], second["value"]) == (["d"], None)
    assert second["parent"] == first["parent"]


def test_a_fork_writes_to_the_clients_output(toy: Toy) -> None:
    out, _ = toy.start("print").communicate(timeout=120)
    assert out.splitlines()[0] == "a line of the fork"


def test_concurrent_clients_share_one_server(toy: Toy) -> None:
    clients = [toy.start(str(number)) for number in range(3)]
    result = [json.loads(client.communicate(timeout=120)[0]) for client in clients]
    assert len({one["pid"] for one in result}) == 3
    assert len({one["parent"] for one in result}) == 1
    folder = toy.root / ".hearsight" / "warm"
    sockets = [path for path in folder.iterdir() if path.is_socket()]
    assert {stat.S_IMODE(path.stat().st_mode) for path in sockets} == {0o600}, "nobody else can have it run commands"
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_each_environment_and_set_of_cores_has_its_own_server(toy: Toy) -> None:
    servers = {toy.run()["parent"], toy.run(GX_SETTING="1")["parent"]}
    cores = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {min(cores)})
    try:
        servers.add(toy.run()["parent"])
    finally:
        os.sched_setaffinity(0, cores)
    assert len(servers) == 3 or len(cores) == 1


def test_the_fork_of_a_killed_client_ends(toy: Toy) -> None:
    client, fork = toy.waiting()
    client.kill()
    client.communicate()
    until(lambda: not alive(fork["pid"]))
    assert toy.run()["parent"] == fork["parent"]


@pytest.mark.parametrize("victim", ["pid", "parent"])
def test_a_client_whose_fork_or_server_was_killed_learns_it(toy: Toy, victim: str) -> None:
    client, fork = toy.waiting()
    os.kill(fork[victim], signal.SIGKILL)
    out, _ = client.communicate(timeout=60)
    assert out == "lost\n"
    until(lambda: not alive(fork["pid"]))
    assert (toy.run()["parent"] == fork["parent"]) == (victim == "pid")


def test_no_server_outlives_its_project(toy: Toy) -> None:
    server = toy.run()["parent"]
    toy.root.rename(toy.root.with_name("moved"))
    (toy.root.with_name("moved") / ".hearsight" / "warm").rename(toy.root.with_name("away"))
    for path in toy.root.with_name("away").iterdir():
        path.unlink()
    until(lambda: not alive(server))


def test_a_refused_output_gives_its_line_and_a_corrected_one_passes(tmp_path: Path) -> None:
    (tmp_path / "expectations").symlink_to(PROJECT / "expectations")
    for name in ("dvc.yaml", "params.yaml", "datasets"):
        (tmp_path / name).symlink_to(PROJECT / name)
    out = make(tmp_path, "crawl")
    environment = {**os.environ, "PYTHONPATH": str(PROJECT), "HEARSIGHT_ROOT": str(tmp_path), "HEARSIGHT_WARM": ""}

    def checked() -> subprocess.CompletedProcess[str]:
        words = [sys.executable, "-m", "components.cli.entry", "check", "crawl", "--dataset", "english"]
        return subprocess.run(words, cwd=tmp_path, env=environment, text=True, capture_output=True)

    passed = checked()
    assert passed.returncode == 0, passed.stderr
    assert json.loads(passed.stdout)["checked"] == "english/crawl"
    (socket,) = (tmp_path / ".hearsight" / "warm").glob("*[0-9a-f]")
    shard = out / "shards" / "00001.parquet"
    whole = shard.read_bytes()
    shard.write_bytes(whole[:-1])
    refused = checked()
    assert (refused.returncode, refused.stdout) == (2, "")
    assert refused.stderr.startswith("hearsight: data/english/crawl/shards/00001.parquet")
    shard.write_bytes(whole)
    assert checked().returncode == 0
    socket.unlink()  # the server ends


@pytest.mark.parametrize("preload", ["import_for_checks", "import_for_trainings"])
def test_a_process_with_the_imports_of_a_server_can_be_forked(preload: str) -> None:
    code = f"""
        from components.cli import preload
        from components.execution.warm_server import require_forkable
        preload.{preload}()
        require_forkable()
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=PROJECT, env={**os.environ, **SINGLE_THREADED}, check=True)


def test_the_stages_that_import_torch_are_those_that_a_server_runs() -> None:
    code = """
        import importlib, pkgutil, sys
        import components.stages
        from components.cli.stages import IMPORT_TORCH
        sys.modules["torch"] = None
        refused = set()
        for module in pkgutil.iter_modules(components.stages.__path__):
            if module.ispkg and importlib.util.find_spec(f"components.stages.{module.name}.run"):
                try:
                    importlib.import_module(f"components.stages.{module.name}.run")
                except ModuleNotFoundError as error:
                    assert error.name == "torch", error
                    refused.add(module.name)
        assert refused == set(IMPORT_TORCH), refused
    """
    subprocess.run([sys.executable, "-c", textwrap.dedent(code)], cwd=PROJECT, check=True)
