"""Older versions leave DVC's stores, a local folder and S3 alike, and no other object does."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.tools.takedown.file_search import FileSearch, Matcher
from components.tools.takedown.listing import add
from components.tools.takedown.versions import find_current_objects, find_outdated, list_versions, open_stores
from components.web.takedown_list import NAME, read_takedown
from tests.support import row
from tests.support.takedown.versions import GONE, STAYS, dvc, output

pytestmark = pytest.mark.long


@pytest.fixture(scope="module")
def s3() -> Iterator[dict[str, str]]:
    """A real S3 server on loopback."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    named = {"AWS_ACCESS_KEY_ID": "key", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_DEFAULT_REGION": "eu-central-1"}
    patch = pytest.MonkeyPatch()
    for name, value in named.items():
        patch.setenv(name, value)
    url = f"http://{host}:{port}"
    place = {"LocationConstraint": "eu-central-1"}
    boto3.client("s3", endpoint_url=url).create_bucket(Bucket="kept", CreateBucketConfiguration=place)
    yield {"url": "s3://kept/dvc", "endpointurl": url}
    server.stop()
    patch.undo()


def versions(root: Path) -> dict[str, str]:
    """Two versions of crawl and of report: with the host, and without it; returns the digests of the first."""
    digests = {}
    both = [row("crawl", key=f"{n:016x}", page_url=f"http://{h}/{n}", host=h) for n, h in enumerate((GONE, STAYS))]
    for name, rows in (("old", both), ("new", both[1:])):
        digests[f"{name} crawl"] = output(root, "crawl", "", rows, b"same")
        digests[f"{name} report"] = output(root, "report", digests[f"{name} crawl"], [], name.encode())
        lineages = [f"reports/lineage/english/{stage}.json" for stage in ("crawl", "report")]
        dvc(root, "add", "-q", "data/english/crawl", "data/english/report", *lineages)
    return digests


@pytest.mark.parametrize("kind", ["folder", pytest.param("s3", marks=pytest.mark.slow)])
def test_exactly_the_older_versions_leave_a_remote(tmp_path: Path, kind: str, request: Any) -> None:
    from dvc.repo import Repo

    remote = request.getfixturevalue("s3") if kind == "s3" else {"url": str(tmp_path / "remote")}
    root = tmp_path / "project"
    root.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    dvc(root, "init", "-q")
    lines = "".join(f"    {name} = {value}\n" for name, value in remote.items())
    (root / ".dvc" / "config").write_text(f"[core]\n    remote = store\n['remote \"store\"']\n{lines}")
    digests = versions(root)
    add(root, "host", GONE)
    search = FileSearch(Matcher(read_takedown(root / NAME)))
    with Repo(str(root)) as repo:
        cache, far = open_stores(repo)
        everything = set(cache.ids())
        new = [v for v in list_versions(cache) if v.digest in (digests["new crawl"], digests["new report"])]
        current = {oid for v in new for oid in (v.oid, *v.files.values(), *v.lineages)}
        for oid in everything:  # as `dvc push` of both versions leaves it
            far.odb.add(cache.path(oid), cache.odb.fs, oid)
        with pytest.raises(HearsightError, match="refers to an output that holds what is listed"):
            find_outdated(cache, search, everything, {})
        known: dict[str, set[str]] = {}
        for objects in (cache, far):
            outdated, tainted = find_outdated(objects, search, current, known)
            assert tainted == {digests["old crawl"]}
            for path in outdated:
                objects.remove(path)
            assert set(objects.ids()) == current, objects.name
        assert not find_outdated(far, search, current, {})[0]
        # What both versions share stays: the image "same" and the empty shard; the old report's own figure is gone.
        left = {sha256_bytes(far.read(oid)) for oid in far.ids()}
        assert sha256_bytes(b"same") in left and sha256_bytes(b"new") in left and sha256_bytes(b"old") not in left
        assert find_current_objects(root, cache) == set()  # no dvc.lock here: nothing is taken for current by itself
