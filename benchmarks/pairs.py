"""Pairs out of archives, beside FastWARC + selectolax and cc2dataset, and in each format: ``python -m benchmarks.pairs``.

Same input, one process a run, runs alternating, ratios of the medians of CPU time (wall time beside it: it tells of whatever
else the machine does). Then the pairs themselves are compared, and the peak memory of inputs of one and of ten sizes.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from benchmarks.pairs_inputs import pages, write_wacz, write_warc, write_wat, write_zstd
from components.web.html.page import fold, read_page
from components.web.urls import normalise

ROOT = Path(__file__).resolve().parents[1]
PEERS = ROOT / "benchmarks" / "peers"
WORK = ROOT / "data" / "benchmarks"
PAGES = ROOT / "data" / "packages" / "unpacked"
Pair = tuple[str, str, str]


def environment(peer: str) -> Path:
    """The peer's own Python, made from its requirements the first time."""
    folder = WORK / "environments" / peer
    python = folder / "bin" / "python"
    wanted = (PEERS / peer / "requirements.txt").read_text(encoding="utf-8")
    stamp = folder / "requirements.txt"
    if not stamp.exists() or stamp.read_text(encoding="utf-8") != wanted:
        print(f"making the environment of {peer}", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", "--clear", folder], check=True)
        subprocess.run([python, "-m", "pip", "install", "-qq", "-r", PEERS / peer / "requirements.txt"], check=True)
        stamp.write_text(wanted, encoding="utf-8")
    return python


def measured(command: list[Any]) -> dict[str, float]:
    """What one run prints of itself."""
    done = subprocess.run([str(word) for word in command], cwd=ROOT, env=os.environ, capture_output=True, text=True, check=True)
    line: dict[str, float] = json.loads(done.stdout.strip().splitlines()[-1])
    return line


def beside(name: str, peer: str, archive: Path, runs: int, count: int) -> None:
    """Time both over one archive, alternating, and print the ratio."""
    ours = [sys.executable, "-m", "benchmarks.pairs_ours", archive]
    theirs = [environment(peer), PEERS / peer / "pairs.py", archive]
    lines: dict[str, list[dict[str, float]]] = {"ours": [], peer: []}
    for _ in range(runs):
        lines["ours"].append(measured(ours))
        lines[peer].append(measured(theirs))
    print(f"{name}, {count} pages, {archive.stat().st_size / 1e6:.0f} MB, {runs} alternating runs")
    median = {who: {k: statistics.median(line[k] for line in found) for k in ("cpu", "wall")} for who, found in lines.items()}
    for who, found in lines.items():
        times, pairs = median[who], found[0]["pairs"]
        spread = f"{min(line['cpu'] for line in found):.3f}-{max(line['cpu'] for line in found):.3f}"
        rate = f"{count / times['cpu']:.0f} pages/s, {pairs / times['cpu']:.0f} pairs/s"
        print(f"  {who:12} cpu {times['cpu']:.3f} s ({spread}), wall {times['wall']:.3f} s: {rate}")
    ratio = {k: median[peer][k] / median["ours"][k] for k in ("cpu", "wall")}
    print(f"  ratio of medians: {ratio['cpu']:.2f} (cpu), {ratio['wall']:.2f} (wall)")


def formats(warc: Path, runs: int) -> None:
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
    lines: dict[str, list[dict[str, float]]] = {name: [] for name in files}
    for _ in range(runs):
        for name, path in files.items():
            lines[name].append(measured([sys.executable, "-m", "benchmarks.pairs_ours", path]))
    median = {name: statistics.median(line["cpu"] for line in found) for name, found in lines.items()}
    print(f"formats, the same records, {runs} alternating runs, all ours")
    for name, found in lines.items():
        if {line["pairs"] for line in found} != {lines["gzip"][0]["pairs"]}:
            raise SystemExit(f"{name}: other pairs than those of the gzip WARC")
        size = files[name].stat().st_size / 1e6
        print(f"  {name:16} {size:.1f} MB, cpu {median[name]:.3f} s, speed beside gzip {median['gzip'] / median[name]:.2f}")


def dumped(command: list[Any], name: str) -> list[Pair]:
    """The pairs of one untimed run."""
    path = WORK / name
    measured([*command, path])
    return [tuple(json.loads(line)) for line in path.read_text(encoding="utf-8").splitlines()]


def compare_html(archive: Path, rounds: int) -> None:
    """F1 of ours against the DOM reading of the same pages, as multisets."""
    ours = dumped([sys.executable, "-m", "benchmarks.pairs_ours", archive], "ours.jsonl")
    dom: list[Pair] = []
    for url, html in pages(PAGES, rounds):
        dom += [(url, c.image_url, c.alt) for c in read_page(html, url, "utf-8").candidates if c.image_url and c.alt]
    both = sum((Counter(ours) & Counter(dom)).values())
    print(f"  pairs: ours {len(ours)}, DOM reading {len(dom)}, F1 {2 * both / (len(ours) + len(dom)):.4f}")


def compare_wat(archive: Path) -> None:
    """Ours and cc2dataset's, in one spelling of addresses and white space."""
    ours = set(dumped([sys.executable, "-m", "benchmarks.pairs_ours", archive], "ours.jsonl"))
    peer = dumped([environment("cc2dataset"), PEERS / "cc2dataset" / "pairs.py", archive], "cc2dataset.jsonl")
    theirs = {(page, normalise(url) or "", fold(alt)) for page, url, alt in peer}
    theirs = {pair for pair in theirs if pair[1] and pair[2]}
    same = "identical" if ours == theirs else f"different: {len(ours - theirs)} only ours, {len(theirs - ours)} only theirs"
    print(f"  pair sets: ours {len(ours)}, cc2dataset {len(theirs)}, {same}")


def memory(kind: str, small: Path, large: Path) -> None:
    """Peak resident memory of one input and of ten times as much."""
    peak = [measured([sys.executable, "-m", "benchmarks.pairs_ours", path, "--count"])["peak"] for path in (small, large)]
    size = [path.stat().st_size / 1e6 for path in (small, large)]
    told = [f"{megabytes:.0f} MB peaks at {most / 1e6:.1f} MB" for megabytes, most in zip(size, peak, strict=True)]
    print(f"{kind} memory: {told[0]}, {told[1]}: {peak[1] / peak[0]:.3f} times")


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--runs", type=int, default=7)
    asked.add_argument("--formats", action="store_true", help="compare the formats alone, without the peers")
    asked.add_argument("--rounds", type=int, default=2, help="how often the sample's pages are repeated")
    given = asked.parse_args()
    WORK.mkdir(parents=True, exist_ok=True)
    warc, wat = WORK / "pages.warc.gz", WORK / "pages.wat.gz"
    count = write_warc(warc, PAGES, given.rounds)
    formats(warc, given.runs)
    if given.formats:
        return
    write_wat(wat, PAGES, given.rounds, warc.name)
    beside("gzip WARC", "fastwarc", warc, given.runs, count)
    compare_html(warc, given.rounds)
    beside("gzip WAT", "cc2dataset", wat, given.runs, count)
    compare_wat(wat)
    for kind, small in (("WARC", warc), ("WAT", wat)):
        large = WORK / f"ten.{small.name}"  # gzip members follow each other, so files of them can be joined
        with large.open("wb") as handle:
            for _ in range(10):
                handle.write(small.read_bytes())
        memory(kind, small, large)
        large.unlink()


if __name__ == "__main__":
    main()
