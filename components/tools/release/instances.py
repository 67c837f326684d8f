"""Make the posts of a release, the anonymised records of a split without those that are taken down; draw subsets of them.

Draws are keyed by the posts' keys, so that repeated releases draw the same.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import NamedTuple

from components.core.errors import HearsightError
from components.core.seeded_rng import seeded_rng
from components.tools.release.anonymous import Mentions, Pseudonyms
from components.tools.release.inputs import ReleaseInputs
from components.web.images.image import FORMATS
from components.web.takedown_list import Takedown


class Instance(NamedTuple):
    """One post of the release: the attributes of ``dataset.json`` (PCV §3), then columns of its record."""

    filename: str
    user: str
    raw_caption: str
    caption: str
    date: str
    key: str
    split: str
    group: str
    language: str
    collected: str
    image_sha256: str
    media: str
    format: str
    width: int
    height: int

    def published(self) -> dict[str, str]:
        """Return the attributes of ``dataset.json``."""
        return {name: getattr(self, name) for name in ("user", "filename", "raw_caption", "caption", "date")}


OWN = Instance._fields[5:]


def make_instances(
    inputs: ReleaseInputs, pseudonyms: Pseudonyms, listed: Takedown, *, mask_all: bool
) -> tuple[list[Instance], dict[str, int]]:
    """Anonymise the records of the split that are not on the takedown list.

    Returns:
        The instances in the order of their file names, and the numbers of ``masked`` account names and of posts ``taken_down``.
    """
    rows = inputs.split.table(["owner", "page_url", "image_url", "alt", "caption", "posted", *OWN]).to_pylist()
    mentions = Mentions(pseudonyms, (row["owner"] for row in rows), mask_all=mask_all)
    instances = [
        Instance(
            pseudonyms.file(row["key"], FORMATS[row["format"]]),
            pseudonyms.user(row["owner"]),
            mentions.mask(row["alt"], row["owner"]),
            mentions.mask(row["caption"], row["owner"]),
            row["posted"],
            *(row[name] for name in OWN),
        )
        for row in rows
        if not (listed.owner(row["owner"]) or listed.url(row["page_url"]) or listed.url(row["image_url"]))
    ]
    return sorted(instances), {"masked": mentions.masked, "taken_down": len(rows) - len(instances)}


SAMPLE = 5
"""Instances of the sample (PCV §3)."""
_NAME = re.compile(r"[#A-Za-z0-9][A-Za-z0-9._-]{0,79}")


def parse_subsets(given: Iterable[str]) -> dict[str, int]:
    """Parse ``NAME=N`` options into name → N.

    Raises:
        HearsightError: an option is not of that form, or a name is repeated.
    """
    subsets: dict[str, int] = {}
    for option in given:
        name, _, number = option.rpartition("=")
        if not _NAME.fullmatch(name) or not re.fullmatch(r"[1-9][0-9]{0,11}", number):
            raise HearsightError(f"'{option}' names no subset", where="--subset", hint="give NAME=N, as in set-63K=100000")
        if name in subsets:
            raise HearsightError(f"'{name}' is given twice", where="--subset", hint="give each subset a name of its own")
        subsets[name] = int(number)
    return subsets


def draw_subsets(subsets: Mapping[str, int], collected: Collection[str], seed: int) -> dict[str, set[str]]:
    """Return the keys of each subset: N of the collected posts, before any cleaning (PCV §5.4).

    A subset is the first N keys of one random order, so a larger subset contains every smaller one.

    Raises:
        HearsightError: a subset asks for more posts than there are.
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


def draw_sample(posts: Sequence[tuple[str, str]], seed: int) -> list[int]:
    """Draw five (key, user) pairs: owners first, then one post each, and a second round when there are too few owners.

    Returns:
        Indices of ``posts``, ascending.
    """
    posts_of: dict[str, list[tuple[float, str, int]]] = {}
    for index, (key, user) in enumerate(posts):
        posts_of.setdefault(user, []).append((seeded_rng(seed, key, "sample").random(), key, index))
    candidates: list[tuple[int, float, str, int]] = []
    for owned in posts_of.values():
        ranked = sorted(owned)[:SAMPLE]
        # One draw per owner, so that many posts do not make an owner more likely.
        order = seeded_rng(seed, min(key for _, key, _ in owned), "sample owner").random()
        candidates += [(number, order, key, index) for number, (_, key, index) in enumerate(ranked)]
    return sorted(index for *_, index in sorted(candidates)[:SAMPLE])
