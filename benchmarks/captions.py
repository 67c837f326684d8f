"""The filter's text rules beside the plain spaCy loop over all input: ``python -m benchmarks.captions``.

Input: every alt-text of the pages of the sample's packages, as often as it stands there, in the order of the files (``hearsight
data --benchmarks`` first). The loop parses each text, one at a time, and then asks every rule; ours asks cheap rules first and
parses what is left, in batches. Both keep the same texts. One process, one thread each, in turns; figures are ratios of median
CPU times, models loaded before.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def alt_texts() -> list[str]:
    """The recipe: of each HTML file below ``data/packages/unpacked``, in sorted order, each ``<img>`` with an alt-text."""
    from components.web.html.page import read_page

    pages = sorted((ROOT / "data" / "packages" / "unpacked").rglob("*.html"))
    return [
        found.alt
        for page in pages
        if page.is_file()
        for found in read_page(page.read_bytes(), "http://x/").candidates
        if found.alt
    ]


def measured(work: str, path: Path) -> dict[str, Any]:
    """One run, in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.captions_ours", work, str(path)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=environment)
    if done.returncode:
        raise SystemExit(done.stderr)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def beside(what: str, ours: str, theirs: str, path: Path, count: int, runs: int) -> None:
    """One JSON line: rates, the ratio of medians, its least and greatest over the pairs of runs."""
    pairs = [(measured(ours, path), measured(theirs, path)) for _ in range(runs)]
    assert all(mine["kept"] == other["kept"] for mine, other in pairs), "the two do not keep the same"
    mine, other = (statistics.median(pair[side]["processors"] for pair in pairs) for side in (0, 1))
    ratios = [pair[1]["processors"] / pair[0]["processors"] for pair in pairs]
    line = {
        "what": what,
        "texts": count,
        **{key: value for key, value in pairs[0][0].items() if key not in ("processors", "seconds")},
    }
    line |= {"ours per CPU s": round(count / mine, 1), "loop per CPU s": round(count / other, 1), "ratio": round(other / mine, 2)}
    print(json.dumps(line | {"pairs": [round(min(ratios), 2), round(max(ratios), 2)]}), flush=True)


def main() -> None:
    """Make the input, run everything in turns, print a line a comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    alts = alt_texts()
    with tempfile.TemporaryDirectory() as scratch:
        path, long, short = (Path(scratch) / name for name in ("alts.txt", "long.txt", "short.txt"))
        path.write_text("\n".join(alts) + "\n", encoding="utf-8")
        beside("the whole text filter", "cascade", "loop", path, len(alts), options.runs)
        distinct = [alt for alt in dict.fromkeys(alts) if len(alt.split()) >= 5][:1500]
        short.write_text("\n".join(distinct) + "\n", encoding="utf-8")
        beside("the parse alone", "parses", "parses-loop", short, len(distinct), options.runs)
        for name in ("vocabulary", "labels"):
            times = [measured(name, path)["alone s"] for _ in range(options.runs)]
            print(json.dumps({"what": name, "per CPU s": round(len(alts) / statistics.median(times))}), flush=True)
        long.write_text(path.read_text(encoding="utf-8") * 10, encoding="utf-8")
        one, ten = measured("cascade", path), measured("cascade", long)
        growth = {
            key: [round(one[key], 2), round(ten[key], 2), round(ten[key] / one[key], 2)] for key in ("processors", "memory MiB")
        }
        print(json.dumps({"what": "ten times the input", **growth}), flush=True)


if __name__ == "__main__":
    main()
