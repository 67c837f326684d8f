"""A consent ledger decided anew: ``python -m benchmarks.consent [--records N] [--hosts N] [--runs N]``.

The made ledger has ``--records`` images on ``--hosts`` hosts, in random order, each shown by its host's page. Of five hosts one
has content signals in its robots.txt, one usage preferences for a path; of twenty one names a licence of RSL. Every tenth image
has a statement of its own.
Prints CPU seconds of all decisions, beside reading the same columns into Python, and the size of the ledger.
"""

from __future__ import annotations

import argparse
import random
from collections import deque
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

import pyarrow as pa
import pyarrow.parquet as pq

from benchmarks.harness import beside, in_turns, medians, peak_bytes, seconds, show
from components.stages.crawl.consent_ledger import HOST, IMAGE, PAGE, SCHEMA
from components.tools.consent import COLUMNS, decide_again
from components.web.consent.policy import Policy
from components.web.settings import FetchSettings

BATCH = 50_000
OTHERS = "".join(f"User-agent: bot{number}\nDisallow: /private/{number}/\nDisallow: /search?q=*\n\n" for number in range(8))
ROBOTS = (
    "User-agent: *\nContent-Signal: search=yes, ai-train=no\nAllow: /\n",
    "User-agent: *\nContent-Usage: train-ai=y\nContent-Usage: /i/1* train-ai=n\nDisallow: /admin/\n",
)
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
        text = OTHERS + ROBOTS[min(number % 5, 1)] if number % 5 < 2 else OTHERS + "User-agent: *\nDisallow: /admin/\n"
        if number % 20 == 2:
            text = f"License: {host}/license.xml\n{text}"
            yield HOST, f"{host}/license.xml", "rsl", "200", LICENCE
        yield HOST, f"{host}/robots.txt", "robots.txt", "200", text
        yield PAGE, f"{host}/", "", "", ""
    draw = random.Random(1)
    for number in range(records):
        stated = OWN[number // 10 % len(OWN)] if number % 10 == 0 else ("", "", "")
        yield IMAGE, f"http://host-{draw.randrange(hosts)}.example/i/{number}.jpg", *stated


def write(path: Path, rows: Iterator[tuple[str, ...]]) -> None:
    """Write a ledger."""
    rest = {"rule": "", "digest": "0" * 64, "time": "2026-11-30T00:00:00.000000Z", "hops": []}
    names = ("kind", "address", "signal", "place", "statement")
    with pq.ParquetWriter(path, SCHEMA, compression="zstd") as writer:
        while batch := [{**dict(zip(names, row, strict=True)), "final": row[1], **rest} for row in islice(rows, BATCH)]:
            for row in batch:
                row["pages"] = [f"{str(row['address']).partition('/i/')[0]}/"] if row["kind"] == IMAGE else []
            writer.write_batch(pa.RecordBatch.from_pylist(batch, schema=SCHEMA))


def read(path: Path) -> None:
    """Read the columns that decisions need, row by row."""
    with pq.ParquetFile(path) as file:
        for group in range(file.num_row_groups):
            deque(file.read_row_group(group, COLUMNS, use_threads=False).to_pylist(), maxlen=0)


def main() -> None:
    """Measure and print one row of figures."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    for name, usual in (("--records", 1_000_000), ("--hosts", 50_000), ("--runs", 3)):
        parser.add_argument(name, type=int, default=usual)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder) / "ledger.parquet"
        write(path, make_rows(given.records, given.hosts))
        ours = lambda: deque(decide_again(path, Policy(), FetchSettings()), maxlen=0)  # noqa: E731
        spent = in_turns({"ours": lambda: seconds(ours), "reading": lambda: seconds(lambda: read(path))}, given.runs)
        size = {"records": given.records, "hosts": given.hosts, "ledger MB": path.stat().st_size / 1e6}
        show({**size, **medians(spent, "s"), **beside(spent), "peak MB": peak_bytes() / 1e6})


if __name__ == "__main__":
    main()
