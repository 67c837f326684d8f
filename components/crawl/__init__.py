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
    from components.crawl.takedown import Takedown
    from components.crawl.walk import Walk
    from components.crawl.web.answers import Answers
    from components.crawl.web.store import FetchStore

STORE = "data/store"
"""Where snapshots lie, below the project's root."""
LIMITS = ("shard_size", "max_pages", "per_host", "connections", "max_page_bytes", "max_image_bytes", "connect_timeout", "timeout")


class Params(Settings):
    """What is crawled and how."""

    snapshot: str
    """The snapshot of the web the records are made of; a new name crawls anew."""
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
    from components.crawl.takedown import NAME, read_takedown
    from components.crawl.web.answers import Answers, NotFetched
    from components.crawl.web.forget import forget
    from components.crawl.web.store import FetchStore

    params = _sound(stage.params)
    taken = read_takedown(home(stage) / NAME)
    folder = home(stage) / STORE / params.snapshot
    forget(folder, taken)
    if not (folder / "COMPLETE").exists():
        complete_snapshot(stage, params, folder, taken)
        forget(folder, taken)  # a redirect may have told a listed address
    with FetchStore(folder) as store:
        stage.note_parent("snapshot", store.verified_digest())
        answers = Answers(store, params.user_agent, allow_private=params.allow_private, taken=taken)
        try:
            walked, verdicts = _walk(params, answers, None)
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


def complete_snapshot(stage: Stage, params: Params, folder: Path, taken: Takedown) -> str:
    """Crawl what the snapshot does not hold yet, and declare it complete; returns its digest."""
    from components.crawl.sample.serving import SampleWeb, folder_sites
    from components.crawl.web.fetch import Fetcher, FetchSettings
    from components.crawl.web.store import FetchStore

    settings = FetchSettings(**{name: getattr(params, name) for name in FetchSettings.model_fields})
    with ExitStack() as open_things:
        store: FetchStore = open_things.enter_context(FetchStore(folder, writer=True))
        if store.complete:  # another process completed it while this one waited for nothing
            return store.verified_digest()
        store.forget_transient()
        proxy = params.proxy
        if params.web != "open":
            hosts = folder_sites(home(stage) / params.web_root) if params.web == "folder" else None
            proxy = open_things.enter_context(SampleWeb(home(stage), hosts=hosts)).proxy
        fetcher = open_things.enter_context(Fetcher(store, settings, proxy=proxy, progress=stage.progress, taken=taken))
        _walk(params, fetcher.answers, fetcher)
        stage.metric("crawl.requests", fetcher.requests)
        return store.finish({"web": params.web, "seeds": sorted(seed for seed in params.seeds if not taken.url(seed))})


def _walk(params: Params, answers: Answers, fetcher: object) -> tuple[Walk, list[Verdict]]:
    """Walk the pages and judge their images; with a fetcher, whatever is missing is fetched on the way."""
    from components.crawl.records import judge, wanted_images
    from components.crawl.walk import walk
    from components.crawl.web.fetch import Fetcher

    live = fetcher if isinstance(fetcher, Fetcher) else None

    def ensure(urls: Collection[str], depth: int) -> None:
        if live:
            live.ensure(urls, "page", {host.lower() for host in params.hosts}, f"pages {depth} links away")

    walked = walk(answers, ensure, seeds=params.seeds, hosts=params.hosts, depth=params.depth, max_pages=params.max_pages)
    verdicts = judge(walked.found, params.min_alt, answers.taken)
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
    for name in ("depth", "delay", "retries", "backoff", "min_alt"):
        if getattr(params, name) < 0:
            raise wrong(name, "must not be negative", "give 0 or more")
    if not params.snapshot or not all(char.isalnum() or char in "-_." for char in params.snapshot) or params.snapshot[0] == ".":
        raise wrong("snapshot", f"'{params.snapshot}' cannot name a folder", "use letters, digits, '-', '_' and '.'")
    if not params.seeds:
        raise wrong("seeds", "is empty", "name at least one page")
    if params.web == "open" and not params.contact:
        raise wrong("contact", "is empty, and a crawl of the open web must say whose it is", "give a URL or a mail address")
    if params.web == "folder" and not params.web_root:
        raise wrong("web_root", "is empty", "name the folder of <host>/ folders")
    return params
