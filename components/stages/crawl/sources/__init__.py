"""Sources of candidates: a live site, web archives, the table of an existing set, or a hashtag's posts (``crawl.source``).

Each source is one small class that yields source pages with their images in a fixed order. All later steps (checking images,
fetching them, writing records) are shared.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from components.execution.stage import Stage
from components.stages.crawl.posts.exported import ExportedSource
from components.stages.crawl.sources.archives import ArchivesSource
from components.stages.crawl.sources.found import Source
from components.stages.crawl.sources.posts import PostsSource
from components.stages.crawl.sources.site import SiteSource
from components.stages.crawl.sources.table import TableSource
from components.web.takedown_list import Takedown

__all__ = ["Source", "create_source"]


def create_source(stage: Stage, params: Any, home: Path, snapshot: Path, taken: Takedown) -> Source:
    """Create the source that ``crawl.source`` names, over the snapshot folder, without what is taken down."""
    if params.source.kind == "archives":
        return ArchivesSource(stage, params, home, snapshot, taken)
    if params.source.kind == "table":
        return TableSource(stage, params, home, snapshot, taken)
    if params.source.kind == "posts" and params.source.provider == "jsonl":
        return ExportedSource(stage, params, home, snapshot, taken)
    if params.source.kind == "posts":
        return PostsSource(stage, params, taken)
    return SiteSource(params)
