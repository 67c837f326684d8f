"""Our side of ``benchmarks.search``, asked like ``peers/faiss/run.py``: ``python -m benchmarks.search_ours INDEX QUERIES``."""

from __future__ import annotations

import json
import resource
import sys
import time
from pathlib import Path

import numpy as np

from components.search.index import SearchIndex


def main() -> None:
    """Answer line by line until the input ends."""
    start = time.perf_counter()
    index = SearchIndex.open(Path(sys.argv[1]), verify=False)
    queries = np.load(sys.argv[2])
    print(json.dumps({"ready s": time.perf_counter() - start}), flush=True)
    for line in sys.stdin:
        asked = json.loads(line)
        some = queries[asked["first"] : asked["first"] + asked["count"]]
        wall, cpu = time.perf_counter(), time.process_time()
        rows, scores = index.search(some, asked["k"], threads=asked["threads"])
        answer = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
        if "save" in asked:
            np.savez(asked["save"], rows=rows, scores=scores)
        print(json.dumps({**answer, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}), flush=True)


if __name__ == "__main__":
    main()
