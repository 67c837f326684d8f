"""Pairs out of archives, beside FastWARC + selectolax and cc2dataset, and in each format: ``python -m benchmarks.pairs``.

Same input, one process a run, in turns; figures are CPU time (wall time beside it: it also tells what else the machine does) and
ratios of medians. Then the pairs themselves are compared, and the peak memory of inputs of one and of ten sizes. ``--only`` names
parts: ``formats``, ``warc``, ``wat``, ``memory``.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.harness import PACKAGES, PEERS, WORK, beside, column, environment, in_turns, measured, ours, show
from benchmarks.pairs_inputs import pages, write_wacz, write_warc, write_wat, write_zstd
from components.web.html.page import fold, read_page
from components.web.urls import normalise

PARTS = ("formats", "warc", "wat", "memory")
Pair = tuple[str, str, str]


def compare_speed(name: str, peer: str, archive: Path, runs: int, count: int) -> None:
    """Time both over one archive and print their rates and ratio."""
    sides: dict[str, list[Any]] = {
        "ours": [*ours("pairs_ours"), archive],
        peer: [environment(peer), PEERS / peer / "pairs.py", archive],
    }
    lines = in_turns({side: lambda command=command: measured(*command) for side, command in sides.items()}, runs)
    row: dict[str, Any] = {"input": f"{name}, {archive.stat().st_size / 1e6:.0f} MB", "pages": count}
    for side, found in lines.items():
        row |= {f"{side}, pages a CPU s": round(count / statistics.median(column(found, "cpu")))}
    row |= beside({side: column(found, "cpu") for side, found in lines.items()})
    wall = {side: statistics.median(column(found, "wall")) for side, found in lines.items()}
    show(row | {f"{peer} / ours, wall": round(wall[peer] / wall["ours"], 2)})


def compare_formats(warc: Path, runs: int) -> None:
    """Time the same records as zstd, without and with a dictionary, and as WACZ beside the gzip WARC, all by ours."""
    files = {
        "gzip": warc,
        "zstd": WORK / "pages.warc.zst",
        "zstd, dictionary": WORK / "dictionary.warc.zst",
        "wacz": WORK / "pages.wacz",
    }
    write_zstd(files["zstd"], warc)
    write_zstd(files["zstd, dictionary"], warc, dictionary=True)
    write_wacz(files["wacz"], warc)
    lines = in_turns({name: lambda path=path: measured(*ours("pairs_ours"), path) for name, path in files.items()}, runs)
    middle = {name: statistics.median(column(found, "cpu")) for name, found in lines.items()}
    for name, found in lines.items():
        if {line["pairs"] for line in found} != {lines["gzip"][0]["pairs"]}:
            raise SystemExit(f"{name}: other pairs than those of the gzip WARC")
        size = round(files[name].stat().st_size / 1e6, 1)
        speed = round(middle["gzip"] / middle[name], 2)
        show({"format": name, "MB": size, "CPU s": round(middle[name], 3), "speed beside gzip": speed})


def dumped(command: list[Any], name: str) -> list[Pair]:
    """Return the pairs of one untimed run."""
    path = WORK / name
    measured(*command, path)
    return [tuple(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def compare_html(archive: Path, rounds: int) -> None:
    """Print F1 of ours against the DOM reading of the same pages, as multisets."""
    found = dumped([*ours("pairs_ours"), archive], "ours.jsonl")
    dom: list[Pair] = []
    for url, html in pages(PACKAGES, rounds):
        dom += [(url, c.image_url, c.alt) for c in read_page(html, url, "utf-8").candidates if c.image_url and c.alt]
    both = sum((Counter(found) & Counter(dom)).values())
    show(
        {"pairs of": "the WARC", "ours": len(found), "DOM reading": len(dom), "F1": round(2 * both / (len(found) + len(dom)), 4)}
    )


def compare_wat(archive: Path) -> None:
    """Print how ours and cc2dataset's differ, in one spelling of addresses and white space."""
    found = set(dumped([*ours("pairs_ours"), archive], "ours.jsonl"))
    peer = dumped([environment("cc2dataset"), PEERS / "cc2dataset" / "pairs.py", archive], "cc2dataset.jsonl")
    theirs = {(page, normalise(url) or "", fold(alt)) for page, url, alt in peer}
    theirs = {pair for pair in theirs if pair[1] and pair[2]}
    row = {"pairs of": "the WAT", "ours": len(found), "cc2dataset": len(theirs)}
    show(row | {"only ours": len(found - theirs), "only theirs": len(theirs - found)})


def compare_memory(kind: str, small: Path) -> None:
    """Print peak resident memory of one input and of ten times as much."""
    large = WORK / f"ten.{small.name}"  # gzip members follow each other, so files of them can be joined
    with large.open("wb") as handle:
        for _ in range(10):
            handle.write(small.read_bytes())
    peak = [measured(*ours("pairs_ours"), path, "--count")["peak"] / 1e6 for path in (small, large)]
    row = {f"peak MB, {size}": round(most, 1) for size, most in zip(("once", "ten times"), peak, strict=True)}
    show({"memory of": kind, "input, MB": round(small.stat().st_size / 1e6, 1), **row, "ratio": round(peak[1] / peak[0], 3)})
    large.unlink()


def main() -> None:
    """Make the inputs and measure the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--only", nargs="*", choices=PARTS, default=PARTS)
    parser.add_argument("--rounds", type=int, default=2, help="how often the sample's pages are repeated")
    options = parser.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    warc, wat = WORK / "pages.warc.gz", WORK / "pages.wat.gz"
    count = write_warc(warc, PACKAGES, options.rounds)
    write_wat(wat, PACKAGES, options.rounds, warc.name)
    if "formats" in options.only:
        compare_formats(warc, options.runs)
    if "warc" in options.only:
        compare_speed("gzip WARC", "fastwarc", warc, options.runs, count)
        compare_html(warc, options.rounds)
    if "wat" in options.only:
        compare_speed("gzip WAT", "cc2dataset", wat, options.runs, count)
        compare_wat(wat)
    if "memory" in options.only:
        compare_memory("WARC", warc)
        compare_memory("WAT", wat)


if __name__ == "__main__":
    main()
