"""Small projects whose outputs are in a server's bucket."""

from __future__ import annotations

import subprocess
from pathlib import Path

import yaml
from PIL import Image

from components.core.graph import TEST_SETS
from components.core.params import YAML_LOADER
from components.core.storage import S3Storage
from tests.support import PROJECT
from tests.support.pipeline.harness import Project, make_project
from tests.support.settings_files import write_settings
from tests.support.storage.server import S3Server

ROWS = 12


def small_params() -> dict[str, object]:
    """A table of drawn images: crawl, then split; no other stage takes a dataset."""
    pipeline = yaml.load((PROJECT / "dvc.yaml").read_text(), YAML_LOADER)
    chain: dict[str, object] = {stage: {} for stage in pipeline["stages"]}
    del chain["train_captioner"], chain[TEST_SETS]
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


def settings(server: S3Server, patience: float = 60.0) -> S3Storage:
    """Patient by default: two writers that make a folder at once are an error of this server, which goes away."""
    return S3Storage(url=f"s3://bucket/{server.prefix}", endpoint=server.url, patience=patience)


def in_bucket(root: Path, server: S3Server, patience: float = 60.0) -> Path:
    """A folder that is a project only by its settings: its outputs are in the server's bucket."""
    root.mkdir(parents=True, exist_ok=True)
    write_settings(root, {"storage": settings(server, patience=patience).plain()})
    return root


def draw(root: Path) -> None:
    (root / "p").mkdir()
    for number in range(ROWS):
        Image.new("RGB", (120, 100), (20 * number, 200 - 9 * number, 90)).save(root / "p" / f"{number}.png")
    (root / "t.txt").write_text("".join(f"{n}.png#0\tpicture number {n} of a plain colour\n" for n in range(ROWS)))


def small_project(root: Path, server: S3Server | None = None, patience: float = 60.0) -> Project:
    """A git and DVC repository with that table, with its outputs in the server's bucket or on disk."""
    params = small_params()
    if server is not None:
        params["storage"] = settings(server, patience=patience).plain()
    return make_project(root, params, draw)


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, check=True, text=True, capture_output=True).stdout
