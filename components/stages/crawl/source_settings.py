"""The settings of ``crawl.source``: one class for each kind of source. Posts: ``components.stages.crawl.posts.settings``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar, Literal

from components.core.errors import HearsightError
from components.core.params import Settings
from components.stages.crawl.sources.layouts import layout_named

Wrong = Callable[[str, str, str], HearsightError]
"""Creates the error about a setting of crawl: its name, what is wrong, and how to correct it."""


class SourceSettings(Settings):
    """What every kind of source states about itself; each has a setting ``kind`` with one value."""

    takes_base: ClassVar[bool] = False
    """Whether it is crawled again, on top of the snapshot ``crawl.base``."""
    holds_times: ClassVar[bool] = False
    """Whether its records hold times of requests, which the digests of snapshots do not cover."""

    @property
    def is_local(self) -> bool:
        """Whether no web server is asked, for pages or images."""
        return False

    def check(self, params: Any, wrong: Wrong) -> None:
        """Check what types alone do not; raises what ``wrong`` creates.

        Args:
            params: all parameters of crawl.
            wrong: creates the error.
        """


class Site(SourceSettings):
    """Live pages, breadth-first from the seeds."""

    takes_base: ClassVar[bool] = True

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

    def check(self, params: Any, wrong: Wrong) -> None:
        """Require a seed."""
        if not self.seeds:
            raise wrong("source.seeds", "is empty", "name at least one page")


class Files(SourceSettings):
    """What every source that reads files shares."""

    inputs: list[str] = []
    """Files, globs, path lists (.paths, .paths.gz), s3:// addresses; relative to the project; at least one."""
    input_prefix: str = ""
    """For path lists: what their relative paths are put behind (s3://commoncrawl); empty: the list's bucket, or the project."""
    sample: int = 0
    """How many of the inputs to draw without replacement; 0: all. Ours."""
    sample_seed: int = 0
    """The seed of that draw. Ours."""

    def check(self, params: Any, wrong: Wrong) -> None:
        """Require an input."""
        if not self.inputs:
            raise wrong("source.inputs", "is empty", "name at least one file")


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

    @property
    def is_local(self) -> bool:
        """Whether the images are files."""
        return bool(self.image_folder) or layout_named(self.layout).folder_optional

    def check(self, params: Any, wrong: Wrong) -> None:
        """Require an input, and what the layout needs."""
        super().check(params, wrong)
        layout = layout_named(self.layout)
        if layout.has_languages != bool(self.languages):
            what = "is empty, and its rows tell many" if layout.has_languages else "is set, and its rows tell none"
            raise wrong("source.languages", f"{what} (layout: {self.layout})", "name those to take, or leave it out")
        if layout.has_languages:
            if self.language:
                raise wrong("source.language", "is set, and source.languages as well", "leave it out")
        elif len(self.language) != 2 or not self.language.isalpha() or not self.language.isascii():
            raise wrong(
                "source.language", f"'{self.language}' is no language", "give the captions' language as ISO 639-1, e.g. en"
            )
        if self.image_folder and not layout.has_files:
            raise wrong("source.image_folder", f"is set, but layout: {self.layout} names images by address", "empty it")
        if not self.image_folder and not layout.has_urls and not layout.folder_optional:
            what = f"is empty, and layout: {self.layout} names images by file"
            raise wrong("source.image_folder", what, "name the folder of the images")
