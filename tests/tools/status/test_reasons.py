"""What would run next, and why: the same stages as DVC says, with names of settings, code and inputs."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.execution.run_log import logged_run
from components.tools.status.reasons import Locked
from components.tools.status.report import project_status
from tests.support.pipeline.harness import init_repository

PIPELINE = """
stages:
  crawl:
    foreach: ${chain.crawl}
    do:
      cmd: python -m make crawl ${key}
      deps: [takedown.jsonl, components/core, expectations/crawl.json]
      params: ["${key}.crawl"]
      outs: ["data/${key}/crawl", "reports/lineage/${key}/crawl.json"]
  filter:
    foreach: ${chain.filter}
    do:
      cmd: python -m make filter ${key} ${item.input}
      deps: ["data/${item.input}", components/core, components/stages/filter, expectations/filter.json]
      params: ["${key}.filter"]
      outs: ["data/${key}/filter", "reports/lineage/${key}/filter.json"]
"""
PARAMS = """
chain: {crawl: {english: {}, spoken: {}}, filter: {english: {input: english/crawl}}}
english:
  crawl: {seeds: [a, b], rate: 0.00004, deep: {inner: 1}}
  filter: {least: 3}
spoken:
  crawl: {seeds: [c], rate: 1e-7, deep: {inner: 1}}
"""
MAKE = """
import hashlib, json, pathlib, sys
stage, dataset, *inputs = sys.argv[1:]
def digest(name): return hashlib.sha256(pathlib.Path("data", name, "manifest.json").read_bytes()).hexdigest()
made = pathlib.Path("data", dataset, stage, "manifest.json")
made.parent.mkdir(parents=True, exist_ok=True)
made.write_text(dataset)
lineage = pathlib.Path("reports/lineage", dataset, stage + ".json")
lineage.parent.mkdir(parents=True, exist_ok=True)
parents = [{"output": name, "manifest_sha256": digest(name)} for name in inputs]
lineage.write_text(json.dumps({"manifest_sha256": digest(dataset + "/" + stage), "parents": parents}))
"""


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project that DVC has run."""
    root = tmp_path_factory.mktemp("finished")
    files = {
        "dvc.yaml": PIPELINE,
        "params.yaml": PARAMS,
        "make.py": MAKE,
        "takedown.jsonl": "\n",
        ".dvcignore": "__pycache__\n*.pyc\n",
    }
    files |= {f"expectations/{stage}.json": "[]" for stage in ("crawl", "filter")}
    files |= {
        "components/core/a.py": "A = 1\n",
        "components/core/b/c.py": "B = 1\n",
        "components/stages/filter/run.py": "C = 1\n",
    }
    for name, text in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    init_repository(root)
    from dvc.repo import Repo

    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(root)
        with Repo(str(root)) as repo:
            repo.reproduce()
    return root


@pytest.fixture
def root(finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the project, in its own current folder."""
    shutil.copytree(finished, tmp_path / "project")
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path / "project"


def dvc_says(root: Path) -> set[str]:
    from dvc.repo import Repo

    with Repo(str(root)) as repo:
        return set(repo.status())


def we_say(root: Path) -> dict[str, tuple[str, ...]]:
    return {each.name: each.why for each in project_status(root).next}


def change(path: Path, before: str, after: str) -> None:
    text = path.read_text()
    assert before in text
    path.write_text(text.replace(before, after))
    os.utime(path, (time.time() + 5, time.time() + 5))  # DVC trusts a file with the same size and time


@pytest.mark.long
def test_what_has_run_has_no_reason(root):
    (root / "components/core/__pycache__").mkdir()
    (root / "components/core/__pycache__/a.pyc").write_text("x")
    assert dvc_says(root) == set()
    assert we_say(root) == {}


@pytest.mark.long
@pytest.mark.parametrize(
    ("path", "before", "after", "stages", "why"),
    [
        ("params.yaml", "inner: 1}}\n  filter", "inner: 2}}\n  filter", {"crawl@english"}, "setting english.crawl.deep.inner"),
        ("params.yaml", "least: 3", "least: 3, more: 1", {"filter@english"}, "setting english.filter.more"),
        ("params.yaml", "[a, b]", "[a, c]", {"crawl@english"}, "setting english.crawl.seeds"),
        ("components/core/b/c.py", "B = 1", "B = 2", {"crawl@english", "crawl@spoken", "filter@english"}, "code components/core"),
        ("components/stages/filter/run.py", "C", "C  # a comment", {"filter@english"}, "code components/stages/filter"),
        ("takedown.jsonl", "\n", "{}\n", {"crawl@english", "crawl@spoken"}, "file takedown.jsonl"),
        ("expectations/filter.json", "[]", "[1]", {"filter@english"}, "file expectations/filter.json"),
        ("data/english/filter/manifest.json", "e", "f", {"filter@english"}, "changed output data/english/filter"),
    ],
)
def test_a_change_has_the_stages_that_dvc_names_and_its_reason(root, path, before, after, stages, why):
    change(root / path, before, after)
    found = we_say(root)
    assert set(found) == stages
    assert all(reasons == (why,) for reasons in found.values())
    assert dvc_says(root) == stages


def test_a_missing_output_and_a_new_dataset_are_to_be_made(root):
    (root / "data/english/crawl/manifest.json").unlink()
    (root / "data/english/crawl").rmdir()
    change(root / "params.yaml", "spoken: {}}", "spoken: {}, new: {}}")
    change(root / "params.yaml", "spoken:\n", "new:\n  crawl: {}\nspoken:\n")
    assert we_say(root) == {
        "crawl@english": ("missing output data/english/crawl",),
        "crawl@new": ("it has not run",),
        "filter@english": ("input english/crawl",),
    }
    assert {"crawl@english", "crawl@new"} <= dvc_says(root)


def test_an_input_made_anew_is_a_reason(root):
    (root / "data/english/crawl/manifest.json").write_text("other")
    assert we_say(root)["filter@english"] == ("input english/crawl",)
    assert Locked(load_graph(root)).why_run("crawl", "spoken") == []


def test_a_failure_that_dvc_repaired_from_its_run_cache_is_no_failure(root):
    with pytest.raises(HearsightError), logged_run(root / ".hearsight", "english", "filter"):
        raise HearsightError("fails its check")
    shutil.rmtree(root / "data/english/filter")  # as a failed run leaves it
    assert [each.name for each in project_status(root).failed] == ["filter@english"]
    from dvc.repo import Repo

    with Repo(str(root)) as repo:
        repo.checkout(force=True)
    assert project_status(root).failed == []


def test_a_dataset_has_its_own_stages_alone(root):
    change(root / "takedown.jsonl", "\n", "{}\n")
    assert [each.name for each in project_status(root, "spoken").next] == ["crawl@spoken"]
    assert project_status(root, "spoken").perhaps == [] and project_status(root, "english").perhaps == ["filter@english"]
    with pytest.raises(HearsightError, match=r"no dataset 'spokn'.*spoken"):
        project_status(root, "spokn")


def test_what_reads_a_changed_stage_follows_if_it_changes(root):
    change(root / "params.yaml", "[a, b]", "[a]")
    assert project_status(root).perhaps == ["filter@english"]
