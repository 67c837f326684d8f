"""Which items used a GPU at the same time."""

from __future__ import annotations

from collections.abc import Sequence


def shared_at_once(held: Sequence[tuple[str, float, float]]) -> list[tuple[int, int]]:
    """Return the pairs of items whose GPUs (``node:id,id``) and times overlap."""
    gpus = [{(node, one) for one in ids.split(",")} for node, _, ids in (gpus.partition(":") for gpus, _, _ in held)]
    return [
        (left, right)
        for left in range(len(held))
        for right in range(left)
        if gpus[left] & gpus[right] and held[left][1] < held[right][2] and held[right][1] < held[left][2]
    ]
