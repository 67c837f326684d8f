"""Pairs of near perceptual hashes: `python -m benchmarks.near_hashes [COUNT ...] [--radius 6] [--all-up-to 100000]`.

Hashes are uniform but for a tenth, which are up to the radius away from others, and for groups of 40 that share 44 bits, as
images of one layout do. All pairs, the earlier algorithm, are compared up to ``--all-up-to`` hashes; beyond, their time is
estimated: that of 10,000 hashes, times the square of the ratio.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from benchmarks.harness import show
from components.stages.dedup.hashes import choose_equal, near_all, near_equal

COUNTS = (10_000, 100_000, 1_000_000)


def draw(count: int, radius: int) -> Any:
    """Return distinct hashes of which some are near others."""
    rng = np.random.default_rng(0)
    bits = rng.integers(0, 2**64, count, dtype=np.uint64)
    layout = np.uint64(2**44 - 1)
    for at in range(0, count // 4, 40):
        bits[at : at + 40] = (bits[at] & layout) | (bits[at : at + 40] & ~layout)
    near = count // 10
    for _ in range(radius):
        flipped = np.uint64(1) << rng.integers(0, 64, near, dtype=np.uint64)
        bits[-near:] = bits[:near] ^ flipped if _ == 0 else bits[-near:] ^ flipped
    return rng.permutation(np.unique(bits))


def timed(work: Callable[[], Iterator[Any]]) -> tuple[float, int]:
    """Return CPU seconds and the number of pairs."""
    before = time.process_time()
    found = sum(len(i) for i, _ in work())
    return time.process_time() - before, found


def main() -> None:
    """Print a row for each number of hashes."""
    parser = argparse.ArgumentParser(description="Near perceptual hashes by an index and by all pairs.")
    parser.add_argument("count", type=int, nargs="*", default=COUNTS)
    parser.add_argument("--radius", type=int, default=6)
    parser.add_argument("--all-up-to", type=int, default=100_000)
    chosen = parser.parse_args()
    few = draw(10_000, chosen.radius)
    unit = timed(lambda: near_all(few, chosen.radius))[0] / len(few) ** 2
    for count in chosen.count:
        bits, plan = draw(count, chosen.radius), 0

        def by_index(bits: Any = bits) -> Iterator[Any]:
            nonlocal plan
            plan = choose_equal(bits, chosen.radius)
            return near_equal(bits, chosen.radius, plan) if plan else near_all(bits, chosen.radius)

        seconds, found = timed(by_index)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        if measured := count <= chosen.all_up_to:
            every, other = timed(lambda bits=bits: near_all(bits, chosen.radius))
            if other != found:
                raise SystemExit(f"{found} pairs by the index, {other} by all comparisons")
        else:
            every = unit * len(bits) ** 2
        row = {
            "hashes": count,
            "pairs": found,
            "equal blocks": plan,
            "index, CPU s": round(seconds, 2),
            "peak MiB": round(memory),
        }
        show(
            row
            | {
                f"all pairs, CPU s{'' if measured else ', estimated'}": round(every, 1),
                "ratio": round(every / seconds),
                "peak MiB": round(memory),
            }
        )


if __name__ == "__main__":
    main()
