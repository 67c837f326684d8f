"""Erasure of images that only a taken-down page, or only rows of a taken-down owner, referred to.

The addresses of such images are on no takedown list (a site's images often lie on another host). They are found by replaying
the snapshot as a run reads it: an address that the replay follows belongs to a remaining page or row and stays. Out of scope:
erasing the listed addresses themselves (``components.web.erase``).
"""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from components.core.digests import digest_value
from components.execution.stage import Stage
from components.stages.crawl.shard_plan import CollectingStage
from components.stages.crawl.snapshot_builder import project_root, replay
from components.stages.crawl.source_kinds import create_source
from components.stages.crawl.source_settings import Site
from components.stages.crawl.sources.taken import hash_address
from components.web.erase import erase
from components.web.snapshot_chain import read_chain, read_complete
from components.web.store import BaseStore, FetchStore
from components.web.takedown_journal import read_removals, read_swept, write_swept
from components.web.takedown_list import Takedown
from components.web.urls import make_absolute

if TYPE_CHECKING:
    from components.stages.crawl import Params


def erase_orphans(stage: Stage, params: Params, folder: Path, taken: Takedown) -> None:
    """Erase orphaned images from the complete snapshot at ``folder`` and from its bases, once per list and snapshot.

    Raises:
        HearsightError: as :func:`components.stages.crawl.snapshot_builder.missing_answers_as_errors` and
            :func:`components.web.erase.erase`.
    """
    if not taken:
        return
    snapshots, kind = read_chain(folder), FetchStore
    # Newest first: a base must keep an answer while a later snapshot still refers to it.
    while snapshots:
        _erase_orphans_of(stage, params, snapshots, taken, kind)
        snapshots, kind = snapshots[:-1], BaseStore


def _erase_orphans_of(stage: Stage, params: Params, snapshots: list[Path], taken: Takedown, kind: type[FetchStore]) -> None:
    folder = snapshots[-1]
    if read_swept(folder) == _state(folder, taken):
        return
    orphaned_hashes = {digest for snapshot in snapshots for removal in read_removals(snapshot) for digest in removal["images"]}
    orphans: set[str] = set()
    if orphaned_hashes or not isinstance(params.source, Site):
        uncounted_stage = CollectingStage.of(stage, counted=False)
        with kind(folder) as store:
            followed, taken_down_hashes = replay(
                params, store, create_source(uncounted_stage, params, project_root(stage), folder, taken), taken
            )
            orphans = _find_orphans(store, orphaned_hashes | taken_down_hashes, followed)
    if orphans:
        erase(folder, taken, orphans)
    write_swept(folder, _state(folder, taken))


def _state(folder: Path, taken: Takedown) -> str:
    return digest_value([taken.plain(), read_complete(folder)["digest"]])


def _find_orphans(store: FetchStore, orphaned_hashes: Collection[str], followed: Collection[str]) -> set[str]:
    """Return the stored answers that nothing followed and whose address hash is given, with their redirect targets."""
    pending = [entry.url for entry in store if hash_address(entry.url) in orphaned_hashes and entry.url not in followed]
    orphans: set[str] = set()
    while pending:
        url = pending.pop()
        entry = store.get(url)
        if url in orphans or url in followed or url not in store or entry is None:
            continue
        orphans.add(url)
        if entry.location and (target := make_absolute(entry.location, url)):
            pending.append(target)
    return orphans
