"""How the clustering grows with the posts: ``python -m benchmarks.clusters``.

Input: the features of the sample's stamps (``hearsight data`` first), drawn with replacement and each moved by .3 of their
standard deviation, so that any number of posts can be had. Then UMAP as the stage runs it, and HDBSCAN of what comes out; and
HDBSCAN of 900 values of the features themselves, for what the paper's number of dimensions costs. One process and one thread a
number of posts; CPU times without imports and compilation; no peer.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import time
from pathlib import Path
from typing import Any

from benchmarks.harness import ONE_THREAD, PACKAGES, ROOT, ours, show

STAMPS = PACKAGES / "tuxpaint-stamps-default"
SETTINGS = {"min_cluster_size": 10, "min_samples": 5, "max_cluster_size": 0, "max_outliers": 0.05, "max_rounds": 1}
WIDE = 900
"""The paper's dimensions."""


def features(images: Path) -> Any:
    """The global vectors of every PNG below a folder, through the project's annotation store."""
    from components.core.digests import sha256_file
    from components.core.result_cache import ResultCache
    from components.stages.cluster.vectors import read_vectors
    from components.vision.features import ImageFeatures, feature_key

    found = {sha256_file(path): path for path in sorted(images.rglob("*.png"))}
    if not found:
        raise SystemExit(f"{images}: holds no PNG; run `hearsight data`")
    store = ResultCache(ROOT / ".hearsight" / "annotations")
    store.annotate(
        ImageFeatures(),
        {feature_key(sha, 0): (lambda sha=sha, path=path: (path.read_bytes(), sha, 0)) for sha, path in found.items()},
    )
    return read_vectors([(sha[:16], sha) for sha in found], store)


def measure(posts: int, images: Path, wide: bool) -> dict[str, Any]:
    """One number of posts, in this process."""
    import numpy as np

    from components.stages.cluster.embedding import project
    from components.stages.cluster.rounds import cluster_rounds

    known = features(images)
    source = np.random.default_rng(0)

    def drawn(count: int) -> Any:
        chosen = known[source.integers(0, len(known), count)]
        return (chosen + source.normal(size=chosen.shape) * known.std(0) * 0.3).astype(np.float32)

    cluster_rounds(drawn(100), SETTINGS)
    if not wide:  # compiles both the exact and the approximate search for neighbours
        for count in (100, 4200) if posts >= 4096 else (100,):
            project(drawn(count), 2, 15, 0.0, "correlation", 42)
    vectors = drawn(posts)
    began = time.process_time()
    space = vectors[:, :WIDE] if wide else project(vectors, 32, 15, 0.0, "correlation", 42)
    umap = time.process_time() - began
    began = time.process_time()
    cluster_rounds(space, SETTINGS)
    hdbscan = time.process_time() - began
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    told = {"posts": posts, "dimensions": space.shape[1], "hdbscan_cpu_s": round(hdbscan, 2), "peak_mb": peak}
    return told if wide else told | {"umap_cpu_s": round(umap, 2)}


def main() -> None:
    """A JSON line for each number of posts and each number of dimensions."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--posts", type=int, nargs="+", default=[2500, 5000, 10_000, 20_000])
    parser.add_argument("--wide-posts", type=int, nargs="*", default=[1250, 2500, 5000])
    parser.add_argument("--images", type=Path, default=STAMPS)
    parser.add_argument("--one", action="store_true", help="measure in this process")
    given = parser.parse_args()
    if given.one:
        wide = bool(given.wide_posts)
        show(measure((given.wide_posts if wide else given.posts)[0], given.images, wide))
        return
    for option, number in [("--posts", n) for n in given.posts] + [("--wide-posts", n) for n in given.wide_posts]:
        rest = ["--wide-posts"] if option == "--posts" else []
        command = [*ours("clusters"), "--one", "--images", str(given.images), *rest, option, str(number)]
        subprocess.run(command, check=True, env={**os.environ, **ONE_THREAD})


if __name__ == "__main__":
    main()
