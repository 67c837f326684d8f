"""Posts source: posts of a hashtag from a server's API, on top of earlier snapshots (``components.stages.crawl.posts``)."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from components.stages.crawl.posts.conversion import account_to_pages, drop_repeated
from components.stages.crawl.posts.instagram import Instagram
from components.stages.crawl.posts.mastodon import Mastodon
from components.stages.crawl.posts.post import State
from components.stages.crawl.posts.provider import Calls, Provider
from components.stages.crawl.posts.survey import Survey
from components.stages.crawl.source_settings import InstagramSettings, MastodonSettings
from components.stages.crawl.sources.source_pages import Source, SourcePage, hash_address
from components.web.answers import Answers
from components.web.fetch import Fetcher
from components.web.snapshot_chain import fold_chain, identify_bases
from components.web.store import BaseStore, FetchStore
from components.web.takedown_list import Takedown, takedown_row
from components.web.urls import host_of, normalise

STEP = "crawl.posts"
ANSWER_SETTINGS = ("user_agent", "allow_private", "consent", "consenting", "tdmrep", "budget")
"""Settings besides ``crawl.source`` that affect how a snapshot's answers are read."""


def create_provider(settings: MastodonSettings | InstagramSettings, *, live: bool) -> Provider:
    """Create the provider that the settings name; only a ``live`` one sends requests and reads the token.

    Raises:
        HearsightError: the token's variable is not set.
    """
    token = settings.token() if live else ""
    if settings.provider == "instagram":
        return Instagram(settings, token)
    return Mastodon(settings, token)


class PostsSource(Source):
    """See :class:`components.stages.crawl.sources.source_pages.Source`."""

    _reusable: Collection[str] = frozenset()

    def pages(self, answers: Answers, live: Fetcher | None) -> Iterator[SourcePage]:
        """Yield the timelines' rows, then the accounts by name, each with its posts by date."""
        store = answers.store
        below = self._base_state(store, answers)
        with _open_newest_base(store) as base:
            survey, state = self._run_survey(answers, live, below, base)
            if live and create_provider(self.source, live=False).urls_expire:
                posts = (post for owner in state.owners.values() for post in owner.posts)
                urls = {normalise(media.url) or "" for post in posts for media in post.media}
                self._reusable = {url for url in urls if _is_good_answer(base, url)}
        seen: set[tuple[str, str]] = set()
        for page in self._list_pages(survey, state):
            if answers.consent.opt_in:
                answers.grant([candidate.image_url for candidate in page.candidates if candidate.image_url])
            yield drop_repeated(page, seen)
        if self.taken:
            self.hidden = find_taken_down_traces(store, self.source.server.rstrip("/") + "/", self.taken)

    def _list_pages(self, survey: Survey, state: State) -> Iterator[SourcePage]:
        for row in survey.search.rows:
            yield SourcePage(row)
        for name in survey.listed_owners:
            yield SourcePage(takedown_row(self.taken.mask(name), self.taken.owner(name), kind="page"))
        seen_keys: set[str] = set()
        for _, owner in sorted(state.owners.items()):
            for page in account_to_pages(owner, self.source.tags):
                seen_keys.update([page.row["key"]] if page.row else [])
                yield page
        for url, timeline in sorted(survey.search.unowned.items()):
            if url in survey.untagged:
                reason = ("no_hashtag", "not in the caption", "the hashtag as a word")
            else:
                reason = ("unknown_owner", "not told", "an owner")
            if url not in seen_keys:
                yield SourcePage.drop(url, *reason, f"in {timeline}")

    def _run_survey(self, answers: Answers, live: Fetcher | None, below: State, base: FetchStore | None) -> tuple[Survey, State]:
        provider = create_provider(self.source, live=live is not None)
        answers.unruled = () if provider.api.robots else (provider.api.prefix,)

        def ensure(urls: Collection[str], desc: str) -> None:
            assert live is not None
            live.ensure(urls, "api", {host_of(provider.api.prefix)}, desc)

        if live:
            live.api = provider.api
        calls = Calls(answers, provider.api.prefix)
        survey = Survey(provider, calls, below, self.source, self.taken, lambda url: _is_good_answer(base, url))
        return survey, survey.run(ensure if live else None)

    def _base_state(self, store: FetchStore, answers: Answers) -> State:
        """Return the accounts and posts known to the base snapshots, computed from the newest cached state up."""
        folder, bases = store.folder.parent, store.bases
        plain = self.params.plain()
        key = {
            "code": self.stage.code,
            "posts": plain["source"],
            "takedown": self.taken.plain(),
            **{name: plain[name] for name in ANSWER_SETTINGS},
        }
        keys = [{**key, "snapshots": identify_bases(folder, bases[: depth + 1])} for depth in range(len(bases))]

        def extend(depth: int, below: State | None) -> State:
            with BaseStore(folder / bases[depth].snapshot) as base_store, _open_newest_base(base_store) as base:
                base_store.verified_digest()
                base_answers = Answers(base_store, self.params, consent=answers.consent, taken=answers.taken)
                return self._run_survey(base_answers, None, below or State(), base)[1]

        return fold_chain(self.stage.cache, STEP, keys, State.load, extend) or State()

    def fetch_images(self, urls: Collection[str], live: Fetcher) -> None:
        """Request the images from any host; reuse images of the base snapshot whose addresses expire."""
        live.take_over(self._reusable)
        super().fetch_images(urls, live)

    def describe(self) -> dict[str, Any]:
        return {"provider": self.source.provider, "server": self.source.server, "tags": self.source.tags}


def _open_newest_base(store: FetchStore) -> AbstractContextManager[FetchStore | None]:
    """Open the newest base snapshot; yields None where there is none."""
    return BaseStore(store.folder.parent / store.bases[-1].snapshot) if store.bases else nullcontext()


def _is_good_answer(base: FetchStore | None, url: str) -> bool:
    entry = base.get(url) if base is not None and url else None
    return entry is not None and entry.status == 200 and not entry.failure


def find_taken_down_traces(store: FetchStore, prefix: str, taken: Takedown) -> set[str]:
    """Return the hashes of API addresses whose answers name taken-down accounts only, and of the image addresses they contain.

    A timeline names many accounts and a replay needs it, so it is not erased (docs/posts-to-descriptions.md).
    """
    hashes: set[str] = set()
    for entry in store:
        if entry.failure or not entry.url.startswith(prefix) or "/timelines/" in entry.url or "_media?" in entry.url:
            continue
        try:
            value = json.loads(store.body(entry.url))
        except (ValueError, RecursionError):
            continue
        names = _names(value, host_of(prefix))
        if names and all(taken.owner(name) for name in names):
            hashes.add(hash_address(entry.url))
            hashes.update(hash_address(normalise(url)) for url in _addresses(value) if normalise(url))
    return hashes


def _names(value: Any, host: str) -> set[str]:
    """Return the account names in an answer: the accounts of statuses, one account, or a discovered business account."""
    records = value if isinstance(value, list) else [value]
    names: set[str] = set()
    for record in records:
        if isinstance(record, Mapping):
            inner = record.get("account", record.get("business_discovery", record))
            name = inner.get("acct", inner.get("username")) if isinstance(inner, Mapping) else None
            if isinstance(name, str):
                names.add(f"{name}@{host}" if "acct" in inner and "@" not in name else name)
    return names


def _addresses(value: Any) -> Iterator[str]:
    """Yield every image address in a JSON value, at any depth."""
    pending = [value]
    while pending:
        node = pending.pop()
        if isinstance(node, Mapping):
            yield from (url for name in ("url", "media_url", "remote_url") if isinstance(url := node.get(name), str))
            pending += node.values()
        elif isinstance(node, list):
            pending += node
