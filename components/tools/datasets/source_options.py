"""The kinds of source a dataset can be added with: what an option says, the crawl's settings, and the usual stages."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from components.core.addresses import parse_output_name
from components.core.errors import HearsightError
from components.stages.crawl.sources.layouts import LAYOUTS

OPTIONS = ("--site URL", "--archive PATH", "--table LAYOUT:FILE", "--posts SERVER#TAG")
PAGE_LIMIT = 100
"""Pages of a site that are asked for at first: with the default delay a few minutes."""
ORDINARY: dict[str, dict[str, Any]] = {
    "filter": {"formats": ["JPEG", "PNG", "WEBP"], "sides_over": 99, "max_aspect_ratio": 3.0},
    "hypernymize": {"min_concept_count": 1},
    "split": {"by": "group", "validation": 0.15, "test": 0.15},
}
"""Stage → settings that keep the images of an ordinary site: the papers' suit millions of pages and would leave next to none."""
PAGES = ("crawl", "filter", "hypernymize", "dedup", "split", "extract_features")
"""Alt-texts of the web become captions before they are split."""
CAPTIONS = ("crawl", "split", "extract_features")
"""Captions of an existing dataset are taken as they are."""
FEATURES = {"extract_features": {"encoder": {"name": "efficientnet_lite0", "side": 256, "frozen": True}}}
"""Packaged weights; the default, CC's encoder, is trained with the captioner and keeps images instead of features."""
POSTS = ("crawl", "extract_descriptions", "dedup", "split", "extract_features")
COMMENTS = {
    "crawl.source.max_pages": "for a first look; the default is 10000",
    "filter.formats": "CC section 3: JPEG",
    "filter.sides_over": "px; CC section 3: 400",
    "filter.max_aspect_ratio": "CC section 3: 2",
    "hypernymize.min_concept_count": "captions with a concept; CC section 3: over 100",
    "split.validation": "CC table 3: .0084",
    "split.test": "CC table 3: .0067",
}
"""Setting of a dataset of pages → its comment in the file: the papers' value."""


@dataclass(frozen=True)
class NewDataset:
    """The settings and stages that are written for a new dataset."""

    crawl: dict[str, Any]
    """The settings of ``crawl`` that are no defaults."""
    stages: tuple[str, ...]
    """The stages it takes unless others are named, in order."""
    settings: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Stage → the settings that are no defaults."""
    comments: Mapping[str, str] = field(default_factory=dict)
    """Setting (``filter.sides_over``) → its comment in the file."""
    inputs: dict[str, dict[str, str]] = field(default_factory=dict)
    """Stage that also reads outputs of other datasets → its inputs."""
    joins: str = ""
    """The list of ``datasets/captioners.yaml`` that it joins: ``sets`` trains captioners on it, ``tests`` only tests them."""

    def needs(self, name: str) -> set[str]:
        """Return the stages of the dataset ``name`` that are read by other datasets, or together with outputs of others."""
        inputs = {value for named in self.inputs.values() for value in named.values()}
        own = {stage for dataset, stage in map(parse_output_name, inputs) if dataset == name}
        return own | ({"extract_features"} if self.joins else set())


def of_site(url: str) -> NewDataset:
    """A live site, from one page on."""
    return _of_pages({"kind": "site", "seeds": [url], "hosts": [_host(url, OPTIONS[0])], "max_pages": PAGE_LIMIT})


def of_archive(path: str) -> NewDataset:
    """Web archives: a file, a pattern, or an ``s3://`` address."""
    return _of_pages({"kind": "archives", "inputs": [path]})


def _of_pages(source: dict[str, Any]) -> NewDataset:
    return NewDataset({"source": source}, PAGES, ORDINARY | FEATURES, COMMENTS)


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
    """Return the dataset of a hashtag: on a Mastodon-compatible server, or of a file of exported posts.

    Later crawls keep each owner's posts in one split.
    """
    origin, mark, tag = posts.rpartition("#")
    if not mark or not origin or not re.fullmatch(r"\w+", tag):
        hint = "write SERVER#TAG or FILE#TAG: https://example.social#pracegover, posts.jsonl#pracegover"
        raise HearsightError(f"'{posts}' names no hashtag", where="--posts", hint=hint)
    source: dict[str, Any] = {"kind": "posts", "provider": "jsonl", "inputs": [origin], "tag": tag}
    if "://" in origin:
        _host(origin, OPTIONS[3])
        source = {"kind": "posts", "provider": "mastodon", "server": origin, "tag": tag}
    return NewDataset({"source": source}, POSTS, {"split": {"by": "owner", "sides": name}} | FEATURES)


def _host(url: str, option: str) -> str:
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise HearsightError(f"'{url}' is no address", where=option.split()[0], hint="write it with http:// or https://")
    return parts.netloc
