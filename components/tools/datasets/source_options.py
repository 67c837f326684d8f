"""The kinds of source a dataset can be added with: what an option says, the crawl's settings, and the usual stages."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

from components.core.addresses import parse_output_name
from components.core.errors import HearsightError
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
