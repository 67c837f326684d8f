"""faiss's flat index over a file of embeddings, asked line by line: run.py EMBEDDINGS QUERIES.

A line is a JSON object: first (of the queries), count, k, threads. The answer: seconds by the clock and of the processor, and
the peak of resident memory; with "save", the rows and scores go to that file. The index holds a copy of the matrix.
"""

import json
import resource
import sys
import time

import faiss
import numpy as np

embeddings, queries = np.load(sys.argv[1], mmap_mode="r"), np.load(sys.argv[2])
start = time.perf_counter()
index = faiss.IndexFlatIP(embeddings.shape[1])
index.add(embeddings)
print(json.dumps({"ready s": time.perf_counter() - start, "version": faiss.__version__}), flush=True)
for line in sys.stdin:
    asked = json.loads(line)
    faiss.omp_set_num_threads(asked["threads"])
    some = np.ascontiguousarray(queries[asked["first"] : asked["first"] + asked["count"]])
    wall, cpu = time.perf_counter(), time.process_time()
    scores, rows = index.search(some, asked["k"])
    answer = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
    if "save" in asked:
        np.savez(asked["save"], rows=rows, scores=scores)
    print(json.dumps({**answer, "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}), flush=True)
