"""Duplicates beside the paper's algorithm 1, imagededup and fastdup: ``python -m benchmarks.duplicates``.

Posts: the same TF-IDF rows and features for both, one thread each, a process a run, in turns; ratios of medians of processor
seconds (the clock's beside them), and every pair compared. Hashes: all pairs at up to 10 bits. Adding: the stage itself with 1 %
more posts beside a rebuild of all, which must give the same bytes. Pictures: recall and precision over real pictures
(``hearsight data --benchmarks`` first), or over those of a folder (``--images``).
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.duplicates_pictures import originals
from benchmarks.pairs import PEERS, ROOT, WORK, environment

THREADS = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
OURS: list[Any] = [sys.executable, "-m", "benchmarks.duplicates_ours"]


def measured(*command: Any) -> dict[str, Any]:
    """The JSON line that a run ends with."""
    words = [str(word) for word in command]
    done = subprocess.run(words, cwd=ROOT, env={**os.environ, **THREADS}, capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def told(what: str, mine: list[dict[str, Any]], others: list[dict[str, Any]], **more: Any) -> None:
    """One JSON line: medians, and the ratios of medians with the least and greatest of the pairs of runs."""
    line: dict[str, Any] = {"what": what, **more}
    for key in ("seconds", "processors"):
        one, other = (statistics.median(run[key] for run in runs) for runs in (mine, others))
        ratios = [b[key] / a[key] for a, b in zip(mine, others, strict=True)]
        line[key] = {"ours": round(one, 3), "theirs": round(other, 3), "ratio": round(other / one, 1)}
        line[key]["pairs"] = [round(min(ratios), 1), round(max(ratios), 1)]
    print(json.dumps(line), flush=True)


def posts(runs: int, count: int) -> None:
    """20 k posts at .10/.10, and the listing's own loops on a slice."""
    import numpy as np

    folder = WORK / f"posts-{count}"
    measured(*OURS, "make", count, folder)
    pairs = [(measured(*OURS, "posts", folder, 0.1), measured(*OURS, "matrices", folder, 0.1)) for _ in range(runs)]
    mine, others = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
    found, wanted = ({tuple(pair) for pair in np.load(folder / f"{name}.npy").tolist()} for name in ("ours", "matrices"))
    memory = {"memory MiB": [mine[0]["memory MiB"], others[0]["memory MiB"]]}
    told(
        "posts", mine, others, posts=count, pairs=len(wanted), missed=len(wanted - found), invented=len(found - wanted), **memory
    )
    part = count // 10
    slow = measured(*OURS, "loop", folder, 0.1, part)
    whole = slow["processors"] * 100
    print(
        json.dumps(
            {"what": "the listing's loops", "posts": part, "processors": slow["processors"], "of all, at that rate": whole}
        )
    )


def hashes(runs: int) -> None:
    """10 k beside imagededup, 100 k alone."""
    source, paths = random.Random(1), {}
    for count in (10_000, 100_000):
        paths[count] = WORK / f"hashes-{count}.json"
        paths[count].write_text(json.dumps({f"{n}.jpg": f"{source.getrandbits(64):016x}" for n in range(count)}))
    peer = [environment("imagededup"), PEERS / "imagededup" / "run.py"]
    small, large = paths.values()
    pairs = [(measured(*OURS, "hashes", small), measured(*peer, "hashes", small, "brute_force_cython")) for _ in range(runs)]
    told("hashes", [pair[0] for pair in pairs], [pair[1] for pair in pairs], hashes=10_000)
    alone = [measured(*OURS, "hashes", large) for _ in range(runs)]
    middle = {key: statistics.median(run[key] for run in alone) for key in ("seconds", "processors", "memory MiB")}
    print(json.dumps({"what": "hashes", "hashes": 100_000, **middle}), flush=True)


def adding(runs: int, count: int) -> None:
    """1 % more posts beside a rebuild, features known on both sides."""
    command = [sys.executable, "-m", "benchmarks.duplicates_adding", count, count // 100, WORK / f"adding-{count}"]
    done = [measured(*command) for _ in range(runs)]
    told("adding 1 %", [run["adding"] for run in done], [run["rebuild"] for run in done], posts=count)


def pictures(paths: list[Path], changed: int, peers: bool) -> None:
    """The table, over these originals; ``changed`` of them are changed, the others must stay apart from them."""
    from benchmarks.duplicates_table import confused, numbers, ours, row, write
    from components.core.result_cache import ResultCache

    folder = WORK / "pictures"
    write(paths, folder, changed)
    numbers_of = numbers(folder)
    print(json.dumps({"what": "pictures", "originals": len(paths), "changed": len(numbers_of)}), flush=True)
    found = ours(folder, ResultCache(WORK / "annotations"))
    if peers:
        out = WORK / "pairs.json"
        measured(environment("imagededup"), PEERS / "imagededup" / "run.py", "folder", folder, out)
        found["imagededup pHash ≤ 10"] = {tuple(pair) for pair in json.loads(out.read_text())}
        for least in (0.9, 0.8):
            measured(environment("fastdup"), PEERS / "fastdup" / "run.py", "folder", folder, out, least, 40)
            found[f"fastdup {least}"] = {tuple(pair) for pair in json.loads(out.read_text())}
    for name, pairs in found.items():
        print(json.dumps(row(name, pairs, numbers_of)), flush=True)
    print(json.dumps({"different originals that aligned pairs": confused(found["aligned"])}), flush=True)


def listed(folder: Path, names: Path | None) -> list[Path]:
    """The images of ``folder``, or those whose names ``names`` lists, in order."""
    if names is None:
        return sorted(path for path in folder.iterdir() if path.suffix.lower() in (".jpg", ".jpeg", ".png"))
    return [folder / name for name in names.read_text(encoding="utf-8").split()]


def main() -> None:
    """Everything, or what is named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--posts", type=int, default=20_000)
    parser.add_argument("--only", choices=["posts", "hashes", "adding", "pictures"])
    parser.add_argument("--images", type=Path, help="pictures: of this folder instead of the sample's, without the peers")
    parser.add_argument("--list", type=Path, help="with --images: a file of their names; all by default")
    parser.add_argument(
        "--changed", type=int, default=10_000, help="pictures: how many are changed, evenly spread; all by default"
    )
    options = parser.parse_args()
    Path(WORK).mkdir(parents=True, exist_ok=True)
    if options.images:
        pictures(listed(options.images, options.list), options.changed, peers=False)
        return
    for name, work in {
        "posts": lambda: posts(options.runs, options.posts),
        "hashes": lambda: hashes(options.runs),
        "adding": lambda: adding(options.runs, options.posts),
        "pictures": lambda: pictures(originals(ROOT / "data" / "packages" / "unpacked"), options.changed, peers=True),
    }.items():
        if options.only in (None, name):
            work()


if __name__ == "__main__":
    main()
