"""Crawl stage: collect <image, alt-text> candidates from the web (CC §3).

The stage completes the snapshot named by its parameters if it is incomplete: a polite breadth-first crawl into an append-only
store. It then turns the snapshot into CANDIDATE records without network access; equal snapshots give equal bytes.
This module holds the parameters and the order of steps. Sources of candidates (a site, archives, the table of an existing set,
the posts of a hashtag) are in ``sources`` and ``posts``, page traversal in ``walk``, record building in ``records``. Fetching,
storing and parsing are in ``components.web``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

from components.stages.crawl.posts.settings import PostsSettings
from components.web.settings import FetchSettings

if TYPE_CHECKING:
    from components.execution.stage import Stage


class Params(FetchSettings):
    """What is crawled and how."""

    snapshot: str
    """The snapshot of the web the records are made of; a new name crawls anew."""
    base: str
    """An earlier complete snapshot: its answers are asked for conditionally, its records keep their shards; '' for none."""
    fresh_for: float
    """Days in which an image of the base whose host gave no validator is not asked for again; 0 asks always."""
    source: Literal["site", "archives", "table", "posts"]
    """site: live pages from the seeds; archives: WARC, WAT, WACZ; table: the file of an existing set; posts: a hashtag's."""
    inputs: list[str]
    """For archives and tables: files, globs, path lists (.paths, .paths.gz), s3:// addresses; relative to the project."""
    input_prefix: str
    """For path lists: what their relative paths are put behind (s3://commoncrawl); empty: the list's bucket, or the project."""
    sample: int
    """How many of the inputs to draw without replacement; 0: all."""
    sample_seed: int
    """The seed of that draw."""
    layout: str
    """For tables: a name of ``components.stages.crawl.sources.layouts.LAYOUTS``, e.g. tsv (docs/sources.md); else empty."""
    image_folder: str
    """For tables whose images lie in a folder: that folder, relative to the project; else empty. For layout tsv, empty means
    the table's own folder."""
    language: str
    """For tables: the language of the captions, ISO 639-1; else empty, since pages tell theirs."""
    web: Literal["sample", "folder", "open"]
    """sample: the fetched packages on loopback; folder: the hosts under web_root on loopback; open: the web."""
    web_root: str
    """For web: folder, the folder of <host>/ folders, relative to the project; else empty."""
    proxy: str
    """For web: open, the HTTP proxy to go through (it then has to refuse private addresses); empty: none."""
    seeds: list[str]
    """The pages to begin with."""
    hosts: list[str]
    """The hosts whose pages are crawled; images may come from anywhere."""
    depth: int
    """Links followed from a seed."""
    max_pages: int
    """Pages asked for in all; of posts, those of one timeline or of one account's listing."""
    sitemaps: bool
    """Whether the pages that the hosts' sitemaps list are begun with, besides the seeds."""
    tdmrep: bool
    """Whether each host is asked for /.well-known/tdmrep.json; such headers and meta tags always count."""
    consent: Literal["opt_out", "opt_in"]
    """opt_out: what does not say no is taken; opt_in: what says yes."""
    consenting: list[str]
    """For opt_in, hosts whose owners said yes by other ways."""
    min_alt: int
    """Characters an alt-text needs at least (1: any)."""
    shard_size: int
    """Records a shard."""
    posts: PostsSettings | None = None
    """For source: posts, where they come from; left out otherwise."""
    languages: list[str] | None = None
    """For tables whose rows tell their languages (stamps): those that are taken; left out otherwise."""


def run(stage: Stage) -> None:
    """Complete the snapshot if it is incomplete, then write its candidate records and ledger.

    Raises:
        HearsightError: a parameter is invalid, the sample packages are missing, the network or the disk is unavailable, another
            process writes the snapshot, a complete snapshot lacks an answer that the parameters need, or the takedown list
            cannot be read.
    """
    # Lazy: the command line imports this package for its parameters only.
    from components.stages.crawl.orphans import erase_orphans
    from components.stages.crawl.records import write_records
    from components.stages.crawl.settings import sound
    from components.stages.crawl.snapshot_builder import (
        STORE,
        append_records,
        apply_takedown_list,
        complete_snapshot,
        make_answers,
        missing_answers_as_errors,
        project_root,
    )
    from components.stages.crawl.sources import create_source
    from components.web.snapshot_chain import require_base
    from components.web.store import FetchStore

    params = sound(stage.params)
    folder = project_root(stage) / STORE / params.snapshot
    taken = apply_takedown_list(stage, params, folder)
    source = create_source(stage, params, project_root(stage), folder, taken)
    if not (folder / "COMPLETE").exists():
        complete_snapshot(stage, params, folder, source, taken)
    erase_orphans(stage, params, folder, taken)
    with FetchStore(folder) as store:
        require_base(store.bases, params.base, folder)
        snapshot = store.verified_digest()
        answers = make_answers(params, store, taken)
        with missing_answers_as_errors(params, folder):
            if store.bases:
                append_records(stage, params, answers, source)
            else:
                write_records(stage, answers, source.pages(answers, None))
        stage.note_parent("snapshot", source.digest(snapshot))
