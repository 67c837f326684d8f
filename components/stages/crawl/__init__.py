"""crawl: pages of the web become <image, alt-text> candidates (mission row C1).

The stage first completes the snapshot of the web that its parameters name, if need be: politely, breadth-first, into an
append-only store. Then it turns the snapshot into records without touching the network, the same bytes each time.
Here: the parameters and the order of things. Where candidates come from (a site, archives, the table of an existing set,
the posts of a hashtag): the packages ``sources`` and ``posts``; reading pages and pictures: ``urls``, ``html``, ``language``,
``image``; deciding: ``walk``, ``records``; asking and keeping answers: the package ``web``; the sample web: ``sample``.
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
    """Complete the snapshot if need be, then write its candidates.

    Raises:
        HearsightError: a parameter makes no sense, the sample's packages are missing, the network or the disk is gone,
            another crawl writes the snapshot, a complete snapshot lacks what the parameters ask for, or the takedown
            list cannot be read.
    """
    from components.stages.crawl.orphans import sweep
    from components.stages.crawl.records import write_records
    from components.stages.crawl.settings import sound
    from components.stages.crawl.snapshot_builder import (
        STORE,
        answers_of,
        append_records,
        complete_snapshot,
        held_by,
        home,
        taken_down,
    )
    from components.stages.crawl.sources import source_of
    from components.web.snapshot_chain import require_base
    from components.web.store import FetchStore

    params = sound(stage.params)
    folder = home(stage) / STORE / params.snapshot
    taken = taken_down(stage, params, folder)
    source = source_of(stage, params, home(stage), folder, taken)
    if not (folder / "COMPLETE").exists():
        complete_snapshot(stage, params, folder, source, taken)
    sweep(stage, params, folder, taken)
    with FetchStore(folder) as store:
        require_base(store.bases, params.base, folder)
        snapshot = store.verified_digest()
        answers = answers_of(params, store, taken)
        with held_by(params, folder):
            if store.bases:
                append_records(stage, params, answers, source)
            else:
                write_records(stage, answers, source.pages(answers, None))
        stage.note_parent("snapshot", source.digest(snapshot))
