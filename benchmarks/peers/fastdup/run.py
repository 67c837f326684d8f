"""fastdup 2.54 as its documentation shows it: pairs of similar pictures of a folder. Prints one JSON line.

folder FOLDER OUT THRESHOLD NEIGHBOURS
"""

import json
import os
import resource
import sys
import tempfile
import time

os.environ["SENTRY_OPT_OUT"] = "1"
import fastdup


def main():
    _, folder, out, threshold, neighbours = sys.argv[1:6]
    before = time.perf_counter()
    with tempfile.TemporaryDirectory() as work:
        found = fastdup.create(work_dir=work, input_dir=folder)
        found.run(
            threshold=float(threshold), nearest_neighbors_k=int(neighbours), num_threads=1, overwrite=True, print_summary=False
        )
        table = found.similarity()
        pairs = set()
        for one, other, distance in zip(table["filename_from"], table["filename_to"], table["distance"], strict=True):
            if distance >= float(threshold):
                pairs.add(tuple(sorted((os.path.basename(one), os.path.basename(other)))))
    with open(out, "w") as handle:
        json.dump(sorted(pairs), handle)
    used = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    total = sum(part.ru_utime + part.ru_stime for part in (used, children))
    print(json.dumps({"seconds": time.perf_counter() - before, "processors": total, "pairs": len(pairs)}))


if __name__ == "__main__":
    main()
