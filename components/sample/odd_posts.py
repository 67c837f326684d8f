"""Make the posts resemble a real server's: recent and unusual posts, boosts, private and deleted accounts.

Each function takes the planned posts and returns changed ones; every choice is keyed by the post's material or owner.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta

from components.core.seeded_rng import seeded_rng
from components.sample.captions import Caption, write
from components.sample.statuses import RECENT, TODAY, Owner, Post, moment, number_of

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
