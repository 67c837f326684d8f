"""One measured run of ours, in a process of its own: ``python -m benchmarks.pairs_ours ARCHIVE [DUMP]``."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.harness import peak_bytes
from components.web.archives import read_archive
from components.web.html.pairs import read_fast

Pair = tuple[str, str, str]


def pairs(path: str) -> Iterator[Pair]:
    """The pairs of an archive; a failure would make the comparison unequal, so it ends it."""
    for page in read_archive(path, context=False):
        if page.failure:
            raise SystemExit(f"{path}: {page.failure} at {page.offset}: {page.detail}")
        for candidate in page.candidates:
            if candidate.image_url and candidate.alt:
                yield page.url, candidate.image_url, candidate.alt


def run(path: str, dump: str = "") -> None:
    """Print what reading the archive takes, and write its pairs to ``dump`` if one is named."""
    if ".wat" not in path:  # a WAT needs no compiled scanner; what is loaded once is timed on neither side
        read_fast("<img src=a.jpg alt='A dog'>", "http://a.example/", context=False)
    if dump == "--count":  # for memory: nothing is held
        count = sum(1 for _ in pairs(path))
        print(json.dumps({"pairs": count, "peak": peak_bytes()}))
        return
    wall, cpu = time.perf_counter(), time.process_time()
    found = list(pairs(path))
    line = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "pairs": len(found)}
    if dump:
        with Path(dump).open("w", encoding="utf-8") as handle:
            handle.writelines(json.dumps(pair) + "\n" for pair in found)
    print(json.dumps(line))


if __name__ == "__main__":
    run(*sys.argv[1:])
