"""Owner splits: all posts of an owner in one split, close to the requested shares, and no image in two splits.

Source: PCV §4.3.4 (60/20/20 by owner). The published code draws owners one by one until a split is full, without a seed and
without storing the result. Here an assigned owner keeps its split, and new ones, those with most posts first, each go to the
split that lacks most of its share of the posts placed so far. The gain of a split is counted exactly, including later drops:

- The earliest post of a group of near-duplicates leads it: by time of collection, then of posting (unknown is latest), then by
  key. Later posts never become leaders.
- A post whose owner is in another split than the leader's is dropped, so placing an owner changes the count of one split only.
- A post without an owner goes to its leader's split. One that leads is drawn by its own key, as groups of web pages are, so it
  keeps its split when posts are added.

Without images shared between owners, no placement leaves a split more than two thirds of that owner's posts above its share, so
small owners, placed last, leave little error.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from components.core.seeded_rng import seeded_rng


class Post(NamedTuple):
    """The properties that decide a post's split."""

    key: str
    group: str
    owner: str
    """In the spelling of ``core.hashtags.normalise_account``; empty without an owner."""
    collected: str
    posted: str

    @property
    def age(self) -> tuple[str, str, str]:
        """Sort key, earliest first; missing times are last."""
        return (self.collected or "\U0010ffff", self.posted or "\U0010ffff", self.key)


@dataclass(frozen=True)
class Placement:
    """The splits of owners and of groups without an owner."""

    owners: dict[str, str]
    """Owner → split, for every owner of the posts."""
    leaders: dict[str, Post]
    """Group → its earliest post."""
    drawn: dict[str, str]
    """Group → split, where its leader has no owner."""

    def splits_of(self, post: Post) -> tuple[str, str]:
        """Return the splits of a post and of its group; the post stays if they are equal."""
        leader = self.leaders[post.group]
        group_split = self.owners[leader.owner] if leader.owner else self.drawn[post.group]
        return (self.owners[post.owner] if post.owner else group_split), group_split


def place_owners(
    posts: Sequence[Post], shares: Mapping[str, float], seed: int, assigned: Mapping[str, str], draw_leader: Callable[[str], str]
) -> Placement:
    """Assign every owner to a split.

    Args:
        posts: all posts, in any order.
        shares: split → its share, of 1.
        seed: orders owners with equally many posts.
        assigned: owner → the split it is assigned to already.
        draw_leader: key → split, for a leader without an owner.

    Returns:
        The splits; independent of the order of the posts.
    """
    leaders: dict[str, Post] = {}
    for post in posts:
        if post.group not in leaders or post.age < leaders[post.group].age:
            leaders[post.group] = post
    drawn = {group: draw_leader(leader.key) for group, leader in leaders.items() if not leader.owner}

    weights = Counter(post.owner for post in posts if post.owner)
    kept = dict.fromkeys(shares, 0)
    leads: Counter[str] = Counter()
    """owner → posts that stay in any split: in groups it leads, its own and those without an owner."""
    bound: dict[str, Counter[str]] = defaultdict(Counter)
    """owner → split → posts that stay if it is assigned there, given the placements so far."""
    follows: dict[str, Counter[str]] = defaultdict(Counter)
    """owner → leading owner → posts; each stays if both are in one split."""
    for post in posts:
        leader = leaders[post.group]
        if not leader.owner:
            if post.owner:
                bound[post.owner][drawn[post.group]] += 1
            else:
                kept[drawn[post.group]] += 1
        elif post.owner in ("", leader.owner):
            leads[leader.owner] += 1
        else:
            follows[post.owner][leader.owner] += 1
    partners = _both_ways(follows)

    splits: dict[str, str] = {}

    def assign(owner: str, split: str) -> None:
        splits[owner] = split
        kept[split] += leads[owner] + bound[owner][split]
        for other, number in partners.get(owner, {}).items():
            bound[other][split] += number

    new = [owner for owner in weights if owner not in assigned]
    for owner in sorted(weights.keys() - set(new)):
        assign(owner, assigned[owner])
    # The purpose "side" is part of the draw: another word places owners anew.
    for owner in sorted(new, key=lambda name: (-weights[name], seeded_rng(seed, name, "side").random(), name)):
        total = sum(kept.values()) + weights[owner]
        assign(owner, max(shares, key=lambda split: shares[split] * total - kept[split]))
    return Placement(splits, leaders, drawn)


def _both_ways(follows: Mapping[str, Counter[str]]) -> dict[str, Counter[str]]:
    partners: dict[str, Counter[str]] = defaultdict(Counter)
    for owner, others in follows.items():
        for other, number in others.items():
            partners[owner][other] += number
            partners[other][owner] += number
    return partners


def deviations(splits: Iterable[str], shares: Mapping[str, float]) -> dict[str, float]:
    """Return for each split the deviation of its share of the posts from the requested one; all 0 without posts."""
    counts = Counter(splits)
    total = counts.total()
    return {split: counts[split] / total - share if total else 0.0 for split, share in shares.items()}
