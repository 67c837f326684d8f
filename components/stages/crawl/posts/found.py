"""Accounts and posts as pages and images of the crawl, each with its ledger row. Not in scope: judging images (``records``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from components.core.ledger import dropped, kept
from components.stages.crawl.posts.post import Media, Post, apply_rules
from components.stages.crawl.posts.state import Owner
from components.stages.crawl.sources.found import SourcePage, candidate_key, record_key
from components.web.html.figures import CAPTION_LIMIT
from components.web.html.page import Candidate
from components.web.urls import normalise


def account_key(owner: Owner) -> str:
    """The key of an account's ledger row: its web address, or where that is none, its name."""
    return normalise(owner.account.url) or f"account:{owner.account.name}"


def post_key(post: Post, owner: str) -> str:
    """The key of a post's ledger row: its web address, or where that is none, its owner and identifier."""
    return normalise(post.url) or f"post:{owner}/{post.identifier}"


def post_to_page(post: Post, owner: str) -> SourcePage:
    """A post with its images, without a ledger row; an image's ``position`` is its place among the attachments."""
    url = normalise(post.url) or ""
    images = [_candidate(post, media, at) for at, media in enumerate(post.media) if media.kind == "image"]
    about = {"owner": owner, "post": post.identifier, "posted": post.posted, "collected": post.collected}
    return SourcePage(None, images, url, post.language, **about)  # type: ignore[arg-type]


def account_to_pages(owner: Owner, tags: Sequence[str]) -> Iterator[SourcePage]:
    """An account's row, then its posts by date, each with its images; then what went with the account."""
    account, name = owner.account, owner.account.name
    if account.rule:
        detail = f"{name}, {len([1 for kind, _ in owner.withdrawn if kind == 'record'])} records withdrawn"
        yield SourcePage(dropped(account_key(owner), account.rule, account.value, account.threshold, kind="page", detail=detail))
    else:
        yield SourcePage(kept(account_key(owner), kind="page", detail=f"{name}, {owner.note}"))
    if owner.problem[0]:
        yield SourcePage(dropped(f"listing:{name}", *owner.problem, kind="page", detail=f"{name}: not read whole"))
    for post in owner.posts:
        yield from post_to_pages(apply_rules(post, tags), name)
    for kind, key in owner.withdrawn:
        yield SourcePage(dropped(key, account.rule, account.value, account.threshold, kind=kind, detail=f"of {name}"))


def post_to_pages(post: Post, owner: str) -> Iterator[SourcePage]:
    """A judged post with its images; an attachment that is no image has a row of its own."""
    key, place = post_key(post, owner), f"post {post.identifier} of {owner}"
    if post.rule:
        yield SourcePage(dropped(key, post.rule, post.value, post.threshold, kind="page", detail=place))
        return
    page = post_to_page(post, owner)
    if not page.url:
        yield SourcePage(dropped(key, "unusable_url", post.url[:200], "http or https", kind="page", detail=place))
        return
    yield replace(page, row=kept(page.url, kind="page", detail=f"{len(page.candidates)} images, {place}"))
    for number, media in enumerate(post.media):
        if media.kind != "image":
            row = dropped(
                _other_key(post, media, number), media.kind, media.kind, "an image", detail=f"{media.url[:300]} on {page.url}"
            )
            yield SourcePage(row)


def drop_repeated(page: SourcePage, seen: set[tuple[str, str]]) -> SourcePage:
    """``page``; where its row's key was used before, under another key and without images: one address, one post."""
    if page.row is None:
        return page
    row, number = page.row, 1
    while (row["kind"], row["key"]) in seen:
        number += 1
        row = {**page.row, "key": f"{page.row['key']}#{number}"}
    seen.add((row["kind"], row["key"]))
    if row is page.row:
        return page
    if not row["rule"] and page.url:
        row = dropped(row["key"], "duplicate_post", page.url, "the first by owner and date", kind="page", detail=row["detail"])
    return replace(page, row=row, candidates=[])


def list_row_keys(owner: Owner, tags: Sequence[str]) -> Iterator[tuple[str, str]]:
    """(kind, key) of every ledger row that the posts of an account give."""
    for post in owner.posts:
        yield "page", post_key(post, owner.account.name)
        if not apply_rules(post, tags).rule:
            page = post_to_page(post, owner.account.name)
            yield from (("record", candidate_key(page, candidate)) for candidate in page.candidates)
            others = [(at, media) for at, media in enumerate(post.media) if media.kind != "image"]
            yield from (("record", _other_key(post, media, at)) for at, media in others)


def _candidate(post: Post, media: Media, place: int) -> Candidate:
    url = normalise(media.url)
    data = media.url.lstrip().lower().startswith("data:")
    return Candidate(url, post.caption, place, media.url[:200], data_uri=data, figcaption=media.alt[:CAPTION_LIMIT])


def _other_key(post: Post, media: Media, place: int) -> str:
    return record_key(normalise(post.url) or "", place, media.url, post.caption)
