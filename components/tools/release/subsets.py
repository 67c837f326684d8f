"""Parts of a set of posts: named subsets, and the sample of five. Drawn by keys, so that they are the same each time."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

from components.core.errors import HearsightError
from components.core.seeded_rng import seeded_rng

SAMPLE = 5
"""Instances of the sample (#PraCegoVer section 3)."""
_NAME = re.compile(r"[#A-Za-z0-9][A-Za-z0-9._-]{0,79}")


def parse_subsets(given: Iterable[str]) -> dict[str, int]:
    """``NAME=N`` as name → N.

    Raises:
        HearsightError: one is not of that form, or a name comes twice.
    """
    found: dict[str, int] = {}
    for each in given:
        name, _, number = each.rpartition("=")
        if not _NAME.fullmatch(name) or not re.fullmatch(r"[1-9][0-9]{0,11}", number):
            raise HearsightError(f"'{each}' names no subset", where="--subset", hint="give NAME=N, as in set-63K=100000")
        if name in found:
            raise HearsightError(f"'{name}' is there twice", where="--subset", hint="give each subset a name of its own")
        found[name] = int(number)
    return found


def drawn(subsets: Mapping[str, int], collected: Collection[str], seed: int) -> dict[str, set[str]]:
    """The keys of each subset: N of the posts that were collected, before any cleaning (#PraCegoVer section 5.4).

    Every key has a place in one order, and a subset is the first N: so a larger one holds a smaller one whole.

    Raises:
        HearsightError: one asks for more posts than there are.
    """
    for name, number in subsets.items():
        if number > len(collected):
            raise HearsightError(
                f"'{name}' asks for {number} of {len(collected)} collected posts", where="--subset", hint="ask for fewer"
            )
    if not subsets:
        return {}
    order = sorted(collected, key=lambda key: (seeded_rng(seed, key, "subset").random(), key))
    return {name: set(order[:number]) for name, number in subsets.items()}


def sample(posts: Sequence[tuple[str, str]], seed: int) -> list[int]:
    """Five of (key, user) pairs by their places: owners are drawn, then a post of each; a second one when owners are few."""
    of: dict[str, list[tuple[float, str, int]]] = {}
    for index, (key, user) in enumerate(posts):
        of.setdefault(user, []).append((seeded_rng(seed, key, "sample").random(), key, index))
    rounds: list[tuple[int, float, str, int]] = []
    for mine in of.values():
        ranked = sorted(mine)[:SAMPLE]
        # An owner's place is its first post's: many posts give no owner a better chance than the rest of the draw does.
        place = seeded_rng(seed, min(key for _, key, _ in mine), "sample owner").random()
        rounds += [(number, place, key, index) for number, (_, key, index) in enumerate(ranked)]
    return sorted(index for *_, index in sorted(rounds)[:SAMPLE])
