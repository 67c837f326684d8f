"""Pictures that nothing but a taken-down page, or a taken-down owner's row, showed: erased from the snapshot with it.

Their own addresses are on no list (a site's pictures often lie at another host). They are found by reading the snapshot as a run
reads it: whatever is followed then belongs to a page or row that stays, and stays too. Not in scope: listed addresses
themselves (``web.erase``).
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.digests import digest_value
from components.execution.stage import Stage
from components.stages.crawl.shard_plan import Layout
from components.stages.crawl.snapshot_builder import home, replay
from components.stages.crawl.sources import source_of
from components.stages.crawl.sources.taken import address_hash
from components.web.erase import erase
from components.web.snapshot_chain import read_chain, read_complete
from components.web.store import BaseStore, FetchStore
from components.web.takedown_journal import read_removals, read_swept, write_swept
from components.web.takedown_list import Takedown
from components.web.urls import make_absolute

if TYPE_CHECKING:
    from components.stages.crawl import Params


def sweep(stage: Stage, params: Params, folder: Path, taken: Takedown) -> None:
    """Erase them from the complete snapshot at ``folder`` and from those it stands on; once for a list and a snapshot.

    Raises:
        HearsightError: as :func:`components.stages.crawl.snapshot_builder.held_by` and :func:`components.web.erase.erase`.
    """
    if not taken:
        return
    snapshots, kind = read_chain(folder), FetchStore
    # From the newest down: what a later snapshot has given up, the one below it no longer has to hold for it.
    while snapshots:
        _sweep_one(stage, params, snapshots, taken, kind)
        snapshots, kind = snapshots[:-1], BaseStore


def _sweep_one(stage: Stage, params: Params, snapshots: list[Path], taken: Takedown, kind: type[FetchStore]) -> None:
    folder = snapshots[-1]
    if read_swept(folder) == _state(folder, taken):
        return
    shown = {digest for one in snapshots for note in read_removals(one) for digest in note["images"]}
    gone: set[str] = set()
    if shown or params.source.kind != "site":
        quiet = Layout.of(stage, counted=False)
        with kind(folder) as store:
            followed, others = replay(params, store, source_of(quiet, params, home(stage), folder, taken), taken)
            gone = _only_shown(store, shown | others, followed)
    if gone:
        erase(folder, taken, gone)
    write_swept(folder, _state(folder, taken))


def _state(folder: Path, taken: Takedown) -> str:
    return digest_value([taken.plain(), read_complete(folder)["digest"]])


def _only_shown(store: FetchStore, shown: Collection[str], followed: Collection[str]) -> set[str]:
    """The answers for addresses of those hashes that nobody followed, and what they alone lead to."""
    ahead = [entry.url for entry in store if address_hash(entry.url) in shown and entry.url not in followed]
    gone: set[str] = set()
    while ahead:
        url = ahead.pop()
        entry = store.get(url)
        if url in gone or url in followed or url not in store or entry is None:
            continue
        gone.add(url)
        if entry.location and (target := make_absolute(entry.location, url)):
            ahead.append(target)
    return gone
