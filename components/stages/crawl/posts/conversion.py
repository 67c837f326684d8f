"""Conversion of accounts and posts to source pages with their ledger rows. Out of scope: checking images (``records``)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from components.core.ledger import dropped, kept
from components.stages.crawl.posts.post import Media, Owner, Post, apply_rules
from components.stages.crawl.sources.local_images import file_url
from components.stages.crawl.sources.source_pages import SourcePage, candidate_key, record_key
from components.web.html.context import CAPTION_LIMIT
from components.web.html.page import Candidate
from components.web.urls import normalise


def account_to_pages(owner: Owner, tags: Sequence[str]) -> Iterator[SourcePage]:
    """Yield an account's row, its posts by date with their images, then the rows withdrawn with the account."""
    account, name = owner.account, owner.account.name
    account_key = normalise(account.url) or f"account:{name}"
    if account.rule:
        detail = f"{name}, {len([1 for kind, _ in owner.withdrawn if kind == 'record'])} records withdrawn"
        yield SourcePage.drop(account_key, account.rule, account.value, account.threshold, detail)
    else:
        yield SourcePage(kept(account_key, kind="page", detail=f"{name}, {owner.note}"))
    if owner.problem[0]:
        yield SourcePage.drop(f"listing:{name}", *owner.problem, f"{name}: not read completely")
    for post in owner.posts:
        yield from post_to_pages(apply_rules(post, tags), name)
    for kind, key in owner.withdrawn:
        yield SourcePage(dropped(key, account.rule, account.value, account.threshold, kind=kind, detail=f"of {name}"))


def post_to_pages(post: Post, owner: str) -> Iterator[SourcePage]:
    """Yield a post with applied rules and its images; an attachment that is not an image has its own row.

    An image's ``position`` is its index among the attachments.
    """
    url, location = normalise(post.url), f"post {post.identifier} of {owner}"
    key = url or f"post:{owner}/{post.identifier}"
    if post.rule:
        yield SourcePage.drop(key, post.rule, post.value, post.threshold, location)
        return
    if url is None:
        yield SourcePage.drop(key, "unusable_url", post.url[:200], "http or https", location)
        return
    images = [_candidate(post, media, index) for index, media in enumerate(post.media) if media.kind == "image"]
    row = kept(url, kind="page", detail=f"{len(images)} images, {location}")
    page = SourcePage(row, images, url, post.language, owner=owner, post=post.identifier)
    yield replace(page, posted=post.posted, collected=post.collected)
    for number, media in enumerate(post.media):
        if media.kind != "image":
            detail = f"{media.url[:300]} on {url}"
            key = record_key(url, number, media.url, post.caption)
            yield SourcePage(dropped(key, media.kind, media.kind, "an image", detail=detail))


def drop_repeated(page: SourcePage, seen: set[tuple[str, str]]) -> SourcePage:
    """Return ``page``; if its row's key was used before, a row with a new key and no images: one address is one post."""
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
    """Yield (kind, key) of every ledger row that the posts of an account produce."""
    for post in owner.posts:
        for page in post_to_pages(apply_rules(post, tags), owner.account.name):
            if page.row is not None:
                yield page.row["kind"], page.row["key"]
            yield from (("record", candidate_key(page, candidate)) for candidate in page.candidates)


def _candidate(post: Post, media: Media, location: int) -> Candidate:
    url = file_url(media.file) if media.file else normalise(media.url)
    data = not media.file and media.url.lstrip().lower().startswith("data:")
    spelled = (media.file or media.url)[:200]
    return Candidate(url, post.caption, location, spelled, data_uri=data, figcaption=media.alt[:CAPTION_LIMIT])
