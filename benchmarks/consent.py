"""A consent ledger decided anew: ``python -m benchmarks.consent [--records N] [--hosts N] [--runs N]``.

A made ledger has ``--records`` images on ``--hosts`` hosts, in random order. Every fifth host has a robots.txt with content
signals, every fifth one with usage preferences for a path, every twentieth one that names a licence of RSL; every tenth image
has a statement of its own, in a header or in its file. Prints CPU seconds for all decisions, beside reading the same columns
into Python and nothing else, and the size of the ledger.
"""

from __future__ import annotations

import argparse
import random
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import beside, in_turns, medians, peak_bytes, seconds, show
from components.stages.crawl.consent_ledger import HOST, IMAGE, ROBOTS_TXT, SCHEMA
from components.tools.consent import decide_again
from components.web.consent.policy import Policy
from components.web.consent.statements import RSL

BATCH = 50_000
AGENTS = "".join(f"User-agent: bot{number}\nDisallow: /private/{number}/\nDisallow: /search?q=*\n\n" for number in range(8))
SIGNALS = AGENTS + "User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n"
USAGE = AGENTS + "User-agent: *\nContent-Usage: train-ai=y\nContent-Usage: /i/1* train-ai=n\nDisallow: /admin/\n"
PLAIN = AGENTS + "User-agent: *\nDisallow: /admin/\n"
LICENCE = (
    '<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license><permits type="usage">search</permits></license>'
    "</content></rsl>"
)
OWN = (
    ("robots", "X-Robots-Tag", "max-image-preview:large, noai"),
    ("content-usage", "header content-usage", "train-ai=n, search=y"),
    ("plus", "XMP plus:DataMining", "http://ns.useplus.org/ldf/vocab/DMI-PROHIBITED-AIMLTRAINING"),
    ("c2pa", "C2PA cawg.training-mining", '{"cawg.ai_training": {"use": "notAllowed"}}'),
)


def make_rows(records: int, hosts: int) -> Iterator[tuple[str, ...]]:
    """Yield the rows of the made ledger: kind, address, signal, place, statement."""
    for number in range(hosts):
        host = f"http://host-{number}.example"
        text = SIGNALS if number % 5 == 0 else USAGE if number % 5 == 1 else PLAIN
        if number % 20 == 2:
            text = f"License: {host}/license.xml\n{text}"
            yield HOST, f"{host}/license.xml", RSL, "200", LICENCE
        yield HOST, f"{host}/robots.txt", ROBOTS_TXT, "200", text
    draw = random.Random(1)
    for number in range(records):
        stated = OWN[number // 10 % len(OWN)] if number % 10 == 0 else ("", "", "")
        yield IMAGE, f"http://host-{draw.randrange(hosts)}.example/i/{number}.jpg", *stated


def write(path: Path, records: int, hosts: int) -> None:
    """Write the made ledger."""
    names = ("kind", "address", "signal", "place", "statement")
    rest = {"rule": "", "digest": "0" * 64, "time": "2026-11-30T00:00:00.000000Z", "granted": False}
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        rows: list[dict[str, object]] = []
        for row in make_rows(records, hosts):
            rows.append({**dict(zip(names, row, strict=True)), "final": row[1], **rest})
            if len(rows) == BATCH:
                writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=SCHEMA))
                rows.clear()
        writer.write_batch(pa.RecordBatch.from_pylist(rows, schema=SCHEMA))


def read(path: Path) -> None:
    """Read the columns that decisions need, row by row."""
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            columns = ["kind", "address", "final", "rule", "signal", "place", "statement", "granted"]
            deque(file.read_row_group(group, columns, use_threads=False).to_pylist(), maxlen=0)


def main() -> None:
    """Measure and print one row of figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--records", type=int, default=1_000_000)
    parser.add_argument("--hosts", type=int, default=50_000)
    parser.add_argument("--runs", type=int, default=3)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.parquet"
        write(path, given.records, given.hosts)
        ways = {
            "ours": lambda: seconds(lambda: deque(decide_again(path, Policy()), maxlen=0)),
            "reading": lambda: seconds(lambda: read(path)),
        }
        spent = in_turns(ways, given.runs)
        changed = sum(change["old"] != change["new"] for change in decide_again(path, Policy()))
        size = {"records": given.records, "hosts": given.hosts, "ledger MB": path.stat().st_size / 1e6, "changed": changed}
        show({**size, **medians(spent, "s"), **beside(spent), "peak MB": peak_bytes() / 1e6})


if __name__ == "__main__":
    main()
