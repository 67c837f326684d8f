"""Find the inputs of a release: the finished split and the outputs it was made from, checked by their digests."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import pyarrow.compute as pc

from components.core.addresses import lineage_path, stage_address
from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.manifest import NAME as MANIFEST
from components.core.stage_output import StageOutput
from components.reporting.pages import render_text
from components.tools.release.questions import DATA
from components.web.canonical import is_folder_image


@dataclass(frozen=True)
class Options:
    """The choices of whoever releases a dataset."""

    licence: str = ""
    """The captions'; without one, the release says that none is stated."""
    speech: bool = True
    """Whether finished speech of the captions is released."""
    recordings_licence: str = ""
    """Under which the speakers agreed to publish their recordings; without one, recordings of people are left out."""
    formats: Sequence[str] = ()
    """Of :data:`formats.FORMATS`."""
    images_licence: str = ""
    """Under which images of captions may be passed on; without one, they are left out. Posts are released with theirs."""
    summary: bool = False
    """Whether ``summary.*`` is written, a summary of training data."""
    subsets: Mapping[str, int] = field(default_factory=dict)
    """Of posts: subset → number of collected posts drawn for it."""
    key_file: Path | None = None
    """Of posts: the file with the key for hashing accounts; without one, the key is in the environment."""
    mask_mentions: bool = False
    """Of posts: mask all accounts that captions mention, not only those of the dataset."""


BAD, UNRATED = "rated_bad", "unrated"
"""Rules of the split's ledger."""


STAGES = ("crawl", "filter", "hypernymize", "extract_descriptions", "dedup", "split")
"""Stages that a release descends from, in order; all but the split may be missing."""
POST_STAGES = ("crawl", "extract_descriptions", "dedup", "split")
"""The stages that posts need; the crawl holds the images."""
DESCRIPTION_STAGE = "extract_descriptions"
"""The stage that makes a dataset one of posts."""
SPEECH_STAGES = {"synthesize": "synthetic", "import_recordings": "recorded"}
"""Stage → the last part of the name of its corpus in a release."""


@dataclass(frozen=True)
class ReleaseInputs:
    """The outputs that a release is made from."""

    dataset: str
    stages: dict[str, StageOutput]
    """Stage → its output, in the order of the chain."""
    lineages: dict[str, dict[str, Any]]
    """Stage → its lineage."""
    cleaning: str = ""
    """How raters cleaned the test split; empty where they did not."""
    lacks_crawl: bool = False
    """Whether the split's crawl is missing or was replaced by another; the release then says nothing about a crawl."""

    @property
    def settings(self) -> dict[str, dict[str, Any]]:
        """Stage → its parameters."""
        return {stage: lineage["params"] for stage, lineage in self.lineages.items()}

    @cached_property
    def crawl_settings(self) -> dict[str, Any]:
        """The crawl's parameters; only its source where it has no image of the web, since it read files and fetched nothing."""
        shards = self.stages["crawl"].shards if "crawl" in self.stages else ()
        images = (url for shard in shards for url in shard.read(["image_url"])["image_url"].to_pylist())
        crawl = self.settings.get("crawl", {})
        return {name: value for name, value in crawl.items() if name == "source"} if all(map(is_folder_image, images)) else crawl

    @property
    def split(self) -> StageOutput:
        """The split's output."""
        return self.stages["split"]

    @property
    def posts(self) -> bool:
        """Whether it is a dataset of posts."""
        return DESCRIPTION_STAGE in self.stages

    @property
    def published_settings(self) -> dict[str, dict[str, Any]]:
        """The settings of the stages as a release has them: without the crawl's, which may name accounts and servers, and of
        paths only the files' names."""
        return _without_folders({f"{self.dataset}/{stage}": own for stage, own in self.settings.items() if stage != "crawl"})


def find_speech(root: Path, inputs: ReleaseInputs) -> dict[str, StageOutput]:
    """Return corpus name (``english-synthetic``) → each finished speech that reads the split, whatever dataset it is of.

    Raises:
        HearsightError: one did not pass its check, or was made from another split.
    """
    graph = load_graph(root)
    found: dict[str, StageOutput] = {}
    for stage, kind in SPEECH_STAGES.items():
        for dataset, sources in graph.chain.get(stage, {}).items():
            output = StageOutput(graph.output(stage, dataset))
            if sources.get("input") != inputs.split.name or not (output.path / MANIFEST).is_file():
                continue
            output.require_unchanged()
            parents = read_lineage(output)["parents"]
            if inputs.split.digest not in [each.get("manifest_sha256") for each in parents if each["name"] == "input"]:
                hint = f"run `dvc repro {stage_address(dataset, stage)}`, or give --no-speech"
                raise HearsightError(f"is not of the present {inputs.split.name}", where=output.path, hint=hint)
            found[f"{dataset}-{kind}"] = output
    return found


def speech_settings(output: StageOutput) -> dict[str, Any]:
    """Return the published settings of an output of :func:`find_speech`: without the folder of recordings."""
    return _without_folders({name: value for name, value in read_lineage(output)["params"].items() if name != "folder"})


def _without_folders(value: Any) -> Any:
    """Return settings with absolute paths replaced by the names of their files."""
    if isinstance(value, Mapping):
        return {name: _without_folders(part) for name, part in value.items()}
    if isinstance(value, list):
        return [_without_folders(part) for part in value]
    return Path(value).name if isinstance(value, str) and value.startswith("/") else value


def find_inputs(root: Path, dataset: str, needs_crawl: bool = False) -> ReleaseInputs:
    """Return the finished split of a dataset and the outputs before it, along their lineages.

    Args:
        needs_crawl: of captions; posts always need it.

    Raises:
        HearsightError: an output is not finished, did not pass its check, or is not the one that the next was made from; a stage
            is missing that posts need.
    """
    graph = load_graph(root)
    graph.require("split", dataset)
    output = StageOutput(graph.output("split", dataset))
    output.require_unchanged()
    outputs: dict[str, StageOutput] = {}
    lineages: dict[str, dict[str, Any]] = {}
    lacks_crawl = False
    while output.path.name in STAGES:
        lineage = lineages[output.path.name] = read_lineage(output)
        outputs[output.path.name] = output
        parent = next((parent for parent in lineage["parents"] if parent["name"] == "input"), None)
        if parent is None:
            break
        earlier = StageOutput(root / "data" / parent["output"])
        if earlier.path.name in STAGES and not _is_same(earlier, parent["manifest_sha256"]):
            lacks_crawl = earlier.path.name == "crawl" and not needs_crawl and DESCRIPTION_STAGE not in outputs
            if lacks_crawl:
                break
            hint = f"run `dvc repro split@{dataset}`"
            raise HearsightError(f"is not the output that {output.name} was made from", where=earlier.path, hint=hint)
        output = earlier
    cleaning = _describe_cleaning(root, outputs["split"], lineages["split"])
    inputs = ReleaseInputs(dataset, dict(reversed(outputs.items())), dict(reversed(lineages.items())), cleaning, lacks_crawl)
    if inputs.posts and (missing := [name for name in POST_STAGES if name not in outputs]):
        hint = "release a dataset whose chain takes it"
        raise HearsightError(f"has no {missing[0]} stage before it", where=inputs.split.path, hint=hint)
    return inputs


def _describe_cleaning(root: Path, split: StageOutput, lineage: Mapping[str, Any]) -> str:
    """Return how raters cleaned the split; raises HearsightError when the ratings are not those that it read."""
    min_good = lineage["params"].get("min_good")
    if not min_good:
        return ""
    parent = next(parent for parent in lineage["parents"] if parent["name"] == "ratings")
    ratings = StageOutput(root / "data" / parent["output"])
    if ratings.digest != parent["manifest_sha256"]:
        hint = f"run `dvc repro {stage_address(split.path.parent.name, 'split')}`"
        raise HearsightError(f"is not the output that {split.name} was cleaned with", where=ratings.path, hint=hint)
    table, votes = split.table(["key", "split"]), ratings.table(["records", "ratings"])
    test = table.filter(pc.equal(table["split"], "test"))["key"]
    own = votes.filter(pc.greater(pc.list_value_length(votes["records"]), 0))
    kept = pc.sum(pc.is_in(test, value_set=pc.list_flatten(own["records"]))).as_py() or 0
    dropped = split.manifest.counts.get("record", {}).get("dropped", {})
    scores = json.loads(ratings.file("scores.json").read_bytes())["ratings"]
    return cleaning_text(
        min_good=min_good,
        asked=sorted(pc.unique(own["ratings"]).to_pylist()),
        raters=scores["raters"],
        kept=kept,
        refused=dropped.get(BAD, 0),
        unrated=len(test) - kept,
        left_out=dropped.get(UNRATED, 0),
        alpha=scores["alpha"].get("dataset", {}).get("mean"),
    )


def cleaning_text(**values: Any) -> str:
    """Return the cleaning of a test split in sentences; ``data/cleaning.md`` says what the values are."""
    return " ".join(render_text((DATA / "cleaning.md").read_text(encoding="utf-8"), values).split())


def _is_same(output: StageOutput, digest: str) -> bool:
    try:
        return output.digest == digest
    except HearsightError:
        return False


def read_lineage(stage_output: StageOutput) -> dict[str, Any]:
    """Return the lineage of a finished output; raises HearsightError when there is none."""
    _ = stage_output.manifest  # raises for an unfinished output
    path = lineage_path(stage_output.path)
    try:
        content = json.loads(path.read_bytes())
        assert isinstance(content["params"], dict)
        assert all(isinstance(parent, dict) for parent in content["parents"])
    except (OSError, ValueError, KeyError, TypeError, AssertionError):
        stage, dataset = stage_output.path.name, stage_output.path.parent.name
        raise HearsightError(
            "does not name the outputs it was made from", where=path, hint=f"run `dvc repro --force -s {stage}@{dataset}`"
        ) from None
    return dict(content)
