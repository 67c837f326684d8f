"""The sample's server of posts answers as Mastodon's does."""

from __future__ import annotations

import json
import re
import urllib.request
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.sample.entities import BASE, content_of
from components.sample.serving import SampleWeb
from tests.sample.posts_client import TIMELINE, ask, follow, text_of


def test_the_timeline_holds_every_public_post_of_the_tag_newest_first_in_pages_of_at_most_forty(site):
    pages = follow(site, f"{TIMELINE}?limit=100")
    assert all(len(page) == 40 for page in pages[:-1]) and 0 <= len(pages[-1]) <= 40
    statuses = [status for page in pages for status in page]
    numbers = [int(status["id"]) for status in statuses]
    assert numbers == sorted(set(numbers), reverse=True)
    assert [status["created_at"] for status in statuses] == sorted((each["created_at"] for each in statuses), reverse=True)
    expected = {
        post.number
        for post in site.plan.posts.values()
        if post.visibility == "public" and re.search(r"(?i)(?<!\w)#pracegover(?!\w)", post.caption.text)
    }
    assert set(numbers) == expected and len(expected) > 150
    assert (
        ask(site, "/api/v1/timelines/tag/PraCegoVer?limit=3") == statuses[:3] and ask(site, "/api/v1/timelines/tag/outra") == []
    )
    assert len(ask(site, TIMELINE)) == 20 == len(ask(site, f"{TIMELINE}?limit=dez"))


def test_pages_link_back_and_newer_posts_can_be_requested(site):
    numbers = [status["id"] for page in follow(site, f"{TIMELINE}?limit=40") for status in page]
    assert [status["id"] for status in ask(site, f"{TIMELINE}?max_id={numbers[9]}&limit=5")] == numbers[10:15]
    assert [status["id"] for status in ask(site, f"{TIMELINE}?min_id={numbers[30]}&limit=5")] == numbers[25:30]
    assert [status["id"] for status in ask(site, f"{TIMELINE}?since_id={numbers[30]}&limit=5")] == numbers[:5]
    back = follow(site, f"{TIMELINE}?min_id={numbers[-1]}&limit=40", rel="prev")
    assert sorted((status["id"] for page in back for status in page), reverse=True) == numbers[:-1]


def test_a_status_contains_the_caption_as_html_that_reads_back_equal(site):
    for page in follow(site, f"{TIMELINE}?limit=40"):
        for status in page:
            post = site.plan.posts[int(status["id"])]
            assert text_of(status["content"]) == post.caption.text
            assert {tag["name"] for tag in status["tags"]} >= {"pracegover"}
            assert status["account"]["acct"] == post.owner and status["url"] == f"{BASE}/@{post.owner}/{post.number}"
            assert (":libras:" in post.caption.text) == bool(status["emojis"])


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")) | st.sampled_from(list("\n#@&<>\"' ./:ah")), max_size=60))
def test_any_caption_reads_back_from_its_html(text):
    text = re.sub(r"\n{3,}", "\n\n", text).strip("\n")
    assert text_of(content_of(text, {})) == text


def test_an_account_is_looked_up_by_name_and_number_and_lists_its_posts_by_tag(site):
    owner = max(site.plan.owners.values(), key=lambda owner: len(site.plan.of(owner.handle)))
    result = ask(site, f"/api/v1/accounts/lookup?acct={owner.handle}@posts.sample")
    assert result == ask(site, f"/api/v1/accounts/{owner.number}") and result["id"] == str(owner.number)
    assert result["locked"] is False and isinstance(result["created_at"], str)
    pages = follow(site, f"/api/v1/accounts/{owner.number}/statuses?limit=7&tagged=PraCegoVer&exclude_reblogs=true")
    statuses = [status for page in pages for status in page]
    assert {status["account"]["id"] for status in statuses} == {str(owner.number)}
    whole = {
        each["id"] for page in follow(site, f"{TIMELINE}?limit=40") for each in page if each["account"]["id"] == str(owner.number)
    }
    assert whole <= {status["id"] for status in statuses} and len(statuses) == len({status["id"] for status in statuses})
    assert ask(site, "/api/v1/accounts/lookup?acct=ninguem", 404) == ask(site, "/api/v1/accounts/12/statuses", 404)


def test_boosts_are_marked_and_excluded_on_request(site):
    boosted = next(post for post in site.plan.posts.values() if post.boosts)
    number = site.plan.owners[boosted.owner].number
    statuses = [status for page in follow(site, f"/api/v1/accounts/{number}/statuses?limit=40") for status in page]
    passed_on = next(status for status in statuses if status["id"] == str(boosted.number))
    assert passed_on["reblog"]["id"] == str(boosted.boosts) and passed_on["reblog"]["account"] != passed_on["account"]
    without = follow(site, f"/api/v1/accounts/{number}/statuses?limit=40&exclude_reblogs=1")
    assert all(status["reblog"] is None for page in without for status in page)


def test_posts_for_followers_only_are_served_nowhere(site):
    hidden = [post for post in site.plan.posts.values() if post.visibility == "private"]
    assert len(hidden) >= 2
    for post in hidden:
        ask(site, f"/api/v1/statuses/{post.number}", 404)
        assert site.answer(f"/@{post.owner}/{post.number}").status == 404
        for image in post.images:
            assert site.answer(f"/media/{image.number}/original.jpg").status == 404
    listed = [
        status["id"]
        for owner in site.plan.owners.values()
        if not owner.gone
        for page in follow(site, f"/api/v1/accounts/{owner.number}/statuses?limit=40")
        for status in page
    ]
    assert not {str(post.number) for post in hidden} & set(listed) and len(listed) > 150


def test_private_noindex_and_deleted_accounts_are_marked(site):
    owners = site.plan.owners.values()
    (locked, *_), (shy, *_), (gone, *_) = (
        [owner for owner in owners if getattr(owner, what)] for what in ("locked", "noindex", "gone")
    )
    assert ask(site, f"/api/v1/accounts/{locked.number}")["locked"] is True
    assert len(ask(site, f"/api/v1/accounts/{locked.number}/statuses")) <= 1
    account = ask(site, f"/api/v1/accounts/{shy.number}")
    assert account["noindex"] is True and account["indexable"] is False
    assert b'content="noindex"' in site.answer(f"/@{shy.handle}").body
    for path in (str(gone.number), f"{gone.number}/statuses", f"lookup?acct={gone.handle}"):
        ask(site, f"/api/v1/accounts/{path}", 410)
    assert site.answer(f"/@{gone.handle}").status == 410


def test_pages_credit_the_image_and_agree_with_the_api(site):
    status = next(each for each in ask(site, f"{TIMELINE}?limit=40") if each["media_attachments"] and not each["reblog"])
    page = site.answer(status["url"].removeprefix(BASE)).body.decode()
    post = site.plan.posts[int(status["id"])]
    assert status["content"] in page and unescape(page).count(post.images[0].material.credit) == 1
    assert status["media_attachments"][0]["url"].removeprefix(BASE) in page
    assert status["url"].encode() in site.answer("/tags/pracegover").body
    assert f"/@{post.owner}".encode() in site.answer("/").body


def test_a_client_reads_the_timeline_over_http_through_the_proxy(site):
    with SampleWeb(hosts={"posts.sample": site}) as web:
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({"http": web.proxy}))
        with opener.open(f"{BASE}{TIMELINE}?limit=2") as reply:
            assert len(json.load(reply)) == 2 and reply.headers["Content-Type"].startswith("application/json")
            assert 'rel="next"' in reply.headers["Link"] and 'rel="prev"' in reply.headers["Link"]
            assert int(reply.headers["X-RateLimit-Remaining"]) < int(reply.headers["X-RateLimit-Limit"])
            tag = reply.headers["ETag"]
        again = urllib.request.Request(f"{BASE}{TIMELINE}?limit=2", headers={"If-None-Match": tag})
        with pytest.raises(urllib.error.HTTPError, match="304"):
            opener.open(again)


@pytest.mark.parametrize("target", ["/nothing", "/@", "/media/1/original.jpg", "/media/x/y", "/%2e%2e/etc/passwd", "/@a/1", ""])
def test_an_unknown_path_is_404_and_an_empty_one_the_front_page(site, target):
    assert site.answer(target).status == (200 if target == "" else 404)


@given(st.text(max_size=40), st.text(max_size=20))
def test_every_request_has_a_valid_status(site, path, query):
    for target in (
        f"/{path}",
        f"{TIMELINE}?limit={query}&max_id={query}",
        f"/api/v1/accounts/lookup?acct={query}",
        f"/tags/{path}",
    ):
        assert site.answer(target).status in (200, 404, 410)


def test_a_trailing_slash_changes_no_address(site):
    # Mastodon.py asks for /api/v1/instance/
    assert site.answer("/api/v1/instance/") == site.answer("/api/v1/instance") and site.answer("/api/v1/instance/").status == 200
