"""The settings of ``crawl.source``: one class for each kind of source. Posts: ``components.stages.crawl.posts.settings``."""

from __future__ import annotations

from typing import Literal

from components.core.params import Settings


class Site(Settings):
    """Live pages, breadth-first from the seeds."""

    kind: Literal["site"] = "site"
    """Live pages."""
    seeds: list[str] = []
    """The pages to begin with; at least one."""
    hosts: list[str] = []
    """The hosts whose pages are crawled; images may come from anywhere."""
    depth: int = 8
    """Links followed from a seed. Ours."""
    max_pages: int = 10_000
    """Pages asked for in all. Ours; CC §3 has "billions of webpages"."""
    sitemaps: bool = True
    """Whether the pages that the hosts' sitemaps list are begun with, besides the seeds. Ours."""


class Files(Settings):
    """What every source that reads files shares."""

    inputs: list[str] = []
    """Files, globs, path lists (.paths, .paths.gz), s3:// addresses; relative to the project; at least one."""
    input_prefix: str = ""
    """For path lists: what their relative paths are put behind (s3://commoncrawl); empty: the list's bucket, or the project."""
    sample: int = 0
    """How many of the inputs to draw without replacement; 0: all. Ours."""
    sample_seed: int = 0
    """The seed of that draw. Ours."""


class Archives(Files):
    """WARC, WAT and WACZ files."""

    kind: Literal["archives"] = "archives"
    """Web archives."""


class Table(Files):
    """The files of an existing set of images and captions."""

    kind: Literal["table"] = "table"
    """The table of an existing set."""
    layout: str = ""
    """tsv, cc3m, cc3m_labels, cc12m, coco, karpathy, flickr8k, flickr30k, pracegover, pracegover_raw, stamps: docs/sources.md."""
    image_folder: str = ""
    """The folder of the images, relative to the project, where the layout names files; else empty."""
    language: str = ""
    """The language of the captions, ISO 639-1, where the layout's rows do not tell theirs; else empty."""
    languages: list[str] = []
    """The languages that are taken, where the layout's rows tell theirs (stamps); else empty."""
