"""How fast the local index of Wikidata is built, and what the embedded source knows: ``python -m benchmarks.knowledge [ITEMS]``.

The dump is synthetic (invented names, the true form, about 2.7 kB an item) and made anew.
"""

from __future__ import annotations

import random
import resource
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import orjson

from benchmarks.harness import show
from components.knowledge.cascade import Knowledge
from components.knowledge.wikidata.build import build_index
from components.language.wordnet import load_wordnet
from tests.support.knowledge.wikidata_dump import item

SYLLABLES = ["ka", "lo", "mi", "ra", "ten", "vor", "sil", "dun", "bre", "an", "ost", "wel", "har", "ing"]
LABELS = ["actor", "city", "river", "band", "film", "painter", "company", "museum"]


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
        show({"embedded": names, "names": total, "a right specific hypernym": right})
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        with (folder / "dump.json").open("wb") as file:
            file.writelines(synthetic(count))
        size = (folder / "dump.json").stat().st_size
        before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        about = build_index(folder / "dump.json", folder / "index")
        spent, after = time.process_time() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        row = {"items": count, "dump, MB": round(size / 1e6), "build, CPU s": round(spent, 1), "index, MB": about["bytes"] / 1e6}
        show(row | {"names": about["names"], "peak before, MB": before // 1024, "peak after, MB": after // 1024})


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500_000)
