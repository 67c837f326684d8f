"""A node of a Ray cluster that shares nothing with the project but the bucket gives the bytes of this machine."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from components.core.errors import HearsightError
from components.execution import shipping
from components.execution.engine import LocalEngine
from components.execution.ray_engine import RayEngine
from components.execution.stage import Job
from tests.storage import ray_work
from tests.support import HANG, make_stage, publish, until
from tests.support.execution.ray_support import free_port
from tests.support.storage.outputs import crawl
from tests.support.storage.projects import in_bucket
from tests.support.storage.server import S3Server

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1800)]
RAY = [str(Path(sys.executable).parent / "ray"), "start", "--disable-usage-stats", "--block", "--object-store-memory", "80000000"]
HIDE = ["unshare", "-m", "sh", "-c", 'mount -t tmpfs none "$0" && exec "$@"']


def may_hide() -> bool:
    return subprocess.run(["unshare", "-m", "true"], capture_output=True, check=False).returncode == 0


@pytest.fixture
def cluster(server: S3Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A node in whose mounts the test's projects are an empty folder; the driver, outside, takes it for its own machine."""
    if not may_hide():
        pytest.skip("this system does not allow mount namespaces")
    home = tempfile.mkdtemp(prefix="hr", dir="/tmp")  # the path of a socket may have 107 bytes
    port, hidden, log = free_port(), tmp_path / "projects", tmp_path / "ray.log"
    hidden.mkdir()
    monkeypatch.setenv("HEARSIGHT_NODE_DIR", str(tmp_path / "node"))
    monkeypatch.setenv("RAY_TMPDIR", home)
    monkeypatch.setattr(shipping, "ONE_MACHINE", frozenset())  # the tests' outputs have a crawl's schema
    # Ray would take this machine's outer address for 127.0.0.1 otherwise.
    monkeypatch.setenv("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
    monkeypatch.setenv("RAY_AUTH_MODE", "disabled")
    node = ["--head", "--port", str(port), "--node-ip-address", "127.0.0.1", "--num-cpus", "1", "--include-dashboard", "false"]
    process = _start([*HIDE, str(hidden), *RAY, *node], log)
    try:
        yield f"127.0.0.1:{port}"
    finally:
        _end(process)
        shutil.rmtree(home, ignore_errors=True)


def _start(command: list[str], log: Path) -> subprocess.Popen[bytes]:
    """Start a node. Ray gives it 30 s and has no setting for that; a machine that does other work needs more."""
    for _ in range(4):
        with log.open("wb") as handle:
            process = subprocess.Popen(command, stdout=handle, stderr=handle, start_new_session=True)
        until(lambda p=process: "Ray runtime started" in log.read_text(errors="replace") or p.poll() is not None, within=HANG)
        if process.poll() is None:
            return process
    raise AssertionError(log.read_text(errors="replace"))


def _end(process: subprocess.Popen[bytes]) -> None:
    for member in (*psutil.Process(process.pid).children(recursive=True), process) if process.poll() is None else ():
        member.kill()
    process.wait()


def run_all(root: Path, engine: Any) -> tuple[str, str]:
    """Run two maps and two jobs; return the output's digest and what the jobs counted."""
    job = make_stage(root, "crawl", "next", inputs={"input": crawl(root)}, engine=engine)
    (job.work / "note.txt").write_text("bytes:")
    # The local engine sees the project, so nothing is required there.
    shared = {"root": str(root) if isinstance(engine, RayEngine) else "/nonexistent"}
    lock = root / ".hearsight" / "locks" / "next.crawl.lock"
    with engine.open(root, lock, (root / ".hearsight", root / "data")):
        first = job.map(ray_work.measure, job.inputs["input"].shards, step="measure", params={}, shared=shared, publish=False)
        job.map(ray_work.again, first, step="again", params={}, shared=shared)
        (counted,) = job.jobs(ray_work.count, [Job("one", {"earlier": ""})], step="count", params={}, shared=shared)
        earlier = f"cache/{counted.parent.name}/{counted.name}"
        (counted,) = job.jobs(ray_work.count, [Job("two", {"earlier": earlier})], step="count", params={}, shared=shared)
    return publish(job).digest, (counted / "count.txt").read_text()


def test_a_node_without_the_projects_folder_gives_the_same_bytes(server: S3Server, cluster: str, tmp_path: Path) -> None:
    on_nodes = run_all(in_bucket(tmp_path / "projects" / "a", server), RayEngine(cluster))
    assert (tmp_path / "node").is_dir() and on_nodes[1] == "6\n6\n"
    assert run_all(tmp_path / "disk", LocalEngine(1)) == on_nodes


def test_a_node_without_access_to_the_bucket_is_refused(server: S3Server, cluster: str, tmp_path: Path) -> None:
    root = in_bucket(tmp_path / "projects" / "b", server, patience=0.0)
    crawl(root)
    server.kill()
    with (
        pytest.raises(HearsightError, match=r"has no access to the bucket: s3://") as caught,
        RayEngine(cluster).open(root, root / ".hearsight" / "locks" / "next.crawl.lock", (root,)),
    ):
        pass
    assert "\n" not in str(caught.value)
