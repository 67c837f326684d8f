"""Our side and the paper's of the duplicates benchmarks, one piece of work a process: what it took, as a JSON line.

python -m benchmarks.duplicates_ours make N FOLDER       posts, their TF-IDF rows and features (not timed)
python -m benchmarks.duplicates_ours posts FOLDER T      ours: pairs and clusters at both thresholds T
python -m benchmarks.duplicates_ours matrices FOLDER T   algorithm 1 with each full float64 matrix by one product, thresholded
python -m benchmarks.duplicates_ours loop FOLDER T N     algorithm 1 as it is listed, on the first N posts
python -m benchmarks.duplicates_ours hashes FILE         all pairs of hashes up to 10 bits
"""

from __future__ import annotations

import json
import resource
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix, load_npz, save_npz
from scipy.sparse.csgraph import connected_components


def make(count: str, folder: str) -> dict[str, Any]:
    """Write the input that all of them read."""
    from benchmarks.duplicates_posts import make_posts
    from components.stages.dedup import captions

    posts, out = make_posts(int(count)), Path(folder)
    counts = [Counter(captions.words(text, captions.stop_words(("pt",)))) for text in posts.captions]
    out.mkdir(parents=True, exist_ok=True)
    save_npz(out / "rows.npz", captions.vectors(counts, captions.corpus_idf(counts)))
    np.save(out / "features.npy", posts.features)
    return {"posts": len(counts)}


def read(folder: str) -> tuple[Any, Any]:
    """TF-IDF rows and features of every post."""
    return load_npz(Path(folder) / "rows.npz"), np.load(Path(folder) / "features.npy")


def posts(folder: str, threshold: str) -> dict[str, Any]:
    """Equal rows folded, then our search."""
    from components.stages.dedup.groups import Groups
    from components.stages.dedup.posts import PostPairs

    rows, features = read(folder)

    def work() -> dict[str, Any]:
        seen: dict[bytes, int] = {}
        first, of = [], np.empty(rows.shape[0], np.int64)
        for n, (start, end) in enumerate(zip(rows.indptr, rows.indptr[1:], strict=False)):
            content = rows.indices[start:end].tobytes() + rows.data[start:end].tobytes()
            of[n] = seen.setdefault(content, len(seen))
            if of[n] == len(first):
                first.append(n)
        groups, found = Groups(len(of)), []
        for i, j in PostPairs(rows[first], of, features, np.arange(len(of))).within(float(threshold), float(threshold)):
            groups.add(i, j)
            found.append(np.stack([i, j], axis=1))
        return {"pairs": np.concatenate(found), "clusters": len(np.unique(groups.labels()))}

    return timed(work, Path(folder) / "ours.npy")


def matrices(folder: str, threshold: str) -> dict[str, Any]:
    """Each matrix whole, one after the other (the paper holds both), kept only as what is below the threshold."""
    rows, features = read(folder)

    def work() -> dict[str, Any]:
        wide = features.astype(np.float64)
        wide /= np.linalg.norm(wide, axis=1, keepdims=True)
        near = wide @ wide.T
        np.subtract(1.0, near, out=near)
        graph = near <= float(threshold)
        del near
        captions = (rows @ rows.T).toarray()
        np.subtract(1.0, captions, out=captions)
        graph &= captions <= float(threshold)
        del captions
        i, j = np.nonzero(np.triu(graph, 1))
        clusters, _ = connected_components(csr_matrix((np.ones(len(i), bool), (i, j)), shape=graph.shape), directed=False)
        return {"pairs": np.stack([i, j], axis=1), "clusters": clusters}

    return timed(work, Path(folder) / "matrices.npy")


def loop(folder: str, threshold: str, count: str) -> dict[str, Any]:
    """The listing's two loops and its depth-first search; the distances are there already."""
    rows, features = read(folder)
    n, most = int(count), float(threshold)
    wide = features[:n].astype(np.float64)
    wide /= np.linalg.norm(wide, axis=1, keepdims=True)
    img, cpt = 1.0 - wide @ wide.T, 1.0 - (rows[:n] @ rows[:n].T).toarray()

    def work() -> dict[str, Any]:
        graph = [[0] * n for _ in range(n)]
        pairs = []
        for i in range(n):
            for j in range(i + 1, n):
                if img[i][j] <= most and cpt[i][j] <= most:
                    graph[i][j] = graph[j][i] = 1
                    pairs.append((i, j))
        visited: set[int] = set()
        clusters = 0
        for start in range(n):
            if start not in visited:
                clusters += 1
                waiting = [start]
                while waiting:
                    node = waiting.pop()
                    if node not in visited:
                        visited.add(node)
                        waiting += [other for other in range(n) if graph[node][other] and other not in visited]
        return {"pairs": np.array(pairs).reshape(-1, 2), "clusters": clusters}

    return timed(work, Path(folder) / "loop.npy")


def hashes(path: str) -> dict[str, Any]:
    """The blocked search."""
    from components.stages.dedup.hashes import near_hashes

    bits = np.array([int(value, 16) for value in json.loads(Path(path).read_text()).values()], np.uint64)
    return timed(
        lambda: {"pairs": np.concatenate([np.empty((0, 2), int), *(np.stack(pair, axis=1) for pair in near_hashes(bits, 10))])},
        None,
    )


def timed(work: Callable[[], dict[str, Any]], out: Path | None) -> dict[str, Any]:
    """Seconds by the clock and of the processors, and the peak of memory of the whole process."""
    before = time.perf_counter(), time.process_time()
    found = work()
    seconds, processors = time.perf_counter() - before[0], time.process_time() - before[1]
    if out:
        np.save(out, found["pairs"][np.lexsort((found["pairs"][:, 1], found["pairs"][:, 0]))])
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return {"seconds": seconds, "processors": processors, "memory MiB": round(memory), **found, "pairs": len(found["pairs"])}


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
