"""Crawl stage: collect <image, alt-text> candidates from the web (CC §3).

The stage completes the snapshot named by its parameters by a polite crawl into an append-only store. It then turns the snapshot
into CANDIDATE records without network access; equal snapshots give equal bytes. This module holds the parameters; sources of
candidates are in ``sources`` and ``posts``, record building in ``records``.
"""

from __future__ import annotations

from typing import Literal

from components.stages.crawl.source_kinds import AnySource
from components.stages.crawl.source_settings import Site
from components.web.settings import FetchSettings, OpenWeb, Web


class Params(FetchSettings):
    """What is crawled and how."""

    snapshot: str = ""
    """Name of the snapshot that records are made from; a new name starts a new crawl. Required."""
    base: str = ""
    """Complete snapshot to build on: its URLs get conditional requests, its records keep their shards; '' for none."""
    fresh_for: float = 30.0
    """Days for which an image without ETag or Last-Modified is not requested again; 0: always requested. Ours."""
    source: AnySource = Site()
    """Where candidates come from, by ``kind``: site, archives, table or posts."""
    web: Web = OpenWeb()
    """Where requests are sent, by ``kind``: the sample web, a local folder, or the open web."""
    tdmrep: bool = True
    """Whether each host is asked for /.well-known/tdmrep.json; such headers and meta tags always count. Ours."""
    consent: Literal["opt_out", "opt_in"] = "opt_out"
    """opt_out: collect unless refused; opt_in: collect only with consent. Ours; CC and PCV check neither."""
    consenting: list[str] = []
    """For opt_in: hosts whose owners have given consent by other means."""
    min_alt: int = 1
    """Characters an alt-text needs at least (1: any). Ours."""
    shard_size: int = 500
    """Maximum records per shard. Ours."""
