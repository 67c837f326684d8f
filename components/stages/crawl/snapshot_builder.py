"""A snapshot of the web: completed from its source, and turned into records on top of the one it stands on."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.core.code_digest import code_digest
from components.core.errors import HearsightError
from components.execution.stage import Stage
from components.stages.crawl.image_decoding import LookAhead
from components.stages.crawl.records import Judge, chunks, wanted_images, write_records
from components.stages.crawl.shard_plan import Layout, Part, Plan, base_plan, settle, write_laid_out
from components.stages.crawl.sources import Source, source_of
from components.web.answers import Answers, Consent, NotFetched
from components.web.conditional_fetch import ConditionalFetch
from components.web.erase import erase_chain
from components.web.snapshot_chain import identify_bases
from components.web.store import BaseStore, FetchStore
from components.web.takedown_list import NAME, Takedown, read_takedown

if TYPE_CHECKING:
    from components.stages.crawl import Params

STORE = "data/store"
"""Where snapshots lie, below the project's root."""
_RETRYING = ("connect_timeout", "timeout", "retries", "backoff", "max_retry_after")
OF_THE_NETWORK = ("snapshot", "base", "fresh_for", "contact", "per_host", "connections", "delay", *_RETRYING)
"""Settings that change nothing about how a complete snapshot is read."""


def home(stage: Stage) -> Path:
    """The folder that holds this run's ``data``: where its caches lie, too."""
    return stage.state.parent


def taken_down(stage: Stage, params: Params, folder: Path) -> Takedown:
    """The takedown list, after the snapshot at ``folder`` and those below it were cleared of what it lists.

    Raises:
        HearsightError: the list cannot be read, or as :func:`components.web.erase.erase`.
    """
    taken = read_takedown(home(stage) / NAME)
    erase_chain(folder, params.base, taken)
    return taken


def answers_of(params: Params, store: FetchStore, taken: Takedown) -> Answers:
    """What a store says, under these parameters' manners and the takedown list."""
    return Answers.under(params, store, consent=_consent(params), taken=taken)


def _consent(params: Params) -> Consent:
    return Consent(params.consent == "opt_in", frozenset(host.lower() for host in params.consenting), params.tdmrep)


def complete_snapshot(stage: Stage, params: Params, folder: Path, source: Source, taken: Takedown) -> str:
    """Find and fetch what the snapshot does not hold yet, and declare it complete; returns its digest."""
    with FetchStore(folder, writer=True, base=params.base) as store:
        if store.complete:  # another process completed it while this one waited for nothing
            return store.verified_digest()
        store.forget_transient()
        return fill(stage, params, store, source, taken)


def fill(stage: Stage, params: Params, store: FetchStore, source: Source, taken: Takedown) -> str:
    """Ask for all that the parameters want and ``store`` does not hold, and declare it complete; returns its digest."""
    from components.sample.serving import SampleWeb, folder_sites
    from components.web.fetch import Fetcher, FetchSettings

    settings = FetchSettings(**{name: getattr(params, name) for name in FetchSettings.model_fields})
    with ExitStack() as open_things:
        open_things.enter_context(LookAhead(stage, store))
        earlier = None
        if params.base:
            below = open_things.enter_context(FetchStore(store.folder.parent / params.base))
            below.verified_digest()
            earlier = ConditionalFetch(below, params.fresh_for, {})
        if params.web.kind == "open":
            proxy = params.web.proxy
        else:
            hosts = folder_sites(home(stage) / params.web.root) if params.web.kind == "folder" else None
            proxy = open_things.enter_context(SampleWeb(home(stage), hosts=hosts)).proxy
        fetcher = open_things.enter_context(
            Fetcher(
                store,
                settings,
                proxy=proxy,
                progress=stage.progress,
                consent=_consent(params),
                earlier=earlier,
                taken=taken,
            )
        )
        judge = Judge(params.min_alt, taken, max_alt=params.budget.alt_characters)
        for chunk in chunks(source.pages(fetcher.answers, fetcher)):
            source.fetch_images(wanted_images(judge.verdicts(chunk)), fetcher)
        fetcher.ensure((), "image", desc="images")
        for name in ("requests", "spared", "kept"):
            stage.metric(f"crawl.{name}", getattr(fetcher, name))
        about = {name: taken.without(value) for name, value in source.about().items()}
        return store.finish({"web": params.web.kind, **about})


@contextmanager
def held_by(params: Params, folder: Path) -> Iterator[None]:
    """Reading a complete snapshot; what it lacks under these parameters is one line.

    Raises:
        HearsightError: the parameters ask for what it does not hold.
    """
    try:
        yield
    except NotFetched as missing:
        raise HearsightError(
            f"the complete snapshot '{params.snapshot}' does not hold {missing.url}, which these parameters ask for",
            where=folder,
            hint="set crawl.snapshot to a new name, and it will be crawled",
        ) from None


def replay(params: Params, store: FetchStore, source: Source, taken: Takedown) -> tuple[set[str], set[str]]:
    """See that a complete snapshot answers all that these parameters ask for; raises as :func:`held_by`.

    Returns:
        The addresses that were followed, and the hashes of those of images (of posts: of answers, too) that are taken down;
        both empty without a list.
    """
    answers, judge = answers_of(params, store, taken), Judge(params.min_alt, taken, max_alt=params.budget.alt_characters)
    with held_by(params, store.folder):
        for chunk in chunks(source.pages(answers, None)):
            for url in wanted_images(judge.verdicts(chunk)):
                answers.outcome(url)
    return answers.touched, judge.taken | getattr(source, "hidden", set())


def append_records(stage: Stage, params: Params, answers: Answers, source: Source) -> None:
    """Write the candidates of a snapshot that stands on another: see ``shards_plan``."""
    store = answers.store

    def read(snapshot: str, below: Plan | None) -> list[Part]:
        """What an earlier snapshot gives under these parameters; what it never asked for is not there."""
        old = BaseStore(store.folder.parent / snapshot)
        open_bases.callback(old.close)
        old.verified_digest()
        layout = Layout.of(stage, counted=False)
        then = answers_of(params, old, answers.taken)
        before = source_of(stage, params, home(stage), old.folder, answers.taken)
        write_records(layout, then, before.pages(then, None), lambda verdicts: settle(verdicts, below))
        return layout.parts

    with ExitStack() as open_bases:
        settings = {name: value for name, value in params.plain().items() if name not in OF_THE_NETWORK}
        settings["web"] = {name: value for name, value in settings["web"].items() if name != "proxy"}
        code = code_digest(stage.root, "components.stages.crawl")
        # The list is a part of it: a base keeps its name and digest here when something is taken down from it.
        key: dict[str, Any] = {"code": code, "params": settings, "takedown": answers.taken.plain()}
        if params.source.kind == "posts":  # times are in the records, and a digest knows none
            key["begun"] = identify_bases(store.folder.parent, store.bases)
        plan = base_plan(stage, store.bases, key, read)
        layout = Layout.of(stage)
        write_records(layout, answers, source.pages(answers, None), lambda verdicts: settle(verdicts, plan))
        write_laid_out(stage, layout.parts, plan, store.bases[-1].snapshot)
