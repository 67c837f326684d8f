"""Images beside img2dataset: refused by header, looked at, and from a server to shards: ``python -m benchmarks.images``.

Input: pictures of the sample's packages as they are, and photograph-like JPEGs of 1 to 4 Mpx made from them, three in four
baseline and one progressive. Runs alternate, each in a process of its own, imports and reading of files untimed; a figure is
the ratio of medians, img2dataset's seconds by ours. Folders are worked on in one thread, three times in a row, and cost
processor seconds. The end-to-end feeds take seconds by the clock (and processor seconds, imports included); half of each are
rejects: too small (40 of 100), too narrow (30), HTML (20), missing (10). img2dataset gets the same limits and as many processes.
There are two feeds, one five times the other: starting up counts in both, and what one more address costs is their difference by
that of their lengths.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.images_feed import MAX_ASPECT, MIN_SIDE, make_feed, make_folders
from benchmarks.images_ours import PROCESSES

ROOT = Path(__file__).resolve().parent.parent
PEER = ROOT / "benchmarks" / "peers" / "img2dataset"


def peer_python() -> str:
    """The interpreter of img2dataset's own environment, made at the first call."""
    python = PEER / ".venv" / "bin" / "python"
    if not python.exists():
        subprocess.run([sys.executable, "-m", "venv", str(PEER / ".venv")], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", "-r", str(PEER / "requirements.txt")], check=True)
    return str(python)


def measured(*command: str) -> dict[str, Any]:
    """The JSON line that a run ends with."""
    # Bytecode is kept on either side, whatever this shell says of it: else start-up is a compiler's time.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


# -- side by side ----------------------------------------------------------------------------------------------------------


def alternate(runs: int, ours: Callable[[int], dict[str, Any]], theirs: Callable[[int], dict[str, Any]]) -> tuple[Any, Any]:
    """``runs`` of each in turns; returns both lists."""
    mine, peers = [], []
    for number in range(runs):
        mine.append(ours(number))
        peers.append(theirs(number))
    return mine, peers


def report(what: str, images: int, mine: list[dict[str, Any]], peers: list[dict[str, Any]]) -> None:
    """One JSON line with rates, the ratio of medians, and its least and greatest over the pairs of runs."""
    one, other = (median(runs, "seconds") for runs in (mine, peers))
    pairs = [peer["seconds"] / my["seconds"] for my, peer in zip(mine, peers, strict=True)]
    line = {
        "what": what,
        "images": images,
        "kept": [mine[0]["kept"], peers[0]["kept"]],
        "hearsight per s": round(images / one, 1),
        "img2dataset per s": round(images / other, 1),
        "ratio": round(other / one, 2),
        "pairs": [round(min(pairs), 2), round(max(pairs), 2)],
    }
    if "processors" in mine[0]:
        both = [median(runs, "processors") for runs in (mine, peers)]
        line["processor seconds"] = [round(used, 2) for used in both] + [round(both[1] / both[0], 2)]
    print(json.dumps(line), flush=True)


def main() -> None:
    """Make the input, run everything in turns, print a line a comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--images", type=int, default=100, help="files a folder; 4 and 20 times as many addresses a feed")
    parser.add_argument(
        "--only", default="", help="run only what is named so: photographs, progressive, jpegs, pngs, heads, feed"
    )
    options = parser.parse_args()
    python, peer = sys.executable, [peer_python(), str(PEER / "run.py")]
    ours = [python, "-m", "benchmarks.images_ours"]
    with tempfile.TemporaryDirectory() as scratch:
        base = Path(scratch)
        folders = make_folders(ROOT / "data" / "packages", base / "folders", options.images)
        for name, folder in folders.items():
            if options.only not in ("", name):
                continue
            images = len(list(folder.iterdir()))
            if name == "heads":
                limits = [str(MIN_SIDE[name]), str(MAX_ASPECT)]
                what, verb = "refused by header (theirs with the same limits)", "head"
            else:
                what, verb, limits = f"looked at: {name}", "look", ["0", "inf"]
            runs = alternate(
                options.runs,
                lambda _, verb=verb, folder=folder: measured(*ours, verb, str(folder)),
                lambda _, folder=folder, limits=limits: measured(*peer, "resize", str(folder), *limits),
            )
            report(what, images, *runs)
        if options.only not in ("", "feed"):
            return
        feeds = [options.images * 4, options.images * 20]
        both = [end_to_end(folders, base / f"feed-{count}", count, options.runs, ours, peer) for count in feeds]
        line: dict[str, Any] = {"what": "end to end, one more address"}
        for name, key in (("seconds", "seconds"), ("processor seconds", "processors")):
            mine, theirs = (
                (median(both[1][side], key) - median(both[0][side], key)) / (feeds[1] - feeds[0]) * 1000 for side in (0, 1)
            )
            line[f"ms, {name}"] = [round(mine, 2), round(theirs, 2), round(theirs / mine, 2)]
        print(json.dumps(line), flush=True)


def median(runs: list[dict[str, Any]], key: str) -> float:
    """The median of one figure over runs."""
    return statistics.median(run[key] for run in runs)


def end_to_end(folders: dict[str, Path], base: Path, count: int, runs: int, ours: list[str], peer: list[str]) -> tuple[Any, Any]:
    """A feed of ``count`` addresses, served, and crawled by both in turns; prints its line and returns their runs."""
    feed = make_feed(folders, base / "feed", count, random.Random(1))
    server = subprocess.Popen([*ours, "serve", str(feed.folder)], stdout=subprocess.PIPE, text=True, cwd=ROOT)
    try:
        assert server.stdout is not None
        origin = f"http://127.0.0.1:{int(server.stdout.readline())}"
        addresses = base / "feed.tsv"
        addresses.write_text("url\tcaption\n" + "".join(f"{origin}{path}\t{alt}\n" for path, alt in feed.images))

        def crawl(number: int) -> dict[str, Any]:
            home = base / f"ours-{number}"
            try:
                return measured(*ours, "crawl", f"{origin}/", str(home))
            finally:
                shutil.rmtree(home, ignore_errors=True)

        def download(number: int) -> dict[str, Any]:
            out = base / f"theirs-{number}"
            limits = [str(MIN_SIDE["feed"]), str(MAX_ASPECT), str(PROCESSES)]
            try:
                return measured(*peer, "download", str(addresses), str(out), *limits)
            finally:
                shutil.rmtree(out, ignore_errors=True)

        done = alternate(runs, crawl, download)
        report("end to end, 50 % rejects", count, *done)
        return done
    finally:
        server.kill()
        server.wait()


if __name__ == "__main__":
    main()
