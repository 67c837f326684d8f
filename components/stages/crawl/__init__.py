"""crawl: pages of the web become <image, alt-text> candidates (mission row C1).

The stage first completes the snapshot of the web that its parameters name, if need be: politely, breadth-first, into an
append-only store. Then it turns the snapshot into records without touching the network, the same bytes each time.
Here: the parameters and the order of things. Where candidates come from (a site, archives, the table of an existing set,
the posts of a hashtag): the packages ``sources`` and ``posts``; reading pages and pictures: ``urls``, ``html``, ``language``,
``image``; deciding: ``walk``, ``records``; asking and keeping answers: the package ``web``; the sample web: ``sample``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import Field

from components.stages.crawl.posts.settings import Posts
from components.stages.crawl.source_settings import Archives, Site, Table
from components.web.settings import FetchSettings, OpenWeb, Web

if TYPE_CHECKING:
    from components.execution.stage import Stage

Source = Annotated[Site | Archives | Table | Posts, Field(discriminator="kind")]


class Params(FetchSettings):
    """What is crawled and how."""

    snapshot: str = ""
    """The snapshot of the web the records are made of; a new name crawls anew. It has to be given."""
    base: str = ""
    """An earlier complete snapshot: its answers are asked for conditionally, its records keep their shards; '' for none."""
    fresh_for: float = 30.0
    """Days in which an image of the base whose host gave no validator is not asked for again; 0 asks always. Ours."""
    source: Source = Site()
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
