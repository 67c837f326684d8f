"""All posts of an owner on one side, close to the shares asked for, and no picture on two sides.

Source: #PraCegoVer section 4.3.4 (60/20/20 by owner). The published code draws owners one by one until a side is full, unseeded
and saved nowhere. Here an owner that has a side keeps it, and new ones, those with most posts first, each take the side that
lacks most of what it should hold of the posts placed so far. What a side gains is counted exactly, with what will be dropped:

- The earliest post of a group of near-duplicates leads it: by when it was collected, then when it was posted (unknown is later
  than known), then by its key. Posts that come later never take a group's lead.
- A post whose owner is on another side than the leader's is dropped. So placing an owner changes the count of one side alone.
- A post without an owner is bound to nobody: it goes to its leader's side. One that leads is drawn by its own key, as groups are
  for web pages, so that it stays where it is when posts are added.

Without pictures that owners share, no placement leaves a side more than two thirds of that owner's posts above its share, so
small owners, placed last, leave little error.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from components.core.seeded_rng import seeded_rng


class Post(NamedTuple):
    """What decides a post's side."""

    key: str
    group: str
    owner: str
    """In the spelling of ``core.owners``; empty for nobody."""
    collected: str
    posted: str

    @property
    def age(self) -> tuple[str, str, str]:
        """Sorts the earliest first; what has no time comes after what has one."""
        return (self.collected or "\U0010ffff", self.posted or "\U0010ffff", self.key)


@dataclass(frozen=True)
class Placed:
    """Where everything went."""

    owners: dict[str, str]
    """Owner → side, for every owner of the posts."""
    leaders: dict[str, Post]
    """Group → its earliest post."""
    drawn: dict[str, str]
    """Group → side, where its leader has no owner."""

    def side(self, post: Post) -> tuple[str, str]:
        """The post's own side, and that of its group; the post stays when they are the same."""
        leader = self.leaders[post.group]
        led = self.owners[leader.owner] if leader.owner else self.drawn[post.group]
        return (self.owners[post.owner] if post.owner else led), led


def place(
    posts: Sequence[Post], shares: Mapping[str, float], seed: int, known: Mapping[str, str], alone: Callable[[str], str]
) -> Placed:
    """Give every owner a side.

    Args:
        posts: all of them, in any order.
        shares: side → its share, of 1.
        seed: orders owners that have as many posts.
        known: owner → the side it has already.
        alone: key → side, for a leader without an owner.

    Returns:
        The sides; a function of the arguments alone, whatever the order of the posts.
    """
    leaders: dict[str, Post] = {}
    for post in posts:
        if post.group not in leaders or post.age < leaders[post.group].age:
            leaders[post.group] = post
    drawn = {group: alone(leader.key) for group, leader in leaders.items() if not leader.owner}

    weights = Counter(post.owner for post in posts if post.owner)
    kept = dict.fromkeys(shares, 0)
    leads: Counter[str] = Counter()
    """owner → posts that stay wherever it goes: in groups it leads, its own and those of nobody."""
    bound: dict[str, Counter[str]] = defaultdict(Counter)
    """owner → side → posts that stay if it goes there, by what is placed already."""
    follows: dict[str, Counter[str]] = defaultdict(Counter)
    """owner → owner it follows → posts; each stays if both are on one side."""
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

    sides: dict[str, str] = {}

    def put(owner: str, side: str) -> None:
        sides[owner] = side
        kept[side] += leads[owner] + bound[owner][side]
        for other, number in partners.get(owner, {}).items():
            bound[other][side] += number

    new = [owner for owner in weights if owner not in known]
    for owner in sorted(weights.keys() - set(new)):
        put(owner, known[owner])
    for owner in sorted(new, key=lambda name: (-weights[name], seeded_rng(seed, name, "side").random(), name)):
        total = sum(kept.values()) + weights[owner]
        put(owner, max(shares, key=lambda side: shares[side] * total - kept[side]))
    return Placed(sides, leaders, drawn)


def _both_ways(follows: Mapping[str, Counter[str]]) -> dict[str, Counter[str]]:
    found: dict[str, Counter[str]] = defaultdict(Counter)
    for owner, others in follows.items():
        for other, number in others.items():
            found[owner][other] += number
            found[other][owner] += number
    return found


def shares_of(sides: Iterable[str], shares: Mapping[str, float]) -> dict[str, float]:
    """side → how much more (or less) of the posts it holds than its share, of 1; all 0 without posts."""
    counts = Counter(sides)
    total = counts.total()
    return {side: counts[side] / total - share if total else 0.0 for side, share in shares.items()}
