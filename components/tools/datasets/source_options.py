"""The kinds of source a dataset can be added with: what an option says, the crawl's settings, and the usual stages.

A table of captions may be a test set: of the captioners (CC §5.1), of the dual encoders of an output (CSC §4), or of both.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import urlsplit

from components.core.addresses import MATRICES, parse_output_name
from components.core.errors import HearsightError
from components.core.graph import EVERY_CELL, Graph
from components.core.params import did_you_mean, place
from components.stages.crawl.sources.layouts import LAYOUTS

OPTIONS = ("--site URL", "--archive PATH", "--table LAYOUT:FILE", "--posts SERVER#TAG")
PAGES = ("crawl", "filter", "hypernymize", "dedup", "split", "extract_features")
"""Alt-texts of the web become captions before they are split."""
CAPTIONS = ("crawl", "split", "extract_features")
"""Captions of an existing dataset are taken as they are."""
FEATURES = {"extract_features": {"encoder": {"name": "efficientnet_lite0", "side": 256, "frozen": True}}}
"""Packaged weights; the default, CC's encoder, is trained with the captioner and keeps images instead of features."""
POSTS = ("crawl", "extract_descriptions", "dedup", "split", "extract_features")


@dataclass(frozen=True)
class NewDataset:
    """The settings and stages that are written for a new dataset."""

    crawl: dict[str, Any]
    """The settings of ``crawl`` that are no defaults."""
    stages: tuple[str, ...]
    """The stages it takes unless others are named, in order."""
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Stage → the settings that are no defaults."""
    inputs: dict[str, dict[str, str]] = field(default_factory=dict)
    """Stage that also reads outputs of other datasets → its inputs."""
    tests_captioners: bool = False
    """Whether the captioners are tested on it."""

    def needs(self, name: str) -> set[str]:
        """Return the stages of the dataset ``name`` that are read by other datasets, or together with outputs of others."""
        inputs = {value for named in self.inputs.values() for value in named.values()}
        own = {stage for dataset, stage in map(parse_output_name, inputs) if dataset == name}
        return own | ({"extract_features"} if self.tests_captioners else set())


def of_site(url: str) -> NewDataset:
    """A live site, from one page on."""
    return NewDataset({"source": {"kind": "site", "seeds": [url], "hosts": [_host(url, OPTIONS[0])]}}, PAGES, FEATURES)


def of_archive(path: str) -> NewDataset:
    """Web archives: a file, a pattern, or an ``s3://`` address."""
    return NewDataset({"source": {"kind": "archives", "inputs": [path]}}, PAGES, FEATURES)


def of_table(table: str, language: str, images: str) -> NewDataset:
    """A table of captions in one of the known layouts.

    Args:
        table: ``LAYOUT:FILE``.
        language: of the captions, ISO 639-1.
        images: the folder that holds the images, for layouts that name files; empty for that of the table.
    """
    layout, colon, path = table.partition(":")
    if not colon or not path or layout not in LAYOUTS:
        known = ", ".join(LAYOUTS)
        raise HearsightError(f"'{table}' names no table", where="--table", hint=f"write LAYOUT:FILE, LAYOUT one of {known}")
    source = {"kind": "table", "layout": layout, "inputs": [path], "language": language}
    return NewDataset(
        {"source": source | ({"image_folder": images} if images else {})}, CAPTIONS, {"split": {"by": "text"}} | FEATURES
    )


def of_posts(posts: str, name: str) -> NewDataset:
    """Return the dataset of a hashtag on a Mastodon-compatible server; later crawls keep each owner's posts in one split."""
    server, mark, tag = posts.partition("#")
    if not mark or not re.fullmatch(r"\w+", tag):
        raise HearsightError(
            f"'{posts}' names no hashtag", where="--posts", hint="write SERVER#TAG: https://example.social#pracegover"
        )
    _host(server, OPTIONS[3])
    source = {"kind": "posts", "provider": "mastodon", "server": server, "tag": tag}
    return NewDataset({"source": source}, POSTS, {"split": {"by": "owner", "sides": name}} | FEATURES)


def _host(url: str, option: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise HearsightError(f"'{url}' is no address", where=option.split()[0], hint="write it with http:// or https://")
    return parts.netloc


CAPTIONERS = next(iter(MATRICES))
MODELS = ("pretrain_retrieval", "finetune_retrieval")
"""Stages whose outputs are dual encoders."""
LISTED = ("karpathy",)
"""Layouts whose file itself lists the test images."""


def make_test_set(
    name: str, table: str, new: NewDataset, graph: Graph, *, captioners: bool, model: str = "", listed: str = ""
) -> NewDataset:
    """Return the test set of a table: its listed images are the test split, and all others are left out.

    Args:
        name: of the dataset.
        table: ``LAYOUT:FILE``.
        new: the dataset of that table.
        captioners: whether the captioners are tested on it.
        model: ``<dataset>/<stage>`` whose dual encoders are tested on it; empty for none.
        listed: a file that ``split.lists`` reads; empty: the table itself if it has a split, otherwise all images.

    Raises:
        HearsightError: there are no captioners, no such dual encoders, or the two read features of different encoders.
    """
    layout, _, path = table.partition(":")
    split = {"by": "published", "lists": {"test": listed or (path if layout in LISTED else "*")}}
    settings: dict[str, dict[str, Any]] = {"split": split, "extract_features": {}}
    if captioners:
        settings["extract_features"]["encoder"] = _encoder_of_captioners(graph)
    if not model:
        return replace(new, settings=settings, tests_captioners=captioners)
    dataset, stage = _model(graph, model)
    images, _ = parse_output_name(graph.chain[stage][dataset]["images"])
    block = (graph.params.get(images) or {}).get("extract_features") or {}
    if captioners and block.get("encoder") != settings["extract_features"]["encoder"]:
        raise HearsightError(
            f"has another encoder than the captioners' ({images}.extract_features)",
            where="--retrieval",
            hint="add two test sets",
        )
    # A captioner reads the cells of the grid too, which a dual encoder does without.
    kept = ("encoder", "centre") if captioners else ("encoder", "centre", "grid")
    settings["extract_features"] = {key: block[key] for key in kept if key in block}
    settings["evaluate_retrieval"] = (graph.params.get(dataset) or {}).get("evaluate_retrieval") or {}
    inputs = {"input": model, "speech": f"{name}/synthesize", "images": f"{name}/extract_features"}
    stages = ("crawl", "split", "synthesize", "extract_features")
    return replace(new, stages=stages, settings=settings, inputs={"evaluate_retrieval": inputs}, tests_captioners=captioners)


def captioner_evaluations(graph: Graph) -> list[str]:
    """Return the datasets of ``evaluate_captioners`` that test every captioner.

    Raises:
        HearsightError: there is none.
    """
    chain = (graph.params.get("chain") or {}).get("evaluate_captioners") or {}
    if names := [name for name, inputs in chain.items() if (inputs or {}).get(CAPTIONERS) == EVERY_CELL]:
        return names
    where, hint = (
        f"{graph.root / 'params.yaml'}: chain.evaluate_captioners",
        f"add '{CAPTIONERS}: {{{CAPTIONERS}: {EVERY_CELL}}}'",
    )
    raise HearsightError("tests no captioner", where=where, hint=hint)


def _encoder_of_captioners(graph: Graph) -> dict[str, Any]:
    """Return the encoder settings that differ from the defaults, of the first training set; all sets have the same."""
    sets = (graph.params.get(CAPTIONERS) or {}).get("sets")
    if not sets:
        raise HearsightError("names no training set", where=place(graph.root, CAPTIONERS, "sets"), hint="train a captioner first")
    encoder: dict[str, Any] = ((graph.params.get(sets[0]) or {}).get("extract_features") or {}).get("encoder") or {}
    return encoder


def _model(graph: Graph, model: str) -> tuple[str, str]:
    known = [f"{dataset}/{stage}" for stage in MODELS for dataset in graph.chain.get(stage, {})]
    if model not in known:
        raise HearsightError(f"'{model}' holds no dual encoders", where="--retrieval", hint=did_you_mean(model, known))
    return parse_output_name(model)
