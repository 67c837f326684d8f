"""The content of the sample's posts: images, captions, re-posts, credits and later days, the same each time."""

from __future__ import annotations

import io
import re
from datetime import timedelta

import pytest
from PIL import Image

from components.sample.captions import ENDS, INTROS, MALFORMED
from components.sample.entities import BASE
from components.sample.images import CHANGES, render, size_of
from components.sample.material import materials
from components.sample.plan import handle_of
from components.sample.posts import PostsSite
from components.sample.statuses import TODAY
from tests.sample.posts_client import TIMELINE, ask, follow


def test_material_is_every_image_with_a_portuguese_description_author_and_licence(root):
    result = {material.key: material for material in materials(root)}
    assert list(result) == sorted(result)
    by_name = {key.rpartition("/")[2]: material for key, material in result.items()}
    assert not {"a.png", "tiny.png", "foreign.png", "one.webp", "bridge.webp", "unnamed1.webp"} & set(by_name)
    assert len([name for name in by_name if name.endswith(".png")]) == 150
    tower = by_name["tower.webp"]
    assert (tower.title, tower.text) == ('Grande "Torre"', "Uma torre junto ao rio, construída em 1500.")
    hammer, other = by_name["hammer1.webp"], by_name["hammer3.webp"]
    assert (hammer.text, hammer.author, hammer.kind) == ("martelo", "João Sá", "photo") and "CC-BY-SA-3.0" in hammer.credit
    assert other.author == "" and "GPL-3+" in other.credit
    assert by_name["005.png"].author == "Ana Lúcia Reis" and by_name["001.png"].speech is not None
    assert by_name["Mill_background.webp"].text == "Moinho de vento na Dinamarca"


@pytest.mark.long
def test_files_match_their_attachments_and_deleted_ones_are_404(site):
    kinds, formats = set(), set()
    for page in follow(site, f"{TIMELINE}?limit=40"):
        for status in page:
            post = site.plan.posts[int(status["id"])]
            assert len(status["media_attachments"]) == len(post.images)
            for media, image in zip(status["media_attachments"], post.images, strict=True):
                reply = site.answer(media["url"].removeprefix(BASE))
                kinds.add((media["type"], reply.status))
                if reply.status == 404:
                    assert image.missing or site.plan.owners[post.owner].gone
                elif media["type"] == "image":
                    with Image.open(io.BytesIO(reply.body)) as shown:
                        shown.load()
                        formats.add(shown.format)
                        assert reply.type == f"image/{shown.format.lower()}"
                        assert shown.size == (media["meta"]["original"]["width"], media["meta"]["original"]["height"])
    assert {("image", 200), ("image", 404), ("video", 404), ("gifv", 200), ("audio", 200)} <= kinds
    assert {"JPEG", "WEBP", "PNG"} <= formats


@pytest.mark.long
@pytest.mark.parametrize("change", ["", *CHANGES])
def test_a_changed_image_has_the_stated_size_and_equal_bytes_each_time(root, change):
    for material in (materials(root)[0], next(each for each in materials(root) if each.key.endswith("tower.webp"))):
        data = render(material, change, "seed", ".jpg", "@quem")
        assert data == render(material, change, "seed", ".jpg", "@quem") and (data != render(material)) == bool(change)
        with Image.open(io.BytesIO(data)) as shown:
            assert shown.size == size_of(material, change)


def test_the_true_description_stands_in_the_caption_after_its_introduction(site):
    forms: dict[str, int] = {}
    for post in site.plan.posts.values():
        form, description = post.caption.form, post.caption.truth
        forms[form] = forms.get(form, 0) + 1
        if description is not None:
            before, result, after = post.caption.text.partition(post.caption.intro.partition("{d}")[0] + description)
            assert result and not re.search(r"(?i)#pracegover", before), post.caption.text
            assert post.caption.end or not re.search(r"[a-zà-ú]{3} [a-zà-ú]{3}", after), "prose follows that nothing tells apart"
    malformed = sum(forms.get(form, 0) for form in MALFORMED)
    assert 0.04 < malformed / len(site.plan.posts) < 0.15 and forms["described"] > 5 * malformed
    assert {"untagged", "empty"} <= set(forms)
    assert all(text.count("{d}") == 1 for text, _ in INTROS) and len(ENDS) > 5


def test_re_posts_are_later_than_their_original_and_most_keep_its_caption(site):
    posts = site.plan.posts
    again = [post for post in posts.values() if post.original]
    assert 0.25 < len(again) / len(posts) < 0.55
    changes = set()
    for post in again:
        first = posts[post.original]
        assert first.posted < post.posted and first.images[0].material == post.images[0].material and not first.original
        changes.add(post.images[0].change)
        if not post.other_caption and first.caption.truth:
            one, other = (set(each.caption.description.split()) for each in (first, post))
            assert len(one ^ other) <= 2
    assert changes == {"", *CHANGES}
    assert {post.owner for post in again} - {posts[post.original].owner for post in again}


def test_no_post_shows_another_authors_image(site):
    people = {handle_of(post.images[0].material.author) for post in site.plan.posts.values() if post.images} - {"conta"}
    assert {"joao_sa", "ana_lucia_reis"} <= people
    for post in site.plan.posts.values():
        for image in post.images:
            if post.owner in people:
                assert handle_of(image.material.author) == post.owner


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


def test_a_later_day_adds_posts_deletes_one_and_makes_one_account_private(root, site):
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
