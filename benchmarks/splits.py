"""How far sides are from 60/20/20 when owners are kept whole, beside the published rule: `python -m benchmarks.splits`.

Owners' sizes are drawn, none above 1 % of the posts: all alike, uniform, heavy-tailed (Pareto, 1.1), and large but for a tenth.
The published rule, as #PraCegoVer's code has it: owners in random order go to train until it holds 60 %, then to test until it
holds 20 %, the rest to validation. Sets whose owners share pictures are measured apart, for posts are dropped across sides there.
"""

from __future__ import annotations

import json
import random
import statistics
import time
from collections import Counter

from components.stages.split.owners import Post, deviations, place_owners

SHARES = {"train": 0.6, "validation": 0.2, "test": 0.2}
KINDS = ("alike", "uniform", "heavy", "large")


def sizes(draw: random.Random, kind: str, total: int) -> list[int]:
    """Posts of each owner."""
    most, made = total // 100, [0]
    while (left := total - sum(made)) > 0:
        size = {
            "alike": most,
            "uniform": draw.randint(1, most),
            "heavy": int(min(most, draw.paretovariate(1.1))),
            "large": most if draw.random() < 0.9 else 1,
        }[kind]
        made.append(min(size, left))
    return made[1:]


def published(draw: random.Random, counts: list[int]) -> Counter[str]:
    """Posts of each side by the published rule."""
    order, total, held = draw.sample(counts, len(counts)), sum(counts), Counter[str]()
    for count in order:
        side = "train" if held["train"] < 0.6 * total else "test" if held["test"] < 0.2 * total else "validation"
        held[side] += count
    return held


def off(sides: Counter[str]) -> float:
    """The largest deviation of a side, in points."""
    return 100 * max(map(abs, deviations(sides.elements(), SHARES).values()))


def kept(posts: list[Post], seed: int) -> Counter[str]:
    """Posts of each side by ours, those dropped across sides left out."""
    placement = place_owners(posts, SHARES, seed, {}, lambda key: "train")
    sides = [placement.splits_of(post) for post in posts]
    return Counter(own for own, led in sides if own == led)


def main() -> None:
    """Print a line a kind, one a share of shared pictures, and the time of a large set."""
    draw = random.Random(1)
    for kind in KINDS:
        ours, theirs = [], []
        for seed in range(500):
            counts = sizes(draw, kind, draw.randint(100, 3000))
            posts = [Post(f"{o}-{n}", f"{o}-{n}", f"o{o}", "", "") for o, count in enumerate(counts) for n in range(count)]
            ours.append(off(kept(posts, seed)))
            theirs.append(off(published(draw, counts)))
        told = {"ours_worst": max(ours), "ours_mean": statistics.mean(ours), "published_worst": max(theirs)}
        told["published_mean"] = statistics.mean(theirs)
        print(json.dumps({"owners": kind, "sets": 500} | {name: round(value, 3) for name, value in told.items()}))
    for shared in (0.05, 0.2, 0.45):
        worst, left = [], []
        for seed in range(30):
            posts = shared_pictures(draw, 4000, shared)
            sides = kept(posts, seed)
            worst.append(off(sides))
            left.append(sides.total() / len(posts))
        print(json.dumps({"shared_pictures": shared, "sets": 30, "worst": round(max(worst), 3), "left": round(min(left), 3)}))
    counts = sizes(draw, "heavy", 500_000)
    posts = [Post(f"{o}-{n}", f"{o}-{n}", f"o{o}", "", "") for o, count in enumerate(counts) for n in range(count)]
    begun = time.perf_counter()
    far = off(kept(posts, 1))
    print(
        json.dumps(
            {"posts": len(posts), "owners": len(counts), "off": round(far, 3), "seconds": round(time.perf_counter() - begun, 1)}
        )
    )


def shared_pictures(draw: random.Random, total: int, share: float) -> list[Post]:
    """Heavy-tailed owners; that share of the posts shows a picture that an earlier drawn post, of anybody, shows."""
    posts: list[Post] = []
    for owner, count in enumerate(sizes(draw, "heavy", total)):
        for _ in range(count):
            number = len(posts)
            group = draw.choice(posts).group if posts and draw.random() < share else f"g{number}"
            posts.append(Post(f"{number:06d}", group, f"o{owner}", f"{draw.randint(1, 9)}", ""))
    return posts


if __name__ == "__main__":
    main()
