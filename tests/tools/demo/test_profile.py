"""`hearsight experiments --data` adds a profile, runs its stages alone, goes on past a failure, and continues."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from components.core.addresses import stage_address
from components.core.graph import load_graph
from components.core.params import YAML_LOADER
from components.tools.profiles.profile import add_profile, read_profile, require_profile
from flows.graph import read_tasks
from tests.support.datasets import project
from tests.support.flows.served import plain_environment
from tests.support.profiles import files_of

PROFILE = "flickr8k"
RUN = """
test ! -e fail-$1 || { echo "hearsight: the disk is full" >&2; exit 2; }
echo $1@$2 >> ran
mkdir -p data/$2/$1 reports/lineage/$2 reports/captioner_tests
echo $1 | tee data/$2/$1/out > reports/lineage/$2/$1.json
"""


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A project whose stages write a line instead of computing."""
    root = project(tmp_path)
    graph = yaml.load((root / "dvc.yaml").read_text(), YAML_LOADER)
    for name, stage in graph["stages"].items():
        content = stage.get("do", stage)
        words = content["cmd"].split()
        if words[0] == "hearsight":
            content["cmd"] = f"sh run.sh {name} {words[-1]}"
            content["outs"] = [out for out in content["outs"] if "data_docs" not in str(out) and "days" not in str(out)]
            content["deps"] = [dep for dep in content.get("deps", []) if dep.startswith(("data/", "reports/"))]
        for removed in ("params", "metrics", "plots"):
            content.pop(removed, None)
    (root / "dvc.yaml").write_text(yaml.safe_dump(graph, sort_keys=False))
    (root / "run.sh").write_text(RUN)
    (root / "data" / "none").mkdir(parents=True)
    (root / "reports" / "captioner_tests").mkdir(parents=True)
    (root / "reports" / "captioner_tests" / "none.json").write_text("{}")
    subprocess.run([sys.executable, "-m", "dvc", "init", "-q", "--no-scm"], cwd=root, check=True)
    return root


def planned(root: Path) -> list[str]:
    return [task.address for task in read_tasks(root, read_profile(PROFILE).targets)]


def experiments(root: Path) -> tuple[int, str, set[str]]:
    """Run the command; return its exit code, what it printed, and the stages that ran."""
    (root / "ran").write_text("")
    env = plain_environment(root / ".hearsight" / "prefect", HOME=str(root), HEARSIGHT_ROOT=str(root))
    command = [sys.executable, "-m", "components.cli.main", "experiments", "--data", str(root / "given")]
    done = subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout, {line.replace("captioners/cells/", "") for line in (root / "ran").read_text().split()}


def test_a_profile_plans_its_own_stages_alone_and_each_estimate_is_of_one(root: Path) -> None:
    add_profile(root, read_profile(PROFILE), files_of(root / "given", PROFILE))
    stages, graph = planned(root), load_graph(root)
    of_profile = {f"{stage}@{dataset}" for stage, takers in read_profile(PROFILE).chain.items() for dataset in takers}
    cells = {stage_address(dataset, "train_captioner") for dataset in graph.cells}
    assert set(stages) == of_profile | cells | {"evaluate_captioners@captioners"}
    assert set(read_profile(PROFILE).minutes) <= set(stages)
    assert stages.index("crawl@flickr8k") < stages.index("split@flickr8k") < stages.index("synthesize@flickr8k")


@pytest.mark.long
def test_a_failed_branch_stops_no_other_and_the_same_command_continues(root: Path) -> None:
    files_of(root / "given", PROFILE)
    (root / "fail-pretrain_retrieval").touch()
    code, printed, first = experiments(root)
    stages = set(planned(root))
    behind = {stage for stage in stages if stage.partition("@")[0] in ("finetune_retrieval", "evaluate_retrieval")}
    failed = {stage for stage in stages if stage.startswith("pretrain_retrieval@")}
    assert code == 2 and "the disk is full" in printed and "added profile flickr8k" in printed, printed
    assert first == stages - failed - behind
    (root / "fail-pretrain_retrieval").unlink()
    code, printed, second = experiments(root)
    assert code == 0 and second == failed | behind and "added" not in printed, printed
    assert experiments(root)[::2] == (0, set())


def test_another_folder_than_the_one_of_the_datasets_is_refused(tmp_path: Path) -> None:
    root, profile = project(tmp_path), read_profile(PROFILE)
    given = files_of(root / "given", PROFILE)
    assert require_profile(root, profile, given)
    assert not require_profile(root, profile, given)
    with pytest.raises(Exception, match="is not the folder that the datasets of profile flickr8k read"):
        require_profile(root, profile, files_of(root / "other", PROFILE))
