"""The chain of the profile flickr8k runs from import to both evaluations on twenty drawn images, with small settings."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml

from components.cli.stages import check_draft
from components.core.graph import load_graph
from components.core.stage_output import StageOutput
from components.execution import runner
from components.tools.profiles.profile import add_profile, read_profile
from tests.support import InlineEngine
from tests.support.datasets import project
from tests.support.pipeline.drawings import captions, draw

SPLITS = {"train": 12, "dev": 4, "test": 4}
VOICES = ["nanotts-en-us", "nanotts-en-gb"]
"""Of installed packages; the profile's others come with `hearsight data --voices`."""
STAGES = (
    "crawl", "split", "extract_features", "synthesize", "train_captioner", "evaluate_captioners", "pretrain_retrieval",
    "finetune_retrieval", "evaluate_retrieval",
)  # fmt: skip


def flickr8k(folder: Path) -> Path:
    """Write the published files over drawn images."""
    names = [f"{number}.jpg" for number in range(sum(SPLITS.values()))]
    draw(folder / "images", names)
    lines = [f"{name}#{at}\t{text}\n" for number, name in enumerate(names) for at, text in enumerate(captions(number, 5))]
    (folder / "Flickr8k.token.txt").write_text("".join(lines))
    left = iter(names)
    for split, count in SPLITS.items():
        (folder / f"Flickr_8k.{split}Images.txt").write_text("".join(f"{next(left)}\n" for _ in range(count)))
    return folder


def shrink(root: Path) -> None:
    """Keep two networks, one voice without fitting and one with, and one epoch of everything."""
    captioners = {"networks": ["t2t1x1", "rnn8x8"], "evaluate_captioners": {"beam": 2, "resamples": 20}}
    edit(root / "params.yaml", lambda params: params | {"engine": {"kind": "local", "workers": 1}})
    edit(root / "datasets" / "captioners.yaml", lambda settings: settings | captioners)
    for dataset in ("flickr8k", "flickr8k_without_gb", "flickr8k_gb"):
        edit(root / "datasets" / f"{dataset}.yaml", partial(shrink_dataset, dataset))


def shrink_dataset(dataset: str, settings: dict[str, Any]) -> dict[str, Any]:
    """Return a dataset's settings with one row of one seed, and little networks."""
    if dataset == "flickr8k":
        settings["synthesize"]["voices"] = VOICES
        settings["train_captioner"]["training"] = {"seeds": [0], "min_count": 1}
        for network in settings["train_captioner"]["networks"].values():
            network |= {"width": 16, "epochs": 1, "batch": 10, "self_critical": {"epochs": 1, "batch": 4}}
    small = {"optimisation": {"epochs": 1}, "clips": {"frames": 100}}
    if dataset == "flickr8k_gb":
        settings["finetune_retrieval"] |= {"rows": ["both-100"], "seeds": [0], "model": small}
    else:
        voices = VOICES if dataset == "flickr8k" else VOICES[:1]
        settings["pretrain_retrieval"] |= {"rows": ["mms-48"], "seeds": [0], "voices": voices, "model": small}
    return settings


def edit(path: Path, change: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Rewrite a file of settings."""
    path.write_text(yaml.safe_dump(change(yaml.safe_load(path.read_text())), sort_keys=False))


@pytest.mark.slow
def test_the_chain_of_flickr8k_runs_to_its_scores(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEARSIGHT_TRACKING", "off")
    root = project(tmp_path)
    add_profile(root, read_profile("flickr8k"), flickr8k(root / "given"))
    shrink(root)
    monkeypatch.setattr(runner, "make_engine", lambda *_: InlineEngine())
    graph = load_graph(root)
    wanted = {"flickr8k", "flickr8k_spoken", "flickr8k_without_gb", "flickr8k_gb", "captioners", *graph.cells}
    for stage in STAGES:
        for dataset in graph.chain[stage]:
            if dataset in wanted:
                runner.run_stage(root, stage, dataset, check=check_draft)
    splits = StageOutput(root / "data" / "flickr8k" / "split").table(["split"])["split"].to_pylist()
    assert {name: splits.count(name) for name in ("train", "validation", "test")} == {"train": 60, "validation": 20, "test": 20}
    scores = json.loads((root / "data" / "captioners" / "evaluate_captioners" / "scores.json").read_text())["flickr8k"]
    assert set(scores["cells"]) == {"flickr8k-t2t1x1", "flickr8k-rnn8x8"} and scores["items"] == 4
    ranks = StageOutput(root / "data" / "flickr8k_gb" / "evaluate_retrieval").table(["key", "direction"]).to_pylist()
    voices = {
        row["key"]: row["voice"]
        for row in StageOutput(root / "data" / "flickr8k" / "synthesize").table(["key", "voice"]).to_pylist()
    }
    assert {voices[row["key"]] for row in ranks if row["direction"] == "speech_to_image"} == {VOICES[1]}
