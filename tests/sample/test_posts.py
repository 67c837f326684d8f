"""The sample's server of posts answers as Mastodon's does, from described pictures, the same way each time."""

from __future__ import annotations

import io
import json
import re
import urllib.request
from datetime import timedelta
from html import unescape
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from components.core.errors import HearsightError
from components.sample.captions import ENDS, INTROS, MALFORMED
from components.sample.entities import BASE, content_of
from components.sample.material import materials
from components.sample.pictures import CHANGES, render, size_of
from components.sample.plan import handle_of
from components.sample.posts import PostsSite
from components.sample.qt import resources, translations
from components.sample.serving import SampleWeb
from components.sample.statuses import TODAY
from tests.sample.posts_material import build_packages, qm, rcc

TIMELINE = "/api/v1/timelines/tag/pracegover"


@pytest.fixture(scope="module")
def root(tmp_path_factory) -> Path:
    return build_packages(tmp_path_factory.mktemp("posts"))


@pytest.fixture(scope="module")
def site(root) -> PostsSite:
    return PostsSite(root)


def ask(site, target, status=200):
    reply = site.answer(target.removeprefix(BASE))
    assert reply.status == status, target
    return json.loads(reply.body)


def follow(site, target, rel="next"):
    """All pages from ``target`` on, as lists of statuses."""
    pages = []
    while target:
        reply = site.answer(target.removeprefix(BASE))
        assert reply.status == 200, target
        pages.append(json.loads(reply.body))
        found = re.search(rf'<([^>]+)>; rel="{rel}"', reply.headers.get("Link", ""))
        target = found[1] if found else ""
    return pages


def text_of(content):
    """Mastodon's HTML as text."""
    content = content.replace("</p><p>", "\n\n").replace("<br />", "\n")
    return unescape(re.sub(r"<[^>]*>", "", content))


def test_material_is_what_somebody_described_in_portuguese_with_its_author_and_licence(root):
    found = {material.key: material for material in materials(root)}
    assert list(found) == sorted(found)
    by_name = {key.rpartition("/")[2]: material for key, material in found.items()}
    assert not {"a.png", "tiny.png", "foreign.png", "one.webp", "bridge.webp", "unnamed1.webp"} & set(by_name)
    assert len([name for name in by_name if name.endswith(".png")]) == 150
    tower = by_name["tower.webp"]
    assert (tower.title, tower.text) == ('Grande "Torre"', "Uma torre junto ao rio, construída em 1500.")
    hammer, other = by_name["hammer1.webp"], by_name["hammer3.webp"]
    assert (hammer.text, hammer.author, hammer.kind) == ("martelo", "João Sá", "photo") and "CC-BY-SA-3.0" in hammer.credit
    assert other.author == "" and "GPL-3+" in other.credit
    assert by_name["005.png"].author == "Ana Lúcia Reis" and by_name["001.png"].speech is not None
    assert by_name["Mill_background.webp"].text == "Moinho de vento na Dinamarca"


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


def test_pages_can_be_followed_back_and_new_posts_asked_for(site):
    numbers = [status["id"] for page in follow(site, f"{TIMELINE}?limit=40") for status in page]
    assert [status["id"] for status in ask(site, f"{TIMELINE}?max_id={numbers[9]}&limit=5")] == numbers[10:15]
    assert [status["id"] for status in ask(site, f"{TIMELINE}?min_id={numbers[30]}&limit=5")] == numbers[25:30]
    assert [status["id"] for status in ask(site, f"{TIMELINE}?since_id={numbers[30]}&limit=5")] == numbers[:5]
    back = follow(site, f"{TIMELINE}?min_id={numbers[-1]}&limit=40", rel="prev")
    assert sorted((status["id"] for page in back for status in page), reverse=True) == numbers[:-1]


def test_a_status_has_the_caption_as_html_that_reads_back_word_for_word(site):
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


def test_an_account_is_found_by_name_and_number_and_lists_its_posts_by_tag(site):
    owner = max(site.plan.owners.values(), key=lambda owner: len(site.plan.of(owner.handle)))
    found = ask(site, f"/api/v1/accounts/lookup?acct={owner.handle}@posts.sample")
    assert found == ask(site, f"/api/v1/accounts/{owner.number}") and found["id"] == str(owner.number)
    assert found["locked"] is False and isinstance(found["created_at"], str)
    pages = follow(site, f"/api/v1/accounts/{owner.number}/statuses?limit=7&tagged=PraCegoVer&exclude_reblogs=true")
    statuses = [status for page in pages for status in page]
    assert {status["account"]["id"] for status in statuses} == {str(owner.number)}
    whole = {
        each["id"] for page in follow(site, f"{TIMELINE}?limit=40") for each in page if each["account"]["id"] == str(owner.number)
    }
    assert whole <= {status["id"] for status in statuses} and len(statuses) == len({status["id"] for status in statuses})
    assert ask(site, "/api/v1/accounts/lookup?acct=ninguem", 404) == ask(site, "/api/v1/accounts/12/statuses", 404)


def test_boosts_are_told_apart_and_left_out_on_request(site):
    boosted = next(post for post in site.plan.posts.values() if post.boosts)
    number = site.plan.owners[boosted.owner].number
    statuses = [status for page in follow(site, f"/api/v1/accounts/{number}/statuses?limit=40") for status in page]
    passed_on = next(status for status in statuses if status["id"] == str(boosted.number))
    assert passed_on["reblog"]["id"] == str(boosted.boosts) and passed_on["reblog"]["account"] != passed_on["account"]
    without = follow(site, f"/api/v1/accounts/{number}/statuses?limit=40&exclude_reblogs=1")
    assert all(status["reblog"] is None for page in without for status in page)


def test_what_only_followers_may_see_is_served_nowhere(site):
    hidden = [post for post in site.plan.posts.values() if post.visibility == "private"]
    assert len(hidden) >= 2
    for post in hidden:
        ask(site, f"/api/v1/statuses/{post.number}", 404)
        assert site.answer(f"/@{post.owner}/{post.number}").status == 404
        for picture in post.pictures:
            assert site.answer(f"/media/{picture.number}/original.jpg").status == 404
    listed = [
        status["id"]
        for owner in site.plan.owners.values()
        if not owner.gone
        for page in follow(site, f"/api/v1/accounts/{owner.number}/statuses?limit=40")
        for status in page
    ]
    assert not {str(post.number) for post in hidden} & set(listed) and len(listed) > 150


def test_private_shy_and_gone_accounts_say_so(site):
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


def test_files_are_what_the_attachments_say_and_the_deleted_ones_are_not_there(site):
    kinds, formats = set(), set()
    for page in follow(site, f"{TIMELINE}?limit=40"):
        for status in page:
            post = site.plan.posts[int(status["id"])]
            assert len(status["media_attachments"]) == len(post.pictures)
            for media, picture in zip(status["media_attachments"], post.pictures, strict=True):
                reply = site.answer(media["url"].removeprefix(BASE))
                kinds.add((media["type"], reply.status))
                if reply.status == 404:
                    assert picture.missing or site.plan.owners[post.owner].gone
                elif media["type"] == "image":
                    with Image.open(io.BytesIO(reply.body)) as shown:
                        shown.load()
                        formats.add(shown.format)
                        assert reply.type == f"image/{shown.format.lower()}"
                        assert shown.size == (media["meta"]["original"]["width"], media["meta"]["original"]["height"])
    assert {("image", 200), ("image", 404), ("video", 404), ("gifv", 200), ("audio", 200)} <= kinds
    assert {"JPEG", "WEBP", "PNG"} <= formats


@pytest.mark.parametrize("change", ["", *CHANGES])
def test_a_changed_picture_has_the_size_told_and_is_made_the_same_twice(root, change):
    for material in (materials(root)[0], next(each for each in materials(root) if each.key.endswith("tower.webp"))):
        data = render(material, change, "seed", ".jpg", "@quem")
        assert data == render(material, change, "seed", ".jpg", "@quem") and (data != render(material)) == bool(change)
        with Image.open(io.BytesIO(data)) as shown:
            assert shown.size == size_of(material, change)


def test_the_true_description_stands_in_the_caption_after_its_introduction(site):
    forms: dict[str, int] = {}
    for post in site.plan.posts.values():
        truth = site.truth(post.number)
        forms[truth.form] = forms.get(truth.form, 0) + 1
        if truth.description is not None:
            before, found, after = post.caption.text.partition(post.caption.intro.partition("{d}")[0] + truth.description)
            assert found and not re.search(r"(?i)#pracegover", before), post.caption.text
            assert post.caption.end or not re.search(r"[a-zà-ú]{3} [a-zà-ú]{3}", after), "prose follows that nothing tells apart"
    malformed = sum(forms.get(form, 0) for form in MALFORMED)
    assert 0.04 < malformed / len(site.plan.posts) < 0.15 and forms["described"] > 5 * malformed
    assert {"untagged", "empty"} <= set(forms)
    assert all(text.count("{d}") == 1 for text, _ in INTROS) and len(ENDS) > 5


def test_re_posts_come_after_their_original_and_most_keep_its_caption(site):
    posts = site.plan.posts
    again = [post for post in posts.values() if post.original]
    assert 0.25 < len(again) / len(posts) < 0.55
    changes = set()
    for post in again:
        first, truth = posts[post.original], site.truth(post.number)
        assert first.posted < post.posted and first.pictures[0].material == post.pictures[0].material and not first.original
        changes.add(truth.change)
        assert truth.duplicate_of == (None if post.other_caption else first.number)
        if truth.duplicate_of and first.caption.truth:
            one, other = (set(each.caption.description.split()) for each in (first, post))
            assert len(one ^ other) <= 2
    assert changes == {"", *CHANGES}
    assert {post.owner for post in again} - {posts[post.original].owner for post in again}


def test_nobody_is_given_work_that_is_not_theirs(site):
    people = {handle_of(post.pictures[0].material.author) for post in site.plan.posts.values() if post.pictures} - {"conta"}
    assert {"joao_sa", "ana_lucia_reis"} <= people
    for post in site.plan.posts.values():
        for picture in post.pictures:
            if post.owner in people:
                assert handle_of(picture.material.author) == post.owner


def test_pages_credit_the_picture_and_say_what_the_api_says(site):
    status = next(each for each in ask(site, f"{TIMELINE}?limit=40") if each["media_attachments"] and not each["reblog"])
    page = site.answer(status["url"].removeprefix(BASE)).body.decode()
    post = site.plan.posts[int(status["id"])]
    assert status["content"] in page and unescape(page).count(post.pictures[0].material.credit) == 1
    assert status["media_attachments"][0]["url"].removeprefix(BASE) in page
    assert status["url"].encode() in site.answer("/tags/pracegover").body
    assert f"/@{post.owner}".encode() in site.answer("/").body


def test_most_owners_posted_in_the_last_week_and_some_did_not(site):
    newest = max(post.posted for post in site.plan.posts.values())
    assert newest <= TODAY
    seen = {post.owner for post in site.plan.posts.values() if post.posted > newest - timedelta(days=7)}
    everybody = {post.owner for post in site.plan.posts.values()}
    assert 0.6 < len(seen) / len(everybody) < 1.0


def test_equal_packages_give_equal_answers(root, site):
    other = PostsSite(root)
    targets = [f"{TIMELINE}?limit=40", "/api/v2/instance", "/api/v1/instance", "/", "/tags/pracegover", "/robots.txt"]
    targets += [
        media["url"].removeprefix(BASE) for each in ask(site, f"{TIMELINE}?limit=9") for media in each["media_attachments"]
    ]
    targets += [f"/avatars/{each['account']['acct']}.png" for each in ask(site, f"{TIMELINE}?limit=3")] + ["/emoji/libras.png"]
    for target in targets:
        assert site.answer(target) == other.answer(target), target
        assert site.answer(target).status == 404 or site.answer(target).headers["ETag"]


def test_a_day_later_there_are_new_posts_one_less_and_one_more_private_account(root, site):
    later = PostsSite(root, day=2)
    before, after = site.plan.posts, later.plan.posts
    new = set(after) - set(before)
    lost = [before[number] for number in set(before) - set(after)]
    assert len([post for post in lost if not post.boosts]) == 1 and all(after[number].posted > TODAY for number in new)
    assert any(after[number].original for number in new) and any(not after[number].original for number in new)
    turned = [handle for handle, owner in later.plan.owners.items() if owner.locked and not site.plan.owners[handle].locked]
    assert len(turned) == 1
    assert any(post.owner in turned and post.posted > TODAY - timedelta(days=7) for post in before.values())
    for number in set(before) & set(after):
        same = before[number].owner in turned
        assert after[number].visibility == "private" if same else after[number] == before[number]
    first = ask(site, f"{TIMELINE}?limit=1")[0]["id"]
    fresh = [each["id"] for page in follow(later, f"{TIMELINE}?min_id={first}&limit=40", rel="prev") for each in page]
    assert set(map(int, fresh)) <= new and fresh


def test_a_client_reads_it_over_http_by_its_proxy(site):
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
def test_an_address_nobody_has_is_a_page_not_found_or_the_front(site, target):
    assert site.answer(target).status == (200 if target == "" else 404)


@given(st.text(max_size=40), st.text(max_size=20))
def test_no_request_breaks_the_server(site, path, query):
    for target in (
        f"/{path}",
        f"{TIMELINE}?limit={query}&max_id={query}",
        f"/api/v1/accounts/lookup?acct={query}",
        f"/tags/{path}",
    ):
        assert site.answer(target).status in (200, 404, 410)


def test_a_slash_after_an_address_is_no_other_address(site):
    # Mastodon.py asks for /api/v1/instance/
    assert site.answer("/api/v1/instance/") == site.answer("/api/v1/instance") and site.answer("/api/v1/instance/").status == 200


def test_a_missing_package_names_the_command_that_fetches_it(tmp_path):
    with pytest.raises(HearsightError, match=r"tuxpaint-stamps-default is missing.*make data"):
        PostsSite(tmp_path)


FILES = st.dictionaries(
    st.text("abcé./", min_size=1, max_size=8).map(lambda t: "/" + t.replace("/", "_")), st.binary(max_size=50), max_size=6
)


@given(FILES, st.booleans())
def test_a_resource_bundle_reads_back(tmp_path_factory, files, compress):
    nested = {f"/one/two{path}": content for path, content in files.items()} | files
    path = tmp_path_factory.getbasetemp() / "any.rcc"
    path.write_bytes(rcc(nested, compress))
    assert resources(path) == dict(sorted(nested.items()))


@given(st.dictionaries(st.text(min_size=1, max_size=9), st.text(min_size=1, max_size=9), max_size=5), st.integers(0, 200))
def test_translations_read_back_and_broken_ones_are_one_line(tmp_path_factory, said, cut):
    said = {
        source: spoken for source, spoken in said.items() if max(source + spoken) < "\ud800" or max(source + spoken) > "\udfff"
    }
    path = tmp_path_factory.getbasetemp() / "any.qm"
    whole = qm(said)
    path.write_bytes(whole)
    assert translations(path) == said
    path.write_bytes(whole[: min(cut, len(whole) - 1)])
    try:
        assert set(translations(path)) <= set(said)
    except HearsightError as error:
        assert "\n" not in str(error)


@given(st.integers(0, 400), st.integers(0, 255))
def test_a_broken_bundle_is_one_line(tmp_path_factory, place, value):
    whole = bytearray(rcc({"/a/b": b"content" * 9, "/c": b"d"}))
    path = tmp_path_factory.getbasetemp() / "broken.rcc"
    whole[min(place, len(whole) - 1)] = value
    path.write_bytes(bytes(whole[: max(1, len(whole) - place // 8)]))
    try:
        resources(path)
    except HearsightError as error:
        assert "\n" not in str(error)
