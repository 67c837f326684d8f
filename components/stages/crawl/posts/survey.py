"""Both phases over one snapshot: who used the tag, and what each account known has posted with it.

A function of the stored answers and of the state below, the same while a crawl runs and in a replay; the time is the time of the
answers. What cannot be had today for a passing reason is as it was in the snapshot below; what an account or its server says
no to is withdrawn. Not in scope: ledger rows and records (``found``).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TypeVar

from components.stages.crawl.posts.calls import Calls
from components.stages.crawl.posts.found import list_row_keys
from components.stages.crawl.posts.post import WITHDRAWING, Account, Post
from components.stages.crawl.posts.provider import Provider, Search, window_start
from components.stages.crawl.posts.settings import PostsSettings
from components.stages.crawl.posts.state import Owner, State
from components.stages.crawl.posts.text import match_hashtag
from components.web.answers import NotFetched
from components.web.conditional_fetch import moment
from components.web.consent_policy import RULES
from components.web.takedown_list import Takedown
from components.web.urls import normalise

T = TypeVar("T")
R = TypeVar("R")
Ensure = Callable[[Collection[str], str], None]
"""Called with addresses of the API that are needed, and what they are; afterwards the store can tell of each."""
ACCOUNTS_AT_ONCE = 64
"""Accounts visited side by side."""


def run_together(items: Iterable[T], work: Callable[[T], R], ensure: Ensure | None, desc: str) -> Iterator[tuple[T, R]]:
    """Each item with what ``work`` makes of it, in order; what its reading lacks is asked for, for all items at once.

    Raises:
        NotFetched: without ``ensure``, an answer is missing.
    """
    waiting, done = list(items), dict[int, R]()
    while len(done) < len(waiting):
        needed: set[str] = set()
        for number, item in enumerate(waiting):
            if number in done:
                continue
            try:
                done[number] = work(item)
            except NotFetched as missing:
                if ensure is None:
                    raise
                needed.add(missing.url)
        if needed and ensure is not None:
            ensure(sorted(needed), desc)
    yield from ((item, done[number]) for number, item in enumerate(waiting))


class Survey:
    """One snapshot, surveyed.

    Args:
        provider: how the server is asked.
        calls: what the store says.
        below: what the snapshot below knew.
        settings: ``crawl.posts``.
        taken: whose posts are never asked for.
        held: whether the snapshot below holds a picture for an address.
    """

    def __init__(
        self,
        provider: Provider,
        calls: Calls,
        below: State,
        settings: PostsSettings,
        taken: Takedown,
        held: Callable[[str], bool],
    ) -> None:
        self._provider, self._calls, self._below, self._settings, self._held = provider, calls, below, settings, held
        self._taken = taken
        self.search = Search()
        """What the first phase gave."""
        self.listed_owners: list[str] = []
        """Names of those that are taken down, in order; they are not visited."""

        self.untagged: set[str] = set()
        """Web addresses of listed posts without the tag in their captions; a timeline may show them for one in a comment."""

    def run(self, ensure: Ensure | None) -> State:
        """Survey it, asking through ``ensure``; raises NotFetched without one."""
        for _, found in run_together([None], lambda _: self._provider.search(self._calls), ensure, "the hashtag's timeline"):
            self.search = found
        names = sorted({*self.search.accounts, *self._below.owners, *self._named()})
        self.listed_owners = [name for name in names if self._taken.owner(name)]
        state, here = State(), [name for name in names if not self._taken.owner(name)]
        for start in range(0, len(here), ACCOUNTS_AT_ONCE):
            group = here[start : start + ACCOUNTS_AT_ONCE]
            desc = f"accounts {start + 1} to {start + len(group)} of {len(here)}"
            for name, owner in run_together(group, self._visit, ensure, desc):
                state.owners[name] = owner
        return state

    def _named(self) -> list[str]:
        names = (name.strip().lstrip("@") for name in self._settings.profiles)
        return [self._provider.normalise_name(name) for name in names if name]

    def _visit(self, name: str) -> Owner:
        known = self._below.owners.get(name) or Owner(Account(name))
        account = self.search.accounts.get(name)
        if account is None:
            account = self._provider.account(self._calls, known.account)
        if self._calls.opt_in and not account.rule and not (account.consents or self._calls.agrees(self._provider.api.prefix)):
            account = replace(account, rule="no_consent", value="said nothing", threshold="a yes")
        if withdraws_posts(account.rule, account.value):
            return self._withdrawn(known, account)
        if account.rule:
            problem = (account.rule, account.value, account.threshold)
            as_known = replace(known.account, url=known.account.url or account.url, rule="", value="", threshold="")
            # What was withdrawn stays so until the account says otherwise.
            if known.account.rule:
                return replace(known, problem=problem, note="")
            return replace(known, account=as_known, problem=problem, note=_count(known.posts, "as before"))
        return self._listed(known, account)

    def _withdrawn(self, known: Owner, account: Account) -> Owner:
        went = known.withdrawn or [*dict.fromkeys(list_row_keys(known, self._settings.tags))]
        return Owner(account, first=known.first, withdrawn=went)

    def _listed(self, known: Owner, account: Account) -> Owner:
        """The account's posts: what its pages show, and below where they were not read, what was known."""
        now: dict[str, Post] = {}
        cuts: list[str] = []
        problem, begun, newest, seen = ("", "", ""), "", known.newest, 0
        for listing in self._provider.listings(self._calls, account):
            reached = ""
            for page in listing:
                begun = begun or page.fetched
                if page.rule:
                    if withdraws_posts(page.rule, page.value):
                        return self._withdrawn(
                            known, replace(account, rule=page.rule, value=page.value, threshold=page.threshold)
                        )
                    problem = (page.rule, page.value, page.threshold)
                    cuts.append(reached or "9999")
                    break
                seen += len(page.posts)
                for post in page.posts:
                    if post.posted and (not reached or post.posted < reached):
                        reached = post.posted
                    newest = max(newest, post.posted)
                    if not self._of_tag(post):
                        self.untagged.add(normalise(post.url) or "")
                    elif post.identifier not in now:
                        now[post.identifier] = self._placed(post, known, page.fetched)
                if page.posts and reached and reached <= known.newest and not self._due(known, begun):
                    cuts.append(reached)
                    break
        cut = max(cuts, default="")
        carried = [post for post in known.posts if post.identifier not in now and cut and post.posted < cut]
        posts = sorted([*now.values(), *carried], key=lambda post: (post.posted, post.identifier))
        first = known.first | {post.identifier: post.collected for post in posts}
        whole = begun if not cuts else known.listed
        note = _count(posts, f"of {seen} listed" + (f", {len(carried)} as before" if carried else ""))
        return Owner(account, posts, first, whole, newest, note=note, problem=problem)

    def _of_tag(self, post: Post) -> bool:
        """Whether a post counts at all: where a listing holds untagged ones, those are none of ours."""
        return self._provider.tagged_only or bool(post.rule) or match_hashtag(post.caption, tuple(self._settings.tags)) != ""

    def _placed(self, post: Post, known: Owner, fetched: str) -> Post:
        """A post with its time of collection, and where addresses expire, with those its pictures were fetched from."""
        post = replace(post, collected=known.first.get(post.identifier) or fetched)
        if not self._provider.urls_expire:
            return post
        before = {one.identifier: one.url for old in known.posts if old.identifier == post.identifier for one in old.media}
        kept = tuple(
            replace(one, url=before[one.identifier])
            if one.kind == "image" and self._held(normalise(before.get(one.identifier, "")) or "")
            else one
            for one in post.media
        )
        return replace(post, media=kept)

    def _due(self, known: Owner, begun: str) -> bool:
        days = self._settings.relist_days
        return not days or not known.listed or moment(known.listed) <= window_start(begun, days)


def withdraws_posts(rule: str, value: str) -> bool:
    """Whether a rule of an account takes its posts with it: a no, not a failure that passes."""
    if rule == "robots":
        return not value.startswith("robots.txt:")  # it could not be reached
    return rule in WITHDRAWING or rule in RULES


def _count(posts: Sequence[Post], more: str) -> str:
    return f"{len(posts)} tagged posts {more}"
