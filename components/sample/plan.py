"""Plan who posts what and when on the sample's server: owners, originals, re-posts, and unusual posts.

An original shows one material, posted by its author where the package names one, else by a collection's account. Re-posts are by
collections and invented institutions. Draws are keyed by material, so one material more changes little else. Day 2 is day 1 with
new posts, one post deleted and one account turned private.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Sequence
from datetime import timedelta

from components.core.seeded_rng import seeded_rng
from components.sample.captions import Caption, again, otherwise, write
from components.sample.images import CHANGES
from components.sample.material import GCOMPRIS, Material
from components.sample.odd_posts import accounts, boosts, odd, recent
from components.sample.statuses import RECENT, START, TODAY, Owner, Plan, Post, PostImage, moment, number_of

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
