"""Runs a project's stages, kills them at chosen moments, and compares what they leave with an uninterrupted run."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml

from components.core.addresses import docs_folder
from components.core.check_warnings import CheckWarning
from components.core.params import read_params_file
from tests.support import HANG, PROJECT, InlineEngine
from tests.support.settings_files import write_settings

ENVIRONMENT = {
    **os.environ,
    "DVC_NO_ANALYTICS": "1",
    "HEARSIGHT_TRACKING": "off",
    "HEARSIGHT_WORDNET": str(PROJECT / "tests" / "knowledge" / "wordnet"),
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
}

DVC_TAKES = 1.5
"""Seconds of a stage's run that are dvc's own."""
AT_ONCE = 0.3
"""Seconds after which a runner has begun and none is done."""


@dataclass(frozen=True)
class Project:
    """A project of the test's own: the real code, expectations and dvc.yaml, with its own parameters and data."""

    root: Path

    @property
    def params(self) -> dict[str, Any]:
        return read_params_file(self.root / "params.yaml")

    @property
    def stages(self) -> list[str]:
        """The stages of the english chain, in order."""
        chain = self.params["chain"]
        return [s for s in yaml.safe_load((self.root / "dvc.yaml").read_text())["stages"] if "english" in chain.get(s, {})]

    def command(self, *words: str) -> subprocess.Popen[bytes]:
        log = (self.root / "log.txt").open("ab")
        return subprocess.Popen(
            words, cwd=self.root, env={**ENVIRONMENT, "HEARSIGHT_ROOT": str(self.root)}, stdout=log, stderr=log
        )

    def run(self, *words: str) -> None:
        if self.command(*words).wait():
            raise AssertionError(f"{' '.join(words)} failed:\n" + (self.root / "log.txt").read_text()[-3000:])

    def manifest(self, stage: str) -> bytes:
        return (self.root / "data" / "english" / stage / "manifest.json").read_bytes()

    def cache_entries(self) -> dict[str, int]:
        """Finished cache entries and when each was written (ns); one killed just before its rename is not finished."""
        result = (self.root / ".hearsight" / "cache").glob("*/*/entry.json")
        return {str(path): path.stat().st_mtime_ns for path in result if ".tmp-" not in path.parent.name}

    def half_written(self) -> bool:
        """Whether some shard or file is being written at this moment."""
        state, out = self.root / ".hearsight" / "cache", self.root / "data" / "english"
        try:
            return any(state.glob("*/*.tmp-*/*")) or any(out.rglob(".*.tmp"))
        except FileNotFoundError:  # a folder that was renamed while it was listed
            return False

    def inside_an_epoch(self) -> bool:
        """Whether a training job has saved a checkpoint and is in a later epoch."""
        return any((self.root / ".hearsight" / "work" / "english" / "pretrain_retrieval").rglob("*.ckpt"))


PLACEHOLDERS = ("data/none/manifest.json", "ratings/kept/.gitkeep", "reports/captioner_tests/none.json")
"""What stands in for an input that a stage does without."""
LEFT_OUT = ("portuguese", "stamps", "stamps_synthetic", "spoken", "cleaned", "captioners")


def sample_params() -> dict[str, Any]:
    """The project's own parameters without the dataset `paper`, whose stages are english's over again, and without those
    whose posts and stamps no fixture web has."""
    params = read_params_file(PROJECT / "params.yaml")
    _train_on_english(params)
    for takers in params["chain"].values():
        for other in LEFT_OUT:
            takers.pop(other, None)
    for other in LEFT_OUT:
        params.pop(other, None)
    # What is listened to is a side branch with tests of its own, and slow. The report does without.
    params["chain"]["evaluate_speech"] = {}  # dvc.yaml names it
    del params["english"]["evaluate_speech"]
    params["chain"]["report"]["english"]["evaluate_speech"] = "none"
    # So are captioners, a model a cell: dvc.yaml names their matrix.
    params["captioners"] = {"sets": [], "tests": [], "networks": []}
    del params["english"]["train_captioner"]
    params["chain"]["report"]["english"]["evaluate_captioners"] = "none"
    params["chain"]["build_rating_items"]["english"]["captioners"] = "none"
    for stage in ("import_ratings", "evaluate_ratings"):  # nobody rates in a test
        params["chain"][stage] = {}
        del params["english"][stage]
    for stage in ("filter", "hypernymize"):
        del params["chain"][stage]["paper"]
        params["chain"]["report"]["english"][f"paper_{stage}"] = "none"
    del params["paper"]
    return params


def _train_on_english(params: dict[str, Any]) -> None:
    """The dual encoder of english alone, where the project's own is of several sets."""
    own = {"images": "english/extract_features", "more": "none", "more_images": "none"}
    params["chain"]["pretrain_retrieval"]["english"] = {"input": "english/synthesize", **own}
    params["chain"]["evaluate_retrieval"]["english"]["input"] = params["chain"]["report"]["english"]["pretrain_retrieval"] = (
        "english/pretrain_retrieval"
    )
    params["english"]["pretrain_retrieval"] = params["spoken"]["pretrain_retrieval"]


def make_project(root: Path, params: dict[str, Any], extra: Callable[[Path], None] = lambda root: None) -> Project:
    """A git and DVC repository at ``root`` with the project's code and the given parameters."""
    root.mkdir(parents=True)
    for name in ("components", "expectations", "flows"):
        shutil.copytree(PROJECT / name, root / name, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("dvc.yaml", "takedown.jsonl", ".dvcignore", ".gitignore", *PLACEHOLDERS):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(PROJECT / name, root / name)
    write_settings(root, params)
    extra(root)
    init_repository(root)
    return Project(root)


def init_repository(root: Path) -> None:
    """Make ``root`` a git and DVC repository; in this process, because each start of the command costs seconds."""
    from dvc.repo import Repo

    subprocess.run(["git", "init", "-q"], cwd=root, check=True)
    Repo.init(str(root)).close()


def commit(project: Project, *targets: str) -> None:
    """Tell DVC that the outputs there are, of every stage or of ``targets``, are what their stages made."""
    from dvc.repo import Repo

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(project.root)
        with Repo(str(project.root)) as repo:
            for target in targets or (None,):
                repo.commit(target, force=True)


def leave_docs(root: Path, dataset: str, stage: str) -> list[CheckWarning]:
    """Stand in for a check that passes: checks have tests of their own, and cost a second each."""
    docs = docs_folder(root, dataset, stage)
    docs.mkdir(parents=True, exist_ok=True)
    (docs / "index.html").write_text("")
    return []


def finish_in_process(project: Project, *, checks: bool = True) -> None:
    """Run every stage once, with its check or without, in this process, and commit all to DVC.

    The outputs are those of `dvc repro`, which starts a process for each stage and loads the models in each.
    """
    from components.cli.stages import check_draft
    from components.execution import runner

    with pytest.MonkeyPatch.context() as patch:
        for name in ("HEARSIGHT_TRACKING", "HEARSIGHT_WORDNET"):
            patch.setenv(name, ENVIRONMENT[name])
        patch.setattr(runner, "make_engine", lambda *_: InlineEngine())
        for stage in project.stages:
            runner.run_stage(project.root, stage, "english", check=check_draft if checks else leave_docs)
    commit(project)


def uninterrupted(project: Project) -> dict[str, float]:
    """Run every stage once under dvc; returns the seconds each stage took."""
    took = {}
    for stage in project.stages:
        start = time.monotonic()
        project.run("dvc", "repro", "--single-item", f"{stage}@english")
        took[stage] = time.monotonic() - start
    return took


def forks(root: Path) -> list[psutil.Process]:
    """The fork of the server of runs that runs a stage, and its workers; they are no descendants of dvc."""
    found = [each for each in psutil.process_iter(["cmdline", "cwd", "ppid"]) if each.info["cwd"] == str(root.resolve())]
    found = [each for each in found if "import_for_trainings" in (each.info["cmdline"] or [])]
    pids = {each.pid for each in found}
    return sorted(found, key=lambda each: each.info["ppid"] in pids)


def family(process: psutil.Process, root: Path) -> Iterator[tuple[str, psutil.Process]]:
    """The living processes of a run by the part they play: parent (dvc), runner (hearsight) and its workers."""
    yield "parent", process
    runner = None
    for child in process.children(recursive=True):
        try:
            line = " ".join(child.cmdline())
        except psutil.Error:
            continue
        if "hearsight run" in line:
            yield ("runner" if runner is None else "worker"), child
            runner = runner or child
    yield from (("worker", each) for each in forks(root)[1:])


Moment = Callable[[float], bool]
"""Whether to strike now, by how long the runner has lived (s)."""


def kill_at(project: Project, stage: str, target: str, moment: Moment, patience: float, *, force: bool = False) -> bool:
    """Start ``stage`` under dvc, kill -9 its ``target`` once ``moment`` has come, and see that no orphan is left.

    Returns:
        Whether the kill struck before the run ended.
    """
    forced = ["--force"] if force else []
    process = project.command("dvc", "repro", "--single-item", *forced, f"{stage}@english")
    root = psutil.Process(process.pid)
    deadline = time.monotonic() + patience
    struck = False
    while process.poll() is None and time.monotonic() < deadline:
        parts: dict[str, psutil.Process] = {}
        for part, member in family(root, project.root):
            parts.setdefault(part, member)
        if target in parts and "runner" in parts and moment(age(parts["runner"])):
            everyone = [root, *root.children(recursive=True), *forks(project.root)]
            try:
                parts[target].send_signal(signal.SIGKILL)
            except psutil.NoSuchProcess:
                # Gone since it was seen: a worker that ended, or a child on its way to becoming a voice's host.
                continue
            struck = True
            if target != "worker":
                process.wait(timeout=HANG)
                _, left = psutil.wait_procs(everyone, timeout=HANG)
                assert not [p for p in left if p.is_running() and p.status() != psutil.STATUS_ZOMBIE], "orphans outlived the kill"
            break
        time.sleep(0.005)
    process.wait(timeout=600)
    return struck


def age(process: psutil.Process) -> float:
    """Seconds since a process began; 0 when it is gone."""
    try:
        return time.time() - process.create_time()
    except psutil.Error:
        return 0.0


def moments(project: Project, stage: str, target: str, took: float, seed: int) -> Moment:
    """When to strike: a seeded share of the runner's life, or the first moment of a write or of a later epoch after it."""
    source = random.Random(f"{seed}/{stage}/{target}")
    delay = source.uniform(0.1, 0.6) * max(took - DVC_TAKES, 0.5)
    if stage == "pretrain_retrieval":
        # Early, so that epochs are left for the next of the three to strike in.
        return lambda lived: lived > delay / 3 if target == "parent" else project.inside_an_epoch()
    if target == "runner":
        return lambda lived: project.half_written()
    return lambda lived: lived > delay


def torment(project: Project, took: dict[str, float], seed: int) -> dict[str, list[str]]:
    """Kill every stage's runner, parent and worker in turn, then let it finish; returns what was struck.

    Raises:
        AssertionError: a finished cache entry was computed again.
    """
    struck: dict[str, list[str]] = {}
    for stage in project.stages:
        for target in ("runner", "parent", "worker"):
            before = project.cache_entries()
            if kill_at(project, stage, target, moments(project, stage, target, took[stage], seed), took[stage] + 20):
                struck.setdefault(stage, []).append(target)
            after = project.cache_entries()
            again = [name for name in before if after.get(name) != before[name]]
            assert not again, f"{stage}, {target} killed: finished shards were written again: {again}"
        if stage not in struck and kill_at(project, stage, "runner", lambda lived: lived > AT_ONCE, 60, force=True):
            struck[stage] = ["runner"]  # it was over before any of the three: once more, as soon as it is there
        project.run("dvc", "repro", "--single-item", f"{stage}@english")
    return struck
