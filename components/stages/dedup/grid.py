"""What other thresholds would do: clusters of duplicate posts for every pair of them (PCV, section 4.2.2)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from components.stages.dedup.near import Duplicates

GRID = "duplicates.csv"
HEAD = "thresholds,image,caption,clusters,posts,largest,dropped,share"


def swept(duplicates: Duplicates | None, count: int, thresholds: Sequence[float]) -> list[dict[str, Any]]:
    """For each image and caption threshold the clusters of two posts or more; the pairs are found once."""
    from itertools import product

    from components.stages.dedup.groups import Groups

    if duplicates is None or not thresholds:
        return []
    steps = list(product(sorted(thresholds), repeat=2))
    groups = [Groups(count) for _ in steps]
    for i, j in duplicates.within(max(thresholds), max(thresholds)):
        image, caption = duplicates.distances(i, j)
        for (most_image, most_caption), found in zip(steps, groups, strict=True):
            near = (image <= most_image) & (caption <= most_caption)
            found.add(i[near], j[near])
    return [
        summary(f"{image:g} / {caption:g}", image, caption, found.labels())
        for (image, caption), found in zip(steps, groups, strict=True)
    ]


def summary(name: str, image: float | str, caption: float | str, labels: NDArray[np.int64]) -> dict[str, Any]:
    """One line: how many clusters, the posts in them, the largest, and what is dropped when each keeps one."""
    import numpy as np

    sizes = np.unique(labels, return_counts=True)[1]
    sizes = sizes[sizes > 1]
    lost = int(sizes.sum() - len(sizes))
    return {
        "thresholds": name, "image": image, "caption": caption, "clusters": len(sizes), "posts": int(sizes.sum()),
        "largest": int(sizes.max(initial=0)), "dropped": lost, "share": round(lost / max(1, len(labels)), 4),
    }  # fmt: skip


def as_csv(rows: Sequence[dict[str, Any]]) -> bytes:
    """The lines as a table."""
    return "".join(line + "\n" for line in [HEAD, *(",".join(str(value) for value in row.values()) for row in rows)]).encode()
