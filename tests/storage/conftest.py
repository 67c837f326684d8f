"""Servers, and small projects whose outputs are in their bucket."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from PIL import Image

from components.core.object_store import ObjectStore
from components.core.params import YAML_LOADER
from components.core.storage import S3Storage
from tests.pipeline.harness import Project, make_project
from tests.storage.server import S3Server, serving
from tests.support import PROJECT

ROWS = 12


@pytest.fixture
def server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[S3Server]:
    """A server of the test's own, with credentials for this process and those it starts."""
    with serving(tmp_path / "server") as started:
        for name, value in started.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.delenv("AWS_PROFILE", raising=False)
        yield started


@pytest.fixture
def store(server: S3Server, tmp_path: Path) -> ObjectStore:
    return ObjectStore(S3Storage(url="s3://bucket/team", endpoint=server.url, patience=0.0), tmp_path / "objects")


def small_params() -> dict[str, object]:
    """A table of drawn pictures: crawl, then split; no other stage takes a dataset."""
    pipeline = yaml.load((PROJECT / "dvc.yaml").read_text(), YAML_LOADER)
    chain: dict[str, object] = {stage: {} for stage in pipeline["stages"] if not stage.startswith("check-")}
    del chain["train_captioner"]
    chain |= {"crawl": {"english": {}}, "split": {"english": {"input": "english/crawl", "ratings": "none"}}}
    crawl = {
        "snapshot": "s",
        "shard_size": 4,
        "source": {"kind": "table", "layout": "flickr8k", "inputs": ["t.txt"], "image_folder": "p", "language": "en"},
    }
    return {
        "engine": {"kind": "local", "workers": 1},
        "storage": {"kind": "local", "versioned": ""},
        "chain": chain,
        "captioners": {"sets": [], "tests": [], "networks": []},
        "english": {"crawl": crawl, "split": {"by": "text"}},
    }


def draw(root: Path) -> None:
    (root / "p").mkdir()
    for number in range(ROWS):
        Image.new("RGB", (120, 100), (20 * number, 200 - 9 * number, 90)).save(root / "p" / f"{number}.png")
    (root / "t.txt").write_text("".join(f"{n}.png#0\tpicture number {n} of a plain colour\n" for n in range(ROWS)))


def small_project(root: Path, server: S3Server | None = None, patience: float = 60.0) -> Project:
    """A git and DVC repository with that table, with its outputs in the server's bucket or on disk."""
    params = small_params()
    if server is not None:
        block = {"kind": "s3", "url": "s3://bucket/team", "endpoint": server.url, "patience": patience}
        params["storage"] = block | {"versioned": "/manifest.json"}
    return make_project(root, params, draw)


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, check=True, text=True, capture_output=True).stdout
