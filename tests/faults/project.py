"""The small project that faults strike: a crawl of drawn pages, their split, its speech, and items to rate."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from components.core.addresses import docs_folder, lineage_path
from components.core.files import link
from components.core.stage_output import StageOutput
from tests.support import PROJECT
from tests.support.crawl.crawls import fixture_block
from tests.support.crawl.fixture_web import build_fixture_web
from tests.support.settings_files import write_settings

CHAIN: dict[str, dict[str, str]] = {
    "crawl": {},
    "split": {"input": "english/crawl", "ratings": "none"},
    "synthesize": {"input": "english/split"},
    "build_rating_items": {
        "captions": "english/split",
        "media": "english/crawl",
        "captioners": "none",
        "retrieval": "none",
        "speech": "english/synthesize",
    },
}
STAGES = list(CHAIN)
NONE = ("data/none/manifest.json",)
"""What stands in for an input that a stage does without."""


@dataclass(frozen=True)
class Small:
    """A project at ``root``."""

    root: Path

    def output(self, stage: str) -> Path:
        return self.root / "data" / "english" / stage

    def manifests(self) -> dict[str, bytes]:
        """Return stage → bytes of its manifest; b'' where there is none."""
        paths = {stage: self.output(stage) / "manifest.json" for stage in STAGES}
        return {stage: path.read_bytes() if path.exists() else b"" for stage, path in paths.items()}

    def finished(self, stage: str) -> StageOutput:
        return StageOutput(self.output(stage))

    def files(self) -> set[str]:
        """Return the relative paths of all files, without DVC's and the system's own."""
        return {
            str(path.relative_to(self.root))
            for path in self.root.rglob("*")
            if path.is_file()
            and not str(path.relative_to(self.root)).startswith((".dvc/tmp", ".dvc/site", "web/", "components/"))
        }

    def forget(self, stage: str, *, cache: bool = True, answers: bool = True, objects: bool = True) -> None:
        """Remove the outputs of ``stage`` and all later ones, as if they had never run.

        Args:
            cache: remove the shard cache too, so that the work is done again and not only looked up.
            answers: of a crawl remove the fetch store too.
            objects: remove DVC's run cache too; with it, DVC restores the outputs without running anything.
        """
        gone = STAGES[STAGES.index(stage) :]
        for name in gone:
            shutil.rmtree(self.output(name), ignore_errors=True)
            lineage_path(self.output(name)).unlink(missing_ok=True)
            shutil.rmtree(docs_folder(self.root, "english", name), ignore_errors=True)
        if cache:
            shutil.rmtree(self.root / ".hearsight" / "cache", ignore_errors=True)
        if objects:
            shutil.rmtree(self.root / ".dvc" / "cache" / "runs", ignore_errors=True)
        if answers and stage == "crawl":
            shutil.rmtree(self.root / "data" / "store", ignore_errors=True)
        lock = self.root / "dvc.lock"
        content = yaml.safe_load(lock.read_text())
        content["stages"] = {name: entry for name, entry in content["stages"].items() if name.partition("@")[0] not in gone}
        lock.write_text(yaml.safe_dump(content, sort_keys=False))


def params() -> dict[str, Any]:
    """Return the settings of the project."""
    return {
        "engine": {"kind": "local", "workers": 2},
        "storage": {"versioned": ""},
        "chain": {stage: {"english": inputs} for stage, inputs in CHAIN.items()},
        "english": {
            "crawl": fixture_block(shard_size=10),
            "split": {"by": "text", "validation": 0.15, "test": 0.5},
            "synthesize": {"utterances": 1, "voices": ["nanotts-en-us"], "google_shapes": False},
            "build_rating_items": {"tables": ["dataset", "truth"], "sample": 6, "queries": 2, "voiced": True},
        },
    }


def make_small(root: Path) -> Small:
    """Write the project's files, without any output."""
    from dvc.repo import Repo

    root.mkdir(parents=True)
    write_settings(root, params())
    (root / "dvc.yaml").write_text(yaml.safe_dump({"stages": _stages()}, sort_keys=False))
    for name in ("takedown.jsonl", *(f"expectations/{stage}.json" for stage in STAGES), *NONE):
        target = root / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if name != "takedown.jsonl":
            shutil.copy(PROJECT / name, target)
        else:
            target.write_text("")
    for folder in ("components", "flows"):
        (root / folder).symlink_to(PROJECT / folder)
    build_fixture_web(root / "web", pages=5, seed=0)
    Repo.init(str(root), no_scm=True).close()
    with (root / ".dvc" / "config").open("a") as config:
        config.write("    analytics = false\n    check_update = false\n")
    return Small(root)


def _stages() -> dict[str, Any]:
    """Return the stages of the project's own dvc.yaml that the chain takes; of the code only each stage's own package."""
    everything = yaml.safe_load((PROJECT / "dvc.yaml").read_text())["stages"]
    chosen = {name: everything[name] for name in STAGES}
    for name, entry in chosen.items():
        own = f"components/stages/{name}"
        entry["do"]["deps"] = [dep for dep in entry["do"]["deps"] if not dep.startswith("components/") or dep == own]
    return chosen


LINKED = (".dvc/cache/files/", ".hearsight/cache/", ".hearsight/code/", "web/", "reports/data_docs/")
"""Files that programs replace and never change in place; :func:`tests.faults.kinds_files.damage` replaces them as well."""


def copy_small(source: Small, root: Path) -> Small:
    """Copy a project with the times of its files, which DVC and caches look at."""
    prefixes = tuple(f"{source.root}/{name}" for name in LINKED)

    def copy(one: str, other: str) -> str:
        if one.startswith(prefixes):
            link(Path(one), Path(other))
            return other
        return shutil.copy2(one, other)

    shutil.copytree(source.root, root, symlinks=True, dirs_exist_ok=True, copy_function=copy)
    return Small(root)


def size_of(folder: Path) -> int:
    """Return the bytes that a folder's files take on a disk with blocks of 4 KiB."""
    return sum(-(-path.stat().st_size // 4096) * 4096 for path in folder.rglob("*") if path.is_file())


def touch_all(folder: Path, time: float) -> None:
    """Set the times of every file in ``folder``."""
    for path in folder.rglob("*"):
        if path.is_file() and not path.is_symlink():
            os.utime(path, (time, time))
