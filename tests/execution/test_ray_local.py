"""A Ray cluster that the run itself starts on this machine."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tests.support import PROJECT
from tests.support.crawl.crawls import fixture_params
from tests.support.crawl.fixture_web import build_fixture_web
from tests.support.pipeline.harness import sample_params
from tests.support.settings_files import write_settings
from tests.support.web.archived import archive_web


@pytest.mark.slow
def test_archives_in_s3_read_on_a_local_cluster_give_the_local_engines_bytes(tmp_path, bucket, monkeypatch):
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "x")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "x")
    root, home = tmp_path / "project", tempfile.mkdtemp(prefix="hr", dir="/tmp")
    for part in archive_web(build_fixture_web(root / "web", pages=8), tmp_path / "warc", 3):
        bucket.upload_file(str(part), "archive", part.name)
    bucket.put_object(Bucket="archive", Key="warc.paths", Body=b"part-00.warc.gz\npart-02.warc.gz\npart-01.warc.gz\n")
    source = {"source": "archives", "inputs": ["s3://archive/warc.paths"], "seeds": [], "hosts": []}
    params = sample_params()
    params["english"]["crawl"] = fixture_params(**source).plain()
    for name in ("components", "dvc.yaml", "expectations"):
        (root / name).symlink_to(PROJECT / name)
    digests = {}
    for engine in ({"kind": "local", "workers": 2}, {"kind": "ray", "workers": 2, "address": "local", "cpus": 1.0}):
        write_settings(root, {**params, "engine": engine})
        for left in (".hearsight", "data"):
            shutil.rmtree(root / left, ignore_errors=True)
        done = subprocess.run(
            [Path(sys.executable).with_name("hearsight"), "run", "crawl"],
            env={**os.environ, "HEARSIGHT_ROOT": str(root), "HEARSIGHT_TRACKING": "off", "RAY_TMPDIR": home},
            text=True,
            capture_output=True,
            check=True,
        )
        digests[json.loads(done.stdout)["digest"]] = json.loads((root / "reports/lineage/english/crawl.json").read_text())[
            "engine"
        ]
    shutil.rmtree(home)
    assert list(digests.values()) == ["ray"], "two digests"


@pytest.mark.slow
def test_a_local_cluster_listens_on_loopback_only(tmp_path):
    code = """if True:
        import pathlib, psutil, sys
        from components.execution.ray_engine import RayEngine
        root = pathlib.Path(sys.argv[1])
        with RayEngine("local", 1).open(root, root / "lock", [root]):
            family = psutil.Process().children(recursive=True)
            heard = {c.laddr.ip for p in family for c in p.net_connections("inet") if c.status == psutil.CONN_LISTEN}
        print(*heard)
    """
    home = tempfile.mkdtemp(prefix="hr", dir="/tmp")
    environment = {**os.environ, "RAY_TMPDIR": home}
    command = [sys.executable, "-c", code, str(tmp_path)]
    heard = subprocess.check_output(command, cwd=PROJECT, text=True, env=environment).split()
    shutil.rmtree(home)
    assert heard and {address.removeprefix("::ffff:") for address in heard} == {"127.0.0.1"}
