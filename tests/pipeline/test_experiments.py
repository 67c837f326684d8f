"""A queue of experiments of `dvc exp` gives each the result of a run of its own, and `-S` changes its setting alone."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from components.core.params import read_yaml
from tests.support import PROJECT
from tests.support.pipeline.harness import ENVIRONMENT, make_project
from tests.support.settings_files import texts

pytestmark = [pytest.mark.long, pytest.mark.timeout(1200)]

TABLE = "".join(f"a drawing of {n} envelopes on a table\t{n}.png\n" for n in range(24))
SHARES = (0.1, 0.25, 0.4)


def dvc(root: Path, *words: str) -> str:
    done = subprocess.run(["dvc", *words], cwd=root, env=ENVIRONMENT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    return done.stdout


def name_of(share: float) -> str:
    return f"share-{int(share * 100)}"


def git(root: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=root, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project whose table of captions has been crawled, with the split to be varied."""
    from PIL import Image

    def add_table(root: Path) -> None:
        (root / "table").mkdir()
        (root / "table" / "captions.tsv").write_text(TABLE)
        for n in range(24):
            Image.new("RGB", (120, 110), (n * 10, 40, 200 - n * 5)).save(root / "table" / f"{n}.png")

    source = {"kind": "table", "layout": "tsv", "inputs": ["table/captions.tsv"], "language": "en"}
    chain: dict = {stage: {} for stage in re.findall(r"\$\{chain\.(\w+)\}", (PROJECT / "dvc.yaml").read_text())}
    chain |= {"crawl": {"mine": {}}, "split": {"mine": {"input": "mine/crawl", "ratings": "none"}}}
    params = {
        "engine": {"kind": "local", "workers": 1},
        "storage": {"kind": "local", "versioned": ""},
        "chain": chain,
        "captioners": {"sets": [], "tests": [], "networks": [], "shared": {}},
        "mine": {"crawl": {"snapshot": "mine-1", "source": source}, "split": {"by": "text", "validation": 0.2, "test": 0.2}},
    }
    project = make_project(tmp_path / "project", params, add_table)
    git(project.root, "add", "-A")
    git(project.root, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "first")
    dvc(project.root, "repro", "split@mine")
    git(project.root, "add", "-A")
    git(project.root, "-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-qm", "run")
    return project.root


def test_metrics_of_two_experiments_fit_a_screen_and_none_fails_to_load(root: Path) -> None:
    dvc(root, "exp", "run", "-n", "less", "-S", "datasets/mine.yaml:split.test=0.3", "split@mine")
    done = subprocess.run(
        ["dvc", "metrics", "diff", "--all"], cwd=root, env=ENVIRONMENT, capture_output=True, text=True, check=True
    )
    assert "failed to load" not in done.stdout + done.stderr
    (line,) = [line for line in done.stdout.splitlines() if "mine.kept" in line]
    assert line.split()[2:] == ["24", "24", "0"] and line.startswith("reports/mine/split.json")
    shown = dvc(root, "exp", "show", "--only-changed", "--csv").splitlines()
    assert shown[0].split(",") == ["Experiment", "rev", "typ", "Created", "split.test"]
    shown = dvc(root, "exp", "show", "--csv").splitlines()
    assert "mine.kept" in shown[0].split(",")
    git(root, "restore", ".")
    dvc(root, "checkout")
    dvc(root, "exp", "apply", "less")
    assert read_yaml(root / "datasets" / "mine.yaml")["split"]["test"] == 0.3
    dvc(root, "gc", "--workspace", "--force")
    assert "up to date" in dvc(root, "status"), "what the checkout names is still there"
    dvc(root, "checkout")


def test_three_queued_experiments_give_the_results_of_three_plain_runs(root: Path) -> None:
    before = texts(root)
    for share in SHARES:
        dvc(root, "exp", "run", "--queue", "-n", name_of(share), "-S", f"datasets/mine.yaml:split.test={share}", "split@mine")
    assert texts(root) == before, "queueing leaves the settings as they are"
    dvc(root, "exp", "run", "--run-all", "-j", "1")
    digests = {}
    for share in SHARES:
        (revision,) = git(root, "for-each-ref", "--format=%(refname)", f"refs/exps/**/{name_of(share)}").split()
        changed = git(root, "diff", "--name-only", "HEAD", revision, "--", "datasets", "params.yaml").split()
        assert changed == ["datasets/mine.yaml"]
        digests[share] = git(root, "show", f"{revision}:dvc.lock")
    assert not list((root / ".dvc" / "tmp" / "exps").glob("tmp*/data")), "the checkouts of the queue are gone"
    for share in SHARES:
        (root / "datasets" / "mine.yaml").write_text(before["datasets/mine.yaml"])
        dvc(root, "exp", "run", "-S", f"datasets/mine.yaml:split.test={share}", "split@mine")
        assert read_yaml(root / "datasets" / "mine.yaml")["split"] == {"by": "text", "validation": 0.2, "test": share}
        assert (root / "dvc.lock").read_text() == digests[share]
    assert len(set(digests.values())) == len(SHARES)
