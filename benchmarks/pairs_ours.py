"""One measured run of ours, in a process of its own: ``python -m benchmarks.pairs_ours ARCHIVE [DUMP]``."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

from benchmarks.harness import peak_bytes
from components.web.archives import read_archive
from components.web.html.page_limits import load_scanner

Pair = tuple[str, str, str]


def pairs(path: str) -> Iterator[Pair]:
    """The pairs of an archive; a failure would make the comparison unequal, so it ends it."""
    for page in read_archive(path, context=False):
        if page.failure:
            raise SystemExit(f"{path}: {page.failure} at {page.offset}: {page.detail}")
        for candidate in page.candidates:
            if candidate.image_url and candidate.alt:
                yield page.url, candidate.image_url, candidate.alt


def main(path: str, dump: str = "") -> None:
    if not path.endswith(".wat.gz"):  # a WAT needs no compiled scanner; imports are timed on neither side
        load_scanner()
    if dump == "--count":  # for memory: nothing is held
        count = sum(1 for _ in pairs(path))
        print(json.dumps({"pairs": count, "peak": peak_bytes()}))
        return
    if ".wat" not in path:  # as the peers' parsers, before the clock; a WAT needs no scanner
        import_module("components.web.html.pairs")
    wall, cpu = time.perf_counter(), time.process_time()
    found = list(pairs(path))
    line = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu, "pairs": len(found)}
    if dump:
        with Path(dump).open("w", encoding="utf-8") as handle:
            handle.writelines(json.dumps(pair) + "\n" for pair in found)
    print(json.dumps(line))


if __name__ == "__main__":
    main(*sys.argv[1:])
