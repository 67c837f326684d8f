"""How fast the local index of Wikidata is built and asked, beside SQLite, and what the embedded source knows.

    python -m benchmarks.knowledge [ITEMS]

The dump is synthetic (invented names, the true form, about 2.7 kB an item) and made anew. Each lookup figure is the median of
five alternating runs of 50,000 lookups in one process, half of them of names that are not in the index.
"""

from __future__ import annotations

import random
import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import orjson

from components.knowledge.cascade import Knowledge
from components.knowledge.kinds import Gate
from components.knowledge.wikidata.build import build_index
from components.knowledge.wikidata.choosing import Chooser
from components.knowledge.wikidata.dump import Dump, Item
from components.knowledge.wikidata.index import WikidataIndex, pack_item
from components.knowledge.wikidata.table import name_key
from components.knowledge.words import Words
from components.language.wordnet import load_wordnet
from tests.support.knowledge.wikidata_dump import item

SYLLABLES = ["ka", "lo", "mi", "ra", "ten", "vor", "sil", "dun", "bre", "an", "ost", "wel", "har", "ing"]
LABELS = ["actor", "city", "river", "band", "film", "painter", "company", "museum"]
LOOKUPS = 50_000


def synthetic(count: int) -> Iterator[bytes]:
    """Lines of a dump: half of the items humans with two occupations, all with an alias and filling."""
    draw = random.Random(1)

    def word() -> str:
        return "".join(draw.choice(SYLLABLES) for _ in range(draw.randint(2, 4))).title()

    yield b"[\n"
    for number in range(100, 1000):
        yield orjson.dumps(item(number, draw.choice(LABELS), p279=[number + 1], sitelinks=0)) + b",\n"
    filling = {"mainsnak": {"snaktype": "value", "property": "P18", "datavalue": {"value": "x" * 60, "type": "string"}}}
    for number in range(1000, 1000 + count):
        name, human = f"{word()} {word()}", number % 2
        p31 = [5] if human else [draw.randint(100, 899)]
        jobs = [draw.randint(900, 999), draw.randint(900, 999)] if human else []
        body = item(number, name, aliases=[f"{word()} {name}"], p31=p31, p106=jobs, sitelinks=draw.randint(1, 9))
        body["claims"]["P18"] = [filling] * 8
        yield orjson.dumps(body) + (b",\n" if number < 999 + count else b"\n")
    yield b"]\n"


def per_minute(lookup: Callable[[str], object], names: list[str]) -> float:
    """Lookups a CPU-minute."""
    start = time.process_time()
    for name in names:
        lookup(name)
    return len(names) / (time.process_time() - start) * 60


def sqlite_of(path: Path, dump: Path) -> sqlite3.Connection:
    """The same names and records in SQLite, keyed by the same hash, sorted before they are put in."""
    base = sqlite3.connect(path)
    base.execute("CREATE TABLE names (key INTEGER, rank INTEGER, record BLOB, PRIMARY KEY (key, rank, record)) WITHOUT ROWID")
    rows = []
    with Dump(dump) as source:
        for each in source.items():
            if isinstance(each, Item) and each.sitelinks:
                record = pack_item(each.number, each.sitelinks, each.instance_of, each.occupations)
                rows += [(name_key(name) - 2**63, -each.sitelinks, record) for name in each.names]
    base.executemany("INSERT OR IGNORE INTO names VALUES (?, ?, ?)", sorted(rows))
    base.commit()
    return base


def known_names(knowledge: Knowledge, names: str) -> tuple[int, int]:
    """Of the names in a list beside this file, how many get a right specific hypernym."""
    rows = [line.split("\t") for line in Path(__file__).with_name(names).read_text(encoding="utf-8").splitlines()]
    rows = [row for row in rows if not row[0].startswith("#")]
    return sum(knowledge.hypernym(name, kind) in words.split("|") for kind, name, words in rows), len(rows)


def main(count: int) -> None:
    """Print the figures."""
    wordnet = load_wordnet()
    for names in ("knowledge_names.tsv", "knowledge_unseen.tsv"):
        right, total = known_names(Knowledge(wordnet), names)
        print(f"embedded, {names}: a right specific hypernym for {right} of {total}")
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with (folder / "dump.json").open("wb") as file:
            file.writelines(synthetic(count))
        size = (folder / "dump.json").stat().st_size
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        about = build_index(folder / "dump.json", folder / "index")
        spent, after = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        speed = f"{size / 1e6 / spent:,.0f} MB/s, {count / spent:,.0f} items/s"
        print(f"build: {count:,} items, {size / 1e6:,.0f} MB in {spent:.1f} CPU-s: {speed}")
        memory = f"peak memory {before // 1024} MB before, {after // 1024} MB after"
        print(f"       index {about['bytes'] / 1e6:,.1f} MB ({about['names']:,} names); {memory}")
        index = WikidataIndex(folder / "index", Chooser(Words(wordnet), Gate(wordnet)))
        base = sqlite_of(folder / "names.sqlite", folder / "dump.json")
        print(f"SQLite: {(folder / 'names.sqlite').stat().st_size / 1e6:,.1f} MB for the names alone")
        with Dump(folder / "dump.json") as source:
            labels = [each.label for each in source.items() if isinstance(each, Item) and each.sitelinks]
        draw = random.Random(2)
        names = draw.sample(labels, min(LOOKUPS // 2, len(labels)))
        names += [name[::-1] for name in names]
        draw.shuffle(names)

        def ask_sqlite(name: str) -> object:
            return base.execute("SELECT record FROM names WHERE key = ? LIMIT 16", (name_key(name) - 2**63,)).fetchall()

        ways = {
            "memory map, candidates": index.candidates,
            "SQLite, records": ask_sqlite,
            "memory map, chosen word": lambda name: index.lookup(name, "PERSON"),
        }
        runs: dict[str, list[float]] = {way: [] for way in ways}
        for _ in range(5):
            for way, lookup in ways.items():
                runs[way].append(per_minute(lookup, names))
        for way, figures in runs.items():
            print(f"{way}: {statistics.median(figures) / 1e6:.1f} M lookups a CPU-minute (from {min(figures) / 1e6:.1f})")
        base.close()


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500_000)
