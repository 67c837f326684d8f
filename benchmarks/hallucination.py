"""Hallucinated words found beside those judged by hand: ``python -m benchmarks.hallucination`` (``--wrong`` shows what differs).

Input: ``hallucination_pairs.tsv`` and ``hallucination_unseen.tsv``: captions with references and labels, and the words of the
caption that a reader of these takes for hallucinated. A word is a place in a caption: found and judged, found alone (a false
alarm), judged alone (missed). With and without the dictionary.
"""

from __future__ import annotations

import argparse
import csv
from pathlib import Path

from benchmarks.harness import show
from components.metrics.caption_parses import parse_captions
from components.metrics.hallucination import find_hallucinations
from components.metrics.lexicon import Lexicon, load_lexicon

HERE = Path(__file__).resolve().parent


def listed(cell: str, mark: str) -> list[str]:
    """The parts of a cell; none of an empty one."""
    return [part.strip() for part in cell.split(mark) if part.strip()]


def measure(name: str, lexicon: Lexicon | None, *, wrong: bool) -> dict[str, float | int | str]:
    """Precision and recall over one file, by word; prints what differs where asked to."""
    with (HERE / name).open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file, delimiter="\t"))
    candidates = [row["caption"] for row in rows]
    references = [listed(row["references"], ";") for row in rows]
    labels = [listed(row["labels"], ";") for row in rows]
    judged = [set(listed(row["hallucinated"], ",")) for row in rows]
    parses = parse_captions([*candidates, *(text for known in references for text in known)])
    found = find_hallucinations(candidates, references, labels, parses, lexicon)
    right = alarms = missed = 0
    for item, words in zip(found, judged, strict=True):
        told = {item.caption[mention.start : mention.end].split()[-1] for mention in item.hallucinated}
        right, alarms, missed = right + len(told & words), alarms + len(told - words), missed + len(words - told)
        if wrong and told != words:
            print(f"{item.caption}: false alarms {sorted(told - words)}, missed {sorted(words - told)}")
    return {
        "pairs": name,
        "dictionary": "WordNet 3.0" if lexicon is not None else "none",
        "captions": len(rows),
        "judged": right + missed,
        "found": right + alarms,
        "right": right,
        "precision": round(right / max(1, right + alarms), 3),
        "recall": round(right / max(1, right + missed), 3),
    }


def main() -> None:
    """Print a line a file and dictionary."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--wrong", action="store_true", help="show the captions where judgement and finding differ")
    options = parser.parse_args()
    lexicon = load_lexicon()
    if lexicon is None:
        raise SystemExit("the dictionary is not there — run `make data`")
    for name in ("hallucination_pairs.tsv", "hallucination_unseen.tsv"):
        if (HERE / name).exists():
            show(measure(name, lexicon, wrong=options.wrong))
            show(measure(name, None, wrong=False))


if __name__ == "__main__":
    main()
