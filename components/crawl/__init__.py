"""crawl: pages of the web become <image, alt-text> candidates (mission row C1).

The stage first completes the snapshot of the web that its parameters name, if need be: politely, breadth-first, into an
append-only store. Then it turns the snapshot into records without touching the network, the same bytes each time.
Here: the parameters and the order of things. Reading pages and pictures: ``urls``, ``html``, ``language``, ``image``;
deciding: ``walk``, ``records``; asking and keeping answers: the package ``web``; the sample web: the package ``sample``.
"""

from __future__ import annotations

from collections.abc import Collection
from contextlib import ExitStack
from typing import TYPE_CHECKING, Literal

from components.core.errors import HearsightError
from components.core.params import Settings

if TYPE_CHECKING:
    from pathlib import Path

    from components.core.stage import Stage
    from components.crawl.records import Verdict
    from components.crawl.walk import Walk
    from components.crawl.web.answers import Answers, Consent
    from components.crawl.web.store import FetchStore

_RETRYING = ("connect_timeout", "timeout", "retries", "backoff", "max_retry_after")
OF_THE_NETWORK = ("snapshot", "base", "fresh_for", "proxy", "contact", "per_host", "connections", "delay", *_RETRYING)
"""Settings that change nothing about how a complete snapshot is read."""
STORE = "data/store"
"""Where snapshots lie, below the project's root."""
LIMITS = ("shard_size", "max_pages", "per_host", "connections", "max_page_bytes", "max_image_bytes", "connect_timeout", "timeout")


class Params(Settings):
    """What is crawled and how."""

    snapshot: str
    """The snapshot of the web the records are made of; a new name crawls anew."""
    base: str
    """An earlier complete snapshot: its answers are asked for conditionally, its records keep their shards; '' for none."""
    fresh_for: float
    """Days in which an image of the base whose host gave no validator is not asked for again; 0 asks always."""
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
    """Pages asked for in all."""
    per_host: int
    """Requests in flight to one host."""
    connections: int
    """Requests in flight in all."""
    delay: float
    """Seconds between the starts of two requests to one host; a robots.txt may ask for more."""
    connect_timeout: float
    """Seconds to get a connection."""
    timeout: float
    """Seconds for one request, its body included."""
    retries: int
    """How often a timeout, a lost connection or a 429/5xx answer is asked about again."""
    backoff: float
    """Seconds before the first retry; doubled for each further one."""
    max_page_bytes: int
    """Bytes of a page, decompressed; a larger one is dropped."""
    max_image_bytes: int
    """Bytes of an image; a larger one is dropped."""
    user_agent: str
    """The robot's product token, which robots.txt rules go by."""
    contact: str
    """A URL or mail address where the crawl's owner is reached, sent with every request; web: open needs one."""
    allow_private: bool
    """Whether addresses of private networks may be asked; false but for an intranet of one's own."""
    max_retry_after: float
    """Seconds a host that answers 429 or 503 is waited for at its own word; one that asks for more is left alone."""
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


def run(stage: Stage) -> None:
    """Complete the snapshot if need be, then write its candidates.

    Raises:
        HearsightError: a parameter makes no sense, the sample's packages are missing, the network or the disk is gone,
            another crawl writes the snapshot, or a complete snapshot lacks what the parameters ask for.
    """
    from components.crawl.records import write_records
    from components.crawl.web.answers import NotFetched
    from components.crawl.web.bases import require_base
    from components.crawl.web.store import FetchStore

    params = _sound(stage.params)
    folder = home(stage) / STORE / params.snapshot
    if not (folder / "COMPLETE").exists():
        complete_snapshot(stage, params, folder)
    with FetchStore(folder) as store:
        require_base(store.bases, params.base, folder)
        stage.note_parent("snapshot", store.verified_digest())
        answers = _answers(params, store)
        try:
            walked, verdicts = _walk(params, answers, None)
            if store.bases:
                _append_records(stage, params, answers, walked, verdicts)
            else:
                write_records(stage, answers, walked, verdicts)
        except NotFetched as missing:
            raise HearsightError(
                f"the complete snapshot '{params.snapshot}' does not hold {missing.url}, which these parameters ask for",
                where=folder,
                mend="set crawl.snapshot to a new name, and it will be crawled",
            ) from None


def home(stage: Stage) -> Path:
    """The folder that holds this run's ``data``: where its caches lie, too."""
    return stage.state.parent


def complete_snapshot(stage: Stage, params: Params, folder: Path) -> str:
    """Crawl what the snapshot does not hold yet, and declare it complete; returns its digest."""
    from components.crawl.sample.serving import SampleWeb, folder_sites
    from components.crawl.web.earlier import Earlier
    from components.crawl.web.fetch import Fetcher, FetchSettings
    from components.crawl.web.store import FetchStore

    settings = FetchSettings(**{name: getattr(params, name) for name in FetchSettings.model_fields})
    with ExitStack() as open_things:
        store: FetchStore = open_things.enter_context(FetchStore(folder, writer=True, base=params.base))
        if store.complete:  # another process completed it while this one waited for nothing
            return store.verified_digest()
        store.forget_transient()
        earlier = None
        if params.base:
            below = open_things.enter_context(FetchStore(folder.parent / params.base))
            below.verified_digest()
            earlier = Earlier(below, params.fresh_for, {})
        proxy = params.proxy
        if params.web != "open":
            hosts = folder_sites(home(stage) / params.web_root) if params.web == "folder" else None
            proxy = open_things.enter_context(SampleWeb(home(stage), hosts=hosts)).proxy
        fetcher = open_things.enter_context(
            Fetcher(store, settings, proxy=proxy, progress=stage.progress, consent=_consent(params), earlier=earlier)
        )
        _walk(params, fetcher.answers, fetcher)
        for name in ("requests", "spared", "kept"):
            stage.metric(f"crawl.{name}", getattr(fetcher, name))
        return store.finish({"web": params.web, "seeds": sorted(params.seeds)})


def _consent(params: Params) -> Consent:
    from components.crawl.web.answers import Consent

    return Consent(params.consent == "opt_in", frozenset(host.lower() for host in params.consenting), params.tdmrep)


def _answers(params: Params, store: FetchStore) -> Answers:
    from components.crawl.web.answers import Answers

    return Answers(store, params.user_agent, allow_private=params.allow_private, consent=_consent(params))


def _append_records(stage: Stage, params: Params, answers: Answers, walked: Walk, verdicts: list[Verdict]) -> None:
    """Write the candidates of a snapshot that stands on another: see ``shards_plan``."""
    from components.core.codeprint import code_digest
    from components.crawl.records import write_records
    from components.crawl.shards_plan import Layout, Part, Plan, base_plan, settle, write_laid_out
    from components.crawl.web.store import BaseStore

    store = answers.store

    def read(snapshot: str, below: Plan | None) -> list[Part]:
        """What an earlier snapshot gives under these parameters; what it never asked for is not there."""
        old = BaseStore(store.folder.parent / snapshot)
        open_bases.callback(old.close)
        old.verified_digest()
        layout = Layout.of(stage, counted=False)
        then = _answers(params, old)
        pages, judged = _walk(params, then, None)
        write_records(layout, then, pages, settle(judged, below))
        return layout.parts

    with ExitStack() as open_bases:
        settings = {name: value for name, value in params.plain().items() if name not in OF_THE_NETWORK}
        key = {"code": code_digest(stage.root, "components.crawl"), "params": settings}
        plan = base_plan(stage, store.bases, key, read)
        layout = Layout.of(stage)
        write_records(layout, answers, walked, settle(verdicts, plan))
        write_laid_out(stage, layout.parts, plan, store.bases[-1].snapshot)


def _walk(params: Params, answers: Answers, fetcher: object) -> tuple[Walk, list[Verdict]]:
    """Walk the pages and judge their images; with a fetcher, whatever is missing is fetched on the way."""
    from components.crawl.records import judge, wanted_images
    from components.crawl.walk import walk
    from components.crawl.web.fetch import Fetcher
    from components.crawl.web.listed import read_listed

    live = fetcher if isinstance(fetcher, Fetcher) else None

    def ensure(urls: Collection[str], depth: int) -> None:
        if live:
            live.ensure(urls, "page", {host.lower() for host in params.hosts}, f"pages {depth} links away")

    def ensure_listed(urls: Collection[str]) -> None:
        if live:
            live.ensure(urls, "sitemap", None, "sitemaps")

    listed = read_listed(answers, ensure_listed, params.seeds, params.max_pages) if params.sitemaps else None
    if live and listed:
        live.note_changes(listed.pages)
    walked = walk(
        answers, ensure, seeds=params.seeds, hosts=params.hosts, depth=params.depth, max_pages=params.max_pages, listed=listed
    )
    verdicts = judge(walked.found, params.min_alt)
    if live:
        live.ensure(wanted_images(verdicts), "image", None, "images")
    return walked, verdicts


def _sound(params: Params) -> Params:
    """The parameters, after the checks that types alone do not make."""

    def wrong(name: str, what: str, mend: str) -> HearsightError:
        return HearsightError(what, where=f"params.yaml: crawl.{name}", mend=mend)

    for name in LIMITS:
        if getattr(params, name) <= 0:
            raise wrong(name, "must be more than 0", "give a positive number")
    for name in ("depth", "delay", "retries", "backoff", "min_alt", "fresh_for", "max_retry_after"):
        if getattr(params, name) < 0:
            raise wrong(name, "must not be negative", "give 0 or more")
    for name in ("snapshot", "base"):
        folder = getattr(params, name)
        named = all(char.isalnum() or char in "-_." for char in folder) and folder[:1] != "."
        if not named or (not folder and name == "snapshot"):
            raise wrong(name, f"'{folder}' cannot name a folder", "use letters, digits, '-', '_' and '.'")
    if not params.seeds:
        raise wrong("seeds", "is empty", "name at least one page")
    if params.web == "open" and not params.contact:
        raise wrong("contact", "is empty, and a crawl of the open web must say whose it is", "give a URL or a mail address")
    if params.web == "folder" and not params.web_root:
        raise wrong("web_root", "is empty", "name the folder of <host>/ folders")
    return params
