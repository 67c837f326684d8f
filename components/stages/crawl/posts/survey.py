"""Both collection phases over one snapshot: who used the tag, and what each known account has posted with it.

The result is a function of the stored answers and the base state; times are those of the answers. What is unavailable for a
transient reason is taken from the base state; what an account or its server refuses is withdrawn.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from components.core.hashtags import match_hashtag
from components.stages.crawl.posts.conversion import list_row_keys
from components.stages.crawl.posts.post import WITHDRAWING, Account, Owner, Post, State
from components.stages.crawl.posts.provider import Calls, Provider, Search, window_start
from components.stages.crawl.source_settings import PostsSettings
from components.web.answers import NotFetched
from components.web.conditional_fetch import parse_moment
from components.web.consent.policy import RULES
from components.web.takedown_list import Takedown
from components.web.urls import normalise

T = TypeVar("T")
R = TypeVar("R")
Ensure = Callable[[Collection[str], str], None]
"""Called with the API addresses needed and a description; afterwards the store holds an answer for each."""
ACCOUNTS_AT_ONCE = 64
"""Accounts visited concurrently."""


def run_together(items: Iterable[T], work: Callable[[T], R], ensure: Ensure | None, desc: str) -> Iterator[tuple[T, R]]:
    """Yield each item with the result of ``work``, in order; answers missing for any items are requested together.

    Raises:
        NotFetched: an answer is missing and ``ensure`` is None.
    """
    pending, done = list(items), dict[int, R]()
    while len(done) < len(pending):
        needed: set[str] = set()
        for number, item in enumerate(pending):
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
    yield from ((item, done[number]) for number, item in enumerate(pending))


@dataclass
class Survey:
    """The survey of one snapshot."""

    _provider: Provider
    _calls: Calls
    _base_state: State
    """Accounts and posts known to the base snapshots."""
    _settings: PostsSettings
    _taken: Takedown
    """Takedown list; its accounts are never requested."""
    _held: Callable[[str], bool]
    """Returns whether the base snapshot holds an image for an address."""
    search: Search = field(default_factory=Search)
    """Result of the first phase."""
    listed_owners: list[str] = field(default_factory=list)
    """Names of taken-down accounts, in order; they are not visited."""
    untagged: set[str] = field(default_factory=set)
    """Web addresses of listed posts without the tag in their captions; a timeline may list them for a tag in a comment."""

    def run(self, ensure: Ensure | None) -> State:
        """Run both phases, fetching through ``ensure``, and return the new state; raises NotFetched without ``ensure``."""
        for _, result in run_together([None], lambda _: self._provider.search(self._calls), ensure, "the hashtag's timeline"):
            self.search = result
        names = sorted({*self.search.accounts, *self._base_state.owners, *self._named_accounts()})
        self.listed_owners = [name for name in names if self._taken.owner(name)]
        state, visited = State(), [name for name in names if not self._taken.owner(name)]
        for start in range(0, len(visited), ACCOUNTS_AT_ONCE):
            group = visited[start : start + ACCOUNTS_AT_ONCE]
            desc = f"accounts {start + 1} to {start + len(group)} of {len(visited)}"
            for name, owner in run_together(group, self._visit, ensure, desc):
                state.owners[name] = owner
        return state

    def _named_accounts(self) -> list[str]:
        names = (name.strip().lstrip("@") for name in self._settings.accounts)
        return [self._provider.normalise_name(name) for name in names if name]

    def _visit(self, name: str) -> Owner:
        base_owner = self._base_state.owners.get(name) or Owner(Account(name))
        account = self.search.accounts.get(name)
        if account is None:
            account = self._provider.account(self._calls, base_owner.account)
        if self._calls.opt_in and not account.rule and not (account.consents or self._calls.agrees(self._provider.api.prefix)):
            account = replace(account, rule="no_consent", value="said nothing", threshold="a yes")
        if withdraws_posts(account.rule, account.value):
            return self._withdrawn(base_owner, account)
        if account.rule:
            problem = (account.rule, account.value, account.threshold)
            last_account = replace(base_owner.account, url=base_owner.account.url or account.url, rule="", value="", threshold="")
            # A withdrawn account stays withdrawn until a successful answer lifts it.
            if base_owner.account.rule:
                return replace(base_owner, problem=problem, note="")
            return replace(base_owner, account=last_account, problem=problem, note=_listing_note(base_owner.posts, "as before"))
        return self._listed(base_owner, account)

    def _withdrawn(self, base_owner: Owner, account: Account) -> Owner:
        row_keys = base_owner.withdrawn or [*dict.fromkeys(list_row_keys(base_owner, self._settings.tags))]
        return Owner(account, first=base_owner.first, withdrawn=row_keys)

    def _listed(self, base_owner: Owner, account: Account) -> Owner:
        """Return the account with its listed posts, completed by those of the base state where pages were not read."""
        listed_posts: dict[str, Post] = {}
        cutoffs: list[str] = []
        problem, started, newest, seen = ("", "", ""), "", base_owner.newest, 0
        for listing in self._provider.listings(self._calls, account):
            oldest_seen = ""
            for page in listing:
                started = started or page.fetched
                if page.rule:
                    if withdraws_posts(page.rule, page.value):
                        return self._withdrawn(
                            base_owner, replace(account, rule=page.rule, value=page.value, threshold=page.threshold)
                        )
                    problem = (page.rule, page.value, page.threshold)
                    cutoffs.append(oldest_seen or "9999")
                    break
                seen += len(page.posts)
                for post in page.posts:
                    if post.posted and (not oldest_seen or post.posted < oldest_seen):
                        oldest_seen = post.posted
                    newest = max(newest, post.posted)
                    if not self._is_tagged(post):
                        self.untagged.add(normalise(post.url) or "")
                    elif post.identifier not in listed_posts:
                        listed_posts[post.identifier] = self._with_base_data(post, base_owner, page.fetched)
                if page.posts and oldest_seen and oldest_seen <= base_owner.newest and not self._relist_due(base_owner, started):
                    cutoffs.append(oldest_seen)
                    break
        cutoff = max(cutoffs, default="")
        carried = [post for post in base_owner.posts if post.identifier not in listed_posts and cutoff and post.posted < cutoff]
        posts = sorted([*listed_posts.values(), *carried], key=lambda post: (post.posted, post.identifier))
        first = base_owner.first | {post.identifier: post.collected for post in posts}
        listed_at = started if not cutoffs else base_owner.listed
        note = _listing_note(posts, f"of {seen} listed" + (f", {len(carried)} as before" if carried else ""))
        return Owner(account, posts, first, listed_at, newest, note=note, problem=problem)

    def _is_tagged(self, post: Post) -> bool:
        """Return whether a post has the tag; untagged posts of unfiltered listings are ignored."""
        return self._provider.tagged_only or bool(post.rule) or match_hashtag(post.caption, tuple(self._settings.tags)) != ""

    def _with_base_data(self, post: Post, base_owner: Owner, fetched: str) -> Post:
        """Return a post with its time of collection and, where addresses expire, the addresses its images were fetched from."""
        post = replace(post, collected=base_owner.first.get(post.identifier) or fetched)
        if not self._provider.urls_expire:
            return post
        base_urls = {
            media.identifier: media.url
            for base_post in base_owner.posts
            if base_post.identifier == post.identifier
            for media in base_post.media
        }
        kept = tuple(
            replace(media, url=base_urls[media.identifier])
            if media.kind == "image" and self._held(normalise(base_urls.get(media.identifier, "")) or "")
            else media
            for media in post.media
        )
        return replace(post, media=kept)

    def _relist_due(self, base_owner: Owner, started: str) -> bool:
        days = self._settings.relist_days
        return not days or not base_owner.listed or parse_moment(base_owner.listed) <= window_start(started, days)


def withdraws_posts(rule: str, value: str) -> bool:
    """Return whether an account's rule withdraws its posts: a refusal, not a transient failure."""
    if rule == "robots":
        return not value.startswith("robots.txt:")  # robots.txt could not be fetched
    return rule in WITHDRAWING or rule in RULES


def _listing_note(posts: Sequence[Post], source: str) -> str:
    return f"{len(posts)} tagged posts {source}"
