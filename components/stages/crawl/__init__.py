"""Crawl stage: collect <image, alt-text> candidates from the web (CC §3).

The stage completes the snapshot named by its parameters by a polite crawl into an append-only store. It then turns the snapshot
into CANDIDATE records without network access; equal snapshots give equal bytes. This module holds the parameters; sources of
candidates are in ``sources`` and ``posts``, page traversal in ``walk``, record building in ``records``.
"""

from __future__ import annotations

from typing import Literal

from components.stages.crawl.source_kinds import AnySource
from components.stages.crawl.source_settings import Site
from components.web.settings import FetchSettings, OpenWeb, Web


class Params(FetchSettings):
    """What is crawled and how."""

    snapshot: str = ""
    """The snapshot of the web the records are made of; a new name crawls anew. It has to be given."""
    base: str = ""
    """An earlier complete snapshot: its answers are asked for conditionally, its records keep their shards; '' for none."""
    fresh_for: float = 30.0
    """Days in which an image of the base whose host gave no validator is not asked for again; 0 asks always. Ours."""
    source: AnySource = Site()
    """Where candidates come from, by ``kind``: site, archives, table or posts."""
    web: Web = OpenWeb()
    """What is asked, by ``kind``: sample, folder or open."""
    tdmrep: bool = True
    """Whether each host is asked for /.well-known/tdmrep.json; such headers and meta tags always count. Ours."""
    consent: Literal["opt_out", "opt_in"] = "opt_out"
    """opt_out: what does not say no is taken; opt_in: what says yes. Ours; CC and PCV ask nobody."""
    consenting: list[str] = []
    """For opt_in, hosts whose owners said yes by other ways."""
    min_alt: int = 1
    """Characters an alt-text needs at least (1: any). Ours."""
    shard_size: int = 500
    """Records a shard. Ours."""
