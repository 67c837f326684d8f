"""Values that fit their type and still cannot be used are refused when settings are read, by `hearsight params` and the run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.core.graph import load_graph
from components.core.params import dataset_file, read_params_file, read_yaml
from tests.support import PROJECT
from tests.support.command import hearsight
from tests.support.settings_files import copy_settings, write_settings

GRAPH = load_graph(PROJECT)
HEAVY = ("torch", "spacy", "mlflow", "great_expectations", "prefect", "onnxruntime", "pytorch_lightning", "scipy")

WRONG: list[tuple[str, str, dict[str, Any], str]] = [
    (
        "synthesize",
        "english",
        {"voices": ["flite-slr"]},
        "synthesize.voices: 'flite-slr' is not a voice — did you mean 'flite-slt'?",
    ),
    ("synthesize", "english", {"voices": []}, "synthesize.voices: is empty"),
    ("synthesize", "english", {"rate_sd": 0.5}, "synthesize.rate_sd: 0.5 is too large — give less than 0.5"),
    ("crawl", "english", {"source": {"kind": "site", "seeds": []}}, "crawl.source.seeds: is empty"),
    ("crawl", "english", {"source": {"kind": "table", "inputs": ["x"], "layout": "flickr8"}}, "did you mean 'flickr8k'?"),
    (
        "crawl",
        "english",
        {"source": {"kind": "table", "inputs": ["x"], "layout": "flickr8k", "language": "en"}},
        "crawl.source.image_folder: is empty",
    ),
    ("crawl", "english", {"web": {"kind": "folder"}}, "crawl.web.root: is empty"),
    ("crawl", "english", {"source": {"kind": "archives", "inputs": ["x"], "sample": -1}}, "source.sample: -1 is too small"),
    ("crawl", "english", {"budget": {"image_side": 0}}, "crawl.budget.image_side: 0 is too small"),
    ("split", "portuguese", {"sides": ""}, "split.sides: is empty"),
    ("split", "english", {"test": 1.0}, "leave nothing to train on"),
    ("split", "english", {"by": "published", "test": None, "validation": None}, "split.lists: are all empty"),
    (
        "hypernymize",
        "english",
        {"knowledge": ["embeded"]},
        "hypernymize.knowledge: 'embeded' is no source of knowledge — did you",
    ),
    ("import_recordings", "stamps", {"folder": ""}, "import_recordings.folder: is empty"),
    ("finetune_retrieval", "stamps", {"loss": "mns"}, "finetune_retrieval.loss: 'mns' is not a loss — did you mean 'mms'?"),
    ("pretrain_retrieval", "spoken", {"rows": ["mms"]}, "pretrain_retrieval.rows: 'mms' is no row"),
    (
        "cluster",
        "portuguese",
        {"embedding": {"metric": "cosin"}},
        "cluster.embedding.metric: is out of range — did you mean 'cosine'",
    ),
    ("dedup", "portuguese", {"posts": {"image_distance": 1.0}}, "dedup.posts.image_distance: a distance of 1.0 is not in [0, 1)"),
    ("extract_descriptions", "portuguese", {"language": "pr"}, "extract_descriptions.language: no lists for language 'pr'"),
    ("posts_report", "portuguese", {"language": "xx"}, "posts_report.language: spaCy has no stop words for 'xx'"),
]


@pytest.fixture
def project(tmp_path: Path) -> Path:
    copy_settings(tmp_path)
    return tmp_path


def change(root: Path, stage: str, dataset: str, changes: dict[str, Any]) -> None:
    """Set settings of a stage; None removes one."""
    path = dataset_file(root, dataset)
    content = read_yaml(path)
    block = content.get(stage) or {}
    content[stage] = {name: value for name, value in (block | changes).items() if value is not None}
    path.write_text(yaml.safe_dump(content))


@pytest.mark.long
@pytest.mark.parametrize(("stage", "dataset", "changes", "message"), WRONG)
def test_params_and_run_refuse_an_unusable_value_with_the_same_line(
    project: Path, stage: str, dataset: str, changes: dict[str, Any], message: str
) -> None:
    change(project, stage, dataset, changes)
    listed, ran = (hearsight(command, stage, "-d", dataset, cwd=project) for command in ("params", "run"))
    assert (listed.returncode, ran.returncode) == (2, 2), ran.stderr.decode()
    assert listed.stderr == ran.stderr and listed.stderr.count(b"\n") == 1
    assert message in listed.stderr.decode() and not listed.stdout


def test_a_captioning_network_outside_the_table_is_named_with_the_nearest_one(project: Path) -> None:
    content = read_params_file(project / "params.yaml")
    content["captioners"]["networks"].append("t2t8x9")
    content["english"]["train_captioner"]["networks"]["t2t8x9"] = {}
    write_settings(project, content)
    (cell,) = [cell for cell in load_graph(project).cells if cell.endswith("english-t2t8x9")]
    result = hearsight("params", "train_captioner", "-d", cell, cwd=project)
    assert result.returncode == 2 and "is not a captioning network — did you mean 't2t8x8'?" in result.stderr.decode()


def test_the_settings_of_every_stage_are_read_without_heavy_packages() -> None:
    lines = [
        "import sys",
        "from pathlib import Path",
        "from components.core.graph import load_graph",
        "from components.execution.runner import stage_settings",
        f"graph = load_graph(Path({str(PROJECT)!r}))",
        "[stage_settings(graph, stage, dataset) for stage, takers in graph.chain.items() for dataset in takers]",
        f"print([name for name in {HEAVY} if name in sys.modules])",
    ]
    done = subprocess.run(
        [sys.executable, "-c", "\n".join(lines)], cwd=PROJECT, capture_output=True, text=True, check=True, timeout=120
    )
    assert done.stdout.strip() == "[]"
