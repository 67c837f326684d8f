"""Snapshots of the web: completion from a source, replay, conversion into records on top of a base, erasure of orphaned images.

Orphans are images that only a taken-down page, or only rows of a taken-down owner, referred to. They are on no takedown list, so
they are found by replaying the snapshot as a run reads it: an address that the replay follows belongs to a remaining page.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from components.core.addresses import main_project
from components.core.digests import digest_value
from components.core.errors import HearsightError
from components.execution.stage import Stage
from components.sample.serving import SampleWeb, folder_sites
from components.stages.crawl import Params
from components.stages.crawl.consent_ledger import ConsentLedger
from components.stages.crawl.records import Judge, select_image_urls, write_records
from components.stages.crawl.shard_plan import (
    DraftShard,
    ShardPlan,
    build_base_plan,
    keep_base_pairs,
    uncounted,
    write_planned_shards,
)
from components.stages.crawl.source_kinds import create_source
from components.stages.crawl.source_settings import Site
from components.stages.crawl.sources.source_pages import Source, chunk_pages, hash_address
from components.web.answers import Answers, NotFetched
from components.web.conditional_fetch import ConditionalFetch
from components.web.consent.policy import Policy
from components.web.erase import erase, erase_chain
from components.web.fetch import Fetcher
from components.web.settings import Web
from components.web.snapshot_chain import identify_bases, read_chain, read_complete
from components.web.store import BaseStore, FetchStore
from components.web.takedown_journal import read_removals, read_swept, write_swept
from components.web.takedown_list import NAME, Takedown, read_takedown
from components.web.urls import make_absolute

STORE = "data/store"
"""Folder of the snapshots, relative to the project root."""
_RETRY_SETTINGS = ("connect_timeout", "timeout", "retries", "backoff", "max_retry_after")
NETWORK_SETTINGS = ("snapshot", "base", "fresh_for", "contact", "per_host", "connections", "delay", *_RETRY_SETTINGS)
"""Settings that do not change how a complete snapshot is read."""


def apply_takedown_list(stage: Stage, params: Params, folder: Path) -> Takedown:
    """Erase what the takedown list names from the snapshot at ``folder`` and its bases; return the list.

    Raises:
        HearsightError: the list cannot be read, or as :func:`components.web.erase.erase`.
    """
    takedown = read_takedown(stage.project / NAME)
    erase_chain(folder, params.base, takedown)
    return takedown


def make_answers(params: Params, store: FetchStore, takedown: Takedown) -> Answers:
    """Return the answers of a store under these parameters' consent policy and the takedown list."""
    return Answers(store, params, consent=make_policy(params), taken=takedown)


def make_policy(params: Params) -> Policy:
    """Return the consent policy that these parameters state."""
    hosts = frozenset(host.lower() for host in params.consenting)
    return Policy(params.user_agent, frozenset(params.uses), params.consent == "opt_in", hosts, params.tdmrep)


def complete_snapshot(stage: Stage, params: Params, folder: Path, source: Source, takedown: Takedown) -> str:
    """Fetch what the snapshot lacks, mark it complete, and return its digest."""
    with FetchStore(folder, writer=True, base=params.base) as store:
        if store.complete:  # another process completed it while this one waited for the lock
            return store.verified_digest()
        store.forget_transient()
        return fetch_missing(stage, params, store, source, takedown)


def fetch_missing(stage: Stage, params: Params, store: FetchStore, source: Source, takedown: Takedown) -> str:
    """Fetch all answers that the parameters need and ``store`` lacks, mark it complete, and return its digest."""
    with open_fetcher(stage, params, store, takedown, params.base) as fetcher:
        judge = Judge(params, takedown)
        for chunk in chunk_pages(source.pages(fetcher.answers, fetcher)):
            source.fetch_images(select_image_urls(judge.check(chunk)), fetcher)
        fetcher.ensure((), "image", desc="images")
        for name in ("requests", "spared", "kept"):
            stage.metric(f"crawl.{name}", getattr(fetcher, name))
        description = {name: takedown.without(value) for name, value in source.describe().items()}
        return store.finish({"web": params.web.kind, **description})


@contextmanager
def open_fetcher(stage: Stage, params: Params, store: FetchStore, takedown: Takedown, base: str = "") -> Iterator[Fetcher]:
    """Open the web that the parameters name for requests whose answers go to ``store``; ``base``: see ``crawl.base``."""
    with ExitStack() as resources:
        earlier = None
        if base:
            below = resources.enter_context(FetchStore(store.folder.parent / base))
            below.verified_digest()
            earlier = ConditionalFetch(below, params.fresh_for, {})
        proxy = resources.enter_context(open_proxy(main_project(stage.project), params.web))
        yield resources.enter_context(
            Fetcher(
                store,
                params,
                proxy=proxy,
                progress=stage.progress,
                consent=make_policy(params),
                earlier=earlier,
                taken=takedown,
            )
        )


@contextmanager
def open_proxy(project: Path, web: Web) -> Iterator[str]:
    """Return the address of the proxy that requests go through, '' for none; the web of a folder or of the sample is one."""
    if web.kind == "open":
        yield web.proxy
        return
    hosts = folder_sites(project / web.root) if web.kind == "folder" else None
    with SampleWeb(project, hosts=hosts) as served:
        yield served.proxy


@contextmanager
def missing_answers_as_errors(params: Params, folder: Path) -> Iterator[None]:
    """Turn a missing answer of a complete snapshot into an error message.

    Raises:
        HearsightError: the parameters need an answer that the snapshot does not hold.
    """
    try:
        yield
    except NotFetched as missing:
        raise HearsightError(
            f"the complete snapshot '{params.snapshot}' does not hold {missing.url}, which these parameters ask for",
            where=folder,
            hint="set crawl.snapshot to a new name, and it will be crawled",
        ) from None


def replay(params: Params, store: FetchStore, source: Source, takedown: Takedown) -> tuple[set[str], set[str]]:
    """Check that a complete snapshot holds every answer these parameters need; raises as :func:`missing_answers_as_errors`.

    Returns:
        The addresses that were followed, and the hashes of taken-down image addresses (for posts: also of API answers); both are
        empty without a takedown list.
    """
    answers, judge = make_answers(params, store, takedown), Judge(params, takedown)
    with missing_answers_as_errors(params, store.folder):
        for chunk in chunk_pages(source.pages(answers, None)):
            for url in select_image_urls(judge.check(chunk)):
                answers.outcome(url)
    return answers.touched, judge.taken.union(source.hidden)


def append_records(stage: Stage, params: Params, answers: Answers, source: Source, consent: ConsentLedger) -> None:
    """Write the candidates of a snapshot that has a base: see ``shard_plan``."""
    store = answers.store

    def draft(
        stage: Stage, answers: Answers, source: Source, below: ShardPlan | None, consent: ConsentLedger | None
    ) -> list[DraftShard]:
        drafts: list[DraftShard] = []

        def add(_: str, *content: Any) -> None:
            drafts.append(DraftShard(*content))

        write_records(stage, answers, source, lambda verdicts: keep_base_pairs(verdicts, below), add, consent)
        return drafts

    def read(snapshot: str, below: ShardPlan | None) -> list[DraftShard]:
        """Return the shards an earlier snapshot gives under these parameters; answers it never held are absent."""
        base_store = BaseStore(store.folder.parent / snapshot)
        open_bases.callback(base_store.close)
        base_store.verified_digest()
        base_answers = make_answers(params, base_store, answers.taken)
        base_source = create_source(stage, params, main_project(stage.project), base_store.folder, answers.taken)
        return draft(uncounted(stage), base_answers, base_source, below, None)

    with ExitStack() as open_bases:
        settings = {name: value for name, value in params.plain().items() if name not in NETWORK_SETTINGS}
        settings["web"] = {name: value for name, value in settings["web"].items() if name != "proxy"}
        # The list is part of the key because a takedown changes a base without changing its name and digest.
        key: dict[str, Any] = {"code": stage.code, "params": settings, "takedown": answers.taken.plain()}
        if params.source.holds_times:  # records hold times, which the snapshot digests do not cover
            key["begun"] = identify_bases(store.folder.parent, store.bases)
        plan = build_base_plan(stage, store.bases, key, read)
        write_planned_shards(stage, draft(stage, answers, source, plan, consent), plan, store.bases[-1].snapshot)


def erase_orphans(stage: Stage, params: Params, folder: Path, taken: Takedown) -> None:
    """Erase orphaned images from the complete snapshot at ``folder`` and from its bases, once per list and snapshot.

    Raises as ``snapshot_builder.missing_answers_as_errors`` and ``web.erase.erase``.
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
        with kind(folder) as store:
            followed, taken_down_hashes = replay(
                params, store, create_source(uncounted(stage), params, main_project(stage.project), folder, taken), taken
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
