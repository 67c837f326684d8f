"""A changed default counts as a change: for DVC through the code that a stage depends on, for the caches through their keys."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import yaml

from components.core.digests import digest_value
from components.core.graph import TEST_SETS, load_graph
from components.core.ledger import kept, ledger_table
from components.core.params import Settings, classes_of, parse_settings
from components.execution.runner import stage_settings
from components.execution.stage import ShardOut, Task
from tests.support import PROJECT, make_output, make_stage, row


def dvc(root: Path, *arguments: str) -> str:
    done = subprocess.run([sys.executable, "-m", "dvc", *arguments], cwd=root, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_each_stage_depends_on_the_code_of_all_its_settings() -> None:
    stages = yaml.safe_load((PROJECT / "dvc.yaml").read_text())["stages"]
    graph = load_graph(PROJECT)

    def modules(kind: type[Settings]) -> set[str]:
        inner = [one for field in kind.model_fields.values() for one in classes_of(field.annotation)]
        bases = {base.__module__ for base in kind.__mro__ if issubclass(base, Settings)}
        return bases.union(*(modules(one) for one in inner))

    for stage in (stage for stage in stages if stage != TEST_SETS):
        deps = stages[stage].get("do", stages[stage])["deps"]
        for dataset in graph.chain[stage]:
            for module in modules(type(stage_settings(graph, stage, dataset))):
                assert any(f"{module.replace('.', '/')}/".startswith(f"{dep}/") for dep in deps), (stage, module)


class Now(Settings):
    threshold: float = 0.5


class Later(Settings):
    threshold: float = 0.6


def keep(table: pa.Table, task: Task) -> ShardOut:
    return ShardOut(table, ledger_table([kept(key) for key in table["key"].to_pylist()]))


def test_a_changed_default_computes_again_and_an_explicit_equal_value_does_not(tmp_path: Path) -> None:
    candidates = make_output(tmp_path, "crawl", [[row("crawl", key="a")]])

    def from_cache(params: Settings) -> dict[str, str]:
        stage = make_stage(tmp_path, "crawl", "again", params=params, inputs={"input": candidates})
        stage.map(keep, candidates.shards, step="keep", params=params.plain())
        return stage.cache_summary()

    assert from_cache(parse_settings(Now, {}, "here")) == {"keep": "0 of 1"}
    assert from_cache(parse_settings(Now, {"threshold": 0.5}, "here")) == {"keep": "1 of 1"}
    assert from_cache(parse_settings(Later, {}, "here")) == {"keep": "0 of 1"}
    assert digest_value(Now().plain()) != digest_value(Later().plain()) == digest_value(Now(threshold=0.6).plain())
