"""Plan who posts what and when on the sample's server: owners, originals, re-posts, and unusual posts as on a real server.

An original shows one material, posted by its author where the package names one, else by a collection's account. Re-posts are by
collections and invented institutions. Draws are keyed by material, so one material more changes little else. Day 2 is day 1 with
new posts, one post deleted and one account turned private.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import timedelta

from components.core.seeded_rng import seeded_rng
from components.sample.captions import Caption, again, otherwise, write
from components.sample.images import CHANGES
from components.sample.material import GCOMPRIS, Material
from components.sample.statuses import RECENT, START, TODAY, Owner, Plan, Post, PostImage, moment, number_of

ABSENT = 0.1
"""Share of the owners who have no post of the last days."""


def recent(posts: list[Post]) -> list[Post]:
    """Move a post of nearly every owner into the days before :data:`TODAY`: the last one without a re-post."""
    last: dict[str, Post] = {}
    originals = {post.original for post in posts}
    for post in posts:
        if post.posted <= TODAY and post.number not in originals:
            last[post.owner] = max(last.get(post.owner, post), post, key=lambda each: each.number)
    moved: dict[int, Post] = {}
    for owner, post in sorted(last.items()):
        if seeded_rng(owner, "absent").random() >= ABSENT and post.posted < TODAY - RECENT:
            posted = moment(f"{owner} recently", TODAY - RECENT, TODAY - timedelta(minutes=10), 1.0)
            number = number_of(posted, f"{owner} recently")
            images = tuple(replace(image, number=number + 1 + order) for order, image in enumerate(post.images))
            moved[post.number] = replace(post, number=number, posted=posted, images=images)
    return [moved.get(post.number, post) for post in posts]


_ODD = (
    ("no picture", 8), ("video", 3), ("gifv", 2), ("audio", 3), ("deleted picture", 6), ("empty", 5), ("untagged", 40),
    ("private", 10), ("unlisted", 4), ("sensitive", 4),
)  # fmt: skip
"""Kind of unusual post → number in 1,400 posts; at least two."""


def odd(posts: list[Post]) -> list[Post]:
    """Change some posts without re-posts into unusual ones (:data:`_ODD`)."""
    repeated = {post.original for post in posts}
    free = sorted(
        (post for post in posts if not post.original and post.number not in repeated and post.posted <= TODAY),
        key=lambda post: seeded_rng(post.images[0].material.key, "odd").random(),
    )
    changed: dict[int, Post] = {}
    speaking = [post for post in free if post.images[0].material.speech]
    for what, many in _ODD:
        among = speaking if what == "audio" else free
        for post in [post for post in among if post.number not in changed][: max(2, round(many * len(posts) / 1400))]:
            changed[post.number] = _made_odd(post, what)
    return [changed.get(post.number, post) for post in posts]


def _made_odd(post: Post, what: str) -> Post:
    material, shown = post.images[0].material, post.images[0]
    if what == "no picture":
        return replace(post, images=())
    if what in ("video", "gifv", "audio"):
        return replace(post, images=(replace(shown, kind=what, missing=what == "video"),))
    if what == "deleted picture":
        return replace(post, images=(replace(shown, missing=True),))
    if what in ("empty", "untagged"):
        return replace(post, caption=write(material, material.key, f"@{post.owner}", what))
    return replace(post, sensitive=True) if what == "sensitive" else replace(post, visibility=what)


def boosts(posts: list[Post], handles: Sequence[str]) -> list[Post]:
    """Return boosts: posts that institutions pass on without text."""
    public = sorted((post for post in posts if post.visibility == "public" and post.posted < TODAY), key=lambda post: post.number)
    empty = Caption("empty", "", "", "", "", "")
    passed = []
    for post in public[:: max(1, len(public) // 30)]:
        key = f"boost {post.number}"
        posted = moment(key, post.posted + timedelta(minutes=5), TODAY, 2.0)
        passed.append(
            Post(
                number_of(posted, key),
                seeded_rng(key, "owner").choice([handle for handle in handles if handle != post.owner]),
                posted,
                empty,
                (),
                boosts=post.number,
            )
        )
    return passed


def accounts(
    owners: dict[str, Owner], posts: list[Post], collections: tuple[str, ...], day: int
) -> tuple[dict[str, Owner], list[Post]]:
    """Return owners and posts with 2 private, 2 opted-out and 2 deleted accounts; day 2: 1 more private, 1 post deleted."""
    count: dict[str, int] = {}
    for post in posts:
        count[post.owner] = count.get(post.owner, 0) + 1
    # Only invented accounts that the seven-day timeline shows are chosen, never authors of images.
    seen = {post.owner for post in posts if TODAY - RECENT < post.posted <= TODAY and post.visibility == "public"}
    open_to = [handle for handle in owners if handle.startswith(collections) and 2 <= count.get(handle, 0) <= 15]
    ranked = sorted(seen.intersection(open_to), key=lambda handle: (seeded_rng(handle, "account").random(), handle))
    private, noindex, gone, turning = ranked[:2], ranked[2:4], ranked[4:6], ranked[6:7]
    changed = dict(owners)
    changed |= {handle: replace(owners[handle], locked=True) for handle in private + (turning if day > 1 else [])}
    changed |= {handle: replace(owners[handle], noindex=True) for handle in noindex}
    changed |= {handle: replace(owners[handle], gone=True) for handle in gone}
    newest = {handle: max(post.number for post in posts if post.owner == handle and post.posted <= TODAY) for handle in private}
    kept = []
    for post in posts:
        # One post of a private account stays public, as if posted before the account became private.
        hidden = post.owner in private and post.number != newest[post.owner]
        kept.append(replace(post, visibility="private") if hidden or (post.owner in turning and day > 1) else post)
    if day > 1:
        repeated = {post.original for post in kept}
        deletable = sorted(post.number for post in kept if _deletable(post) and post.number not in repeated)
        kept = [post for post in kept if not {post.number, post.boosts} & set(deletable[-1:])]
    return changed, kept


def _deletable(post: Post) -> bool:
    return (
        post.posted <= TODAY
        and post.visibility == "public"
        and not post.original
        and post.caption.form == "described"
        and bool(post.images)
    )


COPIED, MOST_COPIES = 0.33, 8
"""Share of the originals that are re-posted, and the most re-posts of one."""
OTHER_CAPTION = 0.22
"""Share of the re-posts with another caption, which are no duplicates (PCV definition 3)."""
SMALL = 4
"""Themes with fewer materials share one account."""
INSTITUTIONS = tuple(
    f"{what} {of}"
    for of in ("da Amostra", "do Exemplo", "do Modelo")
    for what in ("Biblioteca", "Museu", "Escola", "Rádio", "Prefeitura", "Câmara", "Projeto", "Instituto")
)
"""Invented names, modelled on the accounts that use the tag; the first ones post most."""
COLLECTIONS = ("carimbos_", "gcompris_")
"""Prefixes of the collections' handles."""


def make_plan(found: Sequence[Material], day: int = 1) -> Plan:
    """Return the server's content on a day (1 or 2), of materials sorted by key."""
    later = {material.key for material in _first(found, len(found) // 70, "second day")}
    again_later = {material.key for material in _first(found, len(found) // 150, "second day's re-post")} - later
    names = _owner_names(found)
    owners = _owners(found, names)
    originals = {material.key: _original(material, handle_of(names[material.key]), material.key in later) for material in found}
    copies: list[Post] = []
    for material in found:
        if material.key not in later:
            copies += _copies(material, originals[material.key], owners, material.key in again_later)
    posts = odd(recent([*originals.values(), *copies]))
    posts += boosts(posts, [handle_of(name) for name in INSTITUTIONS])
    owners, posts = accounts(owners, posts, COLLECTIONS, day)
    today = TODAY + timedelta(days=day - 1)
    kept = sorted((post for post in posts if post.posted <= today), key=lambda post: -post.number)
    return Plan(owners, {post.number: post for post in kept}, found[0])


def handle_of(name: str) -> str:
    """Return the handle of a name: letters, digits and underscores."""
    plain = unicodedata.normalize("NFKD", name.lower()).encode("ascii", "ignore").decode()
    return re.sub(r"\W+", "_", plain).strip("_") or "conta"


def _owner_names(found: Sequence[Material]) -> dict[str, str]:
    """Return material key → author, or the collection it belongs to."""
    sizes: dict[tuple[str, str], int] = {}
    packages = {material.key: "GCompris" if material.key.startswith(GCOMPRIS) else "Carimbos" for material in found}
    for material in found:
        if not material.author:
            group = packages[material.key], material.theme
            sizes[group] = sizes.get(group, 0) + 1
    names = {}
    for material in found:
        package = packages[material.key]
        theme = material.theme if sizes.get((package, material.theme), 0) >= SMALL else "diversos"
        names[material.key] = material.author or f"{package}: {theme}"
    return names


def _owners(found: Sequence[Material], names: dict[str, str]) -> dict[str, Owner]:
    notes = {
        names[material.key]: f"Imagens: {material.credit}." if material.author else "Autoria das imagens: veja cada publicação."
        for material in found
    }
    notes |= dict.fromkeys(INSTITUTIONS, "Conta inventada da amostra; publica de novo o que outras publicaram.")
    owners = {}
    for name, note in sorted(notes.items()):
        created = START - timedelta(days=seeded_rng(name, "account").randint(1, 700))
        owners[handle_of(name)] = Owner(handle_of(name), name, number_of(created, name), created, note)
    return owners


def _first(found: Iterable[Material], count: int, what: str) -> list[Material]:
    """Draw ``count`` materials, each from a key of its own."""
    return sorted(found, key=lambda material: (seeded_rng(material.key, what).random(), material.key))[:count]


def _original(material: Material, owner: str, later: bool) -> Post:
    if later:
        posted = moment(material.key, TODAY + timedelta(minutes=5), TODAY + timedelta(hours=23), 1.0)
    else:
        posted = moment(material.key, START, TODAY - RECENT, 0.6)
    number = number_of(posted, material.key)
    caption = write(material, material.key, f"@{owner}")
    images: tuple[PostImage, ...] = (PostImage(number + 1, material, description=_alt(material.key, caption)),)
    if seeded_rng(material.key, "album").random() < 0.02:
        images += (PostImage(number + 2, material, "cropped"),)
    return Post(number, owner, posted, caption, images)


def _alt(key: str, caption: Caption) -> str | None:
    """Return the attachment's description, which about half of the posts have."""
    return (caption.description or None) if seeded_rng(key, "alt").random() < 0.55 else None


def _copies(material: Material, first: Post, owners: dict[str, Owner], later: bool) -> list[Post]:
    """Return the re-posts of a post, by others or its owner; with ``later``, one more on day 2."""
    chance = seeded_rng(material.key, "copies")
    count = 0
    while count < MOST_COPIES and chance.random() < (COPIED if not count else 0.48):
        count += 1
    if count and chance.random() < 0.08:  # a campaign everybody posts
        count = MOST_COPIES
    others = [handle_of(name) for name in INSTITUTIONS]
    collections = [handle for handle in owners if handle.startswith(COLLECTIONS)]
    copies = []
    for order in range(count + later):
        key = f"{material.key}#{order}"
        one = seeded_rng(key, "owner")
        owner = first.owner if one.random() < 0.1 else one.choices(others, [1 / (rank + 3) for rank in range(len(others))])[0]
        if one.random() < 0.25 and collections:
            owner = one.choice(collections)
        if order < count:
            posted = moment(key, first.posted + timedelta(hours=1), TODAY - timedelta(minutes=10), 2.5)
        else:
            posted = moment(key, TODAY + timedelta(minutes=5), TODAY + timedelta(hours=23), 1.0)
        number = number_of(posted, key)
        other = one.random() < OTHER_CAPTION
        mention = f"@{first.owner}"
        caption = otherwise(material, key, mention) if other else again(first.caption, material, key, mention)
        image = PostImage(number + 1, material, seeded_rng(key, "which").choice(("", *CHANGES)), description=_alt(key, caption))
        copies.append(Post(number, owner, posted, caption, (image,), first.number, other))
    return copies
