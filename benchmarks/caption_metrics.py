"""BLEU, ROUGE-L and CIDEr beside pycocoevalcap: ``python -m benchmarks.caption_metrics`` (``--equal``, ``--reward``).

Speed: drawn captions with COCO's lengths and about its vocabulary, as strings of words parted by blanks; a process a run, one
thread, in turns, CPU time of scoring alone. ``--reward``: CIDEr-D as self-critical training asks for it, no peer.

``--equal`` draws corpora (10,000 by default) of every kind of ``caption_metrics_inputs``, scores each with both, and prints the
largest difference of each metric, over corpora and items. CIDEr-R beside sacreeos, which has its authors' program, on corpora
without empty candidates (it gives no number there) and with punctuation inside words replaced (it splits there again). Exits with
1 where a difference exceeds 1e-9. ``--facts FILE`` writes small corpora with the peer's values instead: the tests' facts.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

from benchmarks.caption_metrics_inputs import KINDS, Corpus, corpora, large
from benchmarks.harness import ONE_THREAD, PEERS, beside, environment, in_turns, measured, medians, ours, show
from components.metrics.bleu import bleu_counts, bleu_scores
from components.metrics.captions import score_captions
from components.metrics.cider import CiderD
from components.metrics.ngram_table import NgramTable
from components.metrics.rouge import rouge_l_items

LIMIT = 1e-9
NAMES = ("bleu_1", "bleu_2", "bleu_3", "bleu_4", "rouge_l", "cider")


def score_three(candidates: list[str], references: list[list[str]]) -> dict[str, float]:
    """Return BLEU, ROUGE-L and CIDEr as the peer gives them, from the same strings."""
    table = NgramTable.of([[text.split() for text in texts] for texts in references])
    cider = CiderD(table)
    counts, rouge, scores = [], [], []
    for match in table.matches([text.split() for text in candidates]):
        counts.append(bleu_counts(match))
        rouge.extend(rouge_l_items(match).tolist())
        scores.extend(cider.score_match(match).tolist())
    found = {f"bleu_{size}": float(value) for size, value in enumerate(bleu_scores(counts)[0], start=1)}
    return found | {"rouge_l": sum(rouge) / len(rouge), "cider": sum(scores) / len(scores)}


def score_file(path: Path) -> None:
    """Score a corpus in this process; print values, CPU time and memory as JSON."""
    corpus = json.loads(path.read_text(encoding="utf-8"))
    start = time.process_time()
    found = score_three(corpus["candidates"], corpus["references"])
    spent = {"all": time.process_time() - start}
    print(json.dumps({"spent": spent, "corpus": found, "memory MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


def compare_speed(items: int, references: int, runs: int, scratch: Path) -> None:
    """Print CPU seconds of each, the ratio of medians, and peak memory."""
    path = scratch / f"{references}.json"
    candidates, known = large(items, references)
    texts = {"candidates": [" ".join(c) for c in candidates], "references": [[" ".join(r) for r in each] for each in known]}
    path.write_text(json.dumps(texts), encoding="utf-8")
    peer = [environment("pycocoevalcap"), PEERS / "pycocoevalcap" / "run.py", "time", path]
    found = in_turns(
        {
            "ours": lambda: measured(*ours("caption_metrics"), "--score", path, env=ONE_THREAD),
            "pycocoevalcap": lambda: measured(*peer, env=ONE_THREAD),
        },
        runs,
    )
    mine, other = (side[0]["corpus"] for side in found.values())
    spent = {side: [sum(run["spent"].values()) for run in all_runs] for side, all_runs in found.items()}
    row: dict[str, Any] = {"items": items, "references": references, **medians(spent, "CPU s"), **beside(spent, digits=1)}
    row["largest difference"] = max(abs(mine[name] - other[name]) for name in other)
    show(row | {f"{side}, peak MiB": round(all_runs[0]["memory MiB"]) for side, all_runs in found.items()})
    if row["largest difference"] > LIMIT:
        raise SystemExit("the two differ")


def reward(items: int, batches: int = 40) -> None:
    """Print the rate of CIDEr-D of sampled captions, as word numbers, against items × 5 references prepared once."""
    candidates, references = large(items, 5)
    words = {word: number for number, word in enumerate({word for known in references for text in known for word in text})}
    known = [[[words[word] for word in text] for text in texts] for texts in references]
    said = [[words.get(word, -1) for word in text] for text in candidates]
    begun = time.process_time()
    scorer = CiderD(known)
    row: dict[str, Any] = {"items": items, "prepared, CPU s": round(time.process_time() - begun, 2)}
    source = random.Random(0)
    for size in (50, 500):
        times = []
        for _ in range(batches):
            # Five samples an image, as self-critical training draws them.
            chosen = [item for item in source.sample(range(items), size // 5) for _ in range(5)]
            drawn = [[*said[item][:-1], source.randrange(len(words))] for item in chosen]
            begun = time.process_time()
            scorer.score(drawn, chosen)
            times.append(time.process_time() - begun)
        row[f"captions a CPU s, batches of {size}"] = round(size / statistics.median(times))
    show(row)


def theirs(peer: str, given: list[Corpus]) -> list[dict[str, Any]]:
    """The peer's values: [corpus, [items]] of each metric, a corpus each."""
    lines = "".join(
        json.dumps(
            {
                "candidates": [" ".join(c) for c in candidates],
                "references": [[" ".join(r) for r in known] for known in references],
            }
        )
        + "\n"
        for candidates, references in given
    )
    command = [str(environment(peer)), str(PEERS / peer / "run.py")]
    done = subprocess.run(command, input=lines, capture_output=True, text=True, check=False, encoding="utf-8")
    if done.returncode:
        raise SystemExit(done.stderr)
    return [json.loads(line) for line in done.stdout.splitlines()]


def differences(kinds: list[str], given: list[Corpus], peer: str, names: tuple[str, ...]) -> dict[str, dict[str, float]]:
    """The largest difference by metric and kind."""
    worst: dict[str, dict[str, float]] = {name: defaultdict(float) for name in names}
    for kind, (candidates, references), expected in zip(kinds, given, theirs(peer, given), strict=True):
        scores = score_captions(candidates, references)
        for name in names:
            value, items = expected[name]
            pairs = [(scores.corpus[name], value), *zip(scores.items[name].tolist(), items, strict=True)]
            worst[name][kind] = max(worst[name][kind], *(abs(mine - other) for mine, other in pairs))
    return worst


def write_facts(path: Path) -> None:
    """Small corpora with the peer's values (13 digits), a JSON line each; captions as words parted by blanks."""
    # Of forty references and of long captions two are enough: they fill the file.
    drawn = [found for place, (kind, found) in enumerate(corpora(7, 5 * len(KINDS))) if place < 16 or kind not in KINDS[2::5]]
    lines = []
    for (candidates, references), expected in zip(drawn, theirs("pycocoevalcap", drawn), strict=True):
        line: dict[str, Any] = {"candidates": [" ".join(c) for c in candidates]}
        line["references"] = [[" ".join(reference) for reference in known] for known in references]
        for name, (value, items) in expected.items():
            line[name] = [float(f"{value:.13g}"), [float(f"{item:.13g}") for item in items]]
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
    path.write_text("".join(lines), encoding="utf-8")


def _whole(found: Corpus) -> Corpus:
    """The same captions of words that nothing splits again."""

    def change(caption: list[str]) -> list[str]:
        return [re.sub(r"\W", "x", word) for word in caption]

    return [change(caption) for caption in found[0]], [[change(caption) for caption in known] for known in found[1]]


def compare_values(seed: int, count: int) -> None:
    """Print the largest difference of each metric from each peer; exit with 1 if one is too large."""
    drawn = [*corpora(seed, count), ("2,000 items of 5", large(2000, 5)), ("250 items of 40", large(250, 40, 1))]
    failed = False
    for peer, names, used in (
        ("pycocoevalcap", NAMES, drawn),
        ("sacreeos", ("cider_r",), [(kind, _whole(found)) for kind, found in drawn if all(found[0])]),
    ):
        worst = differences([kind for kind, _ in used], [found for _, found in used], peer, names)
        items = sum(len(candidates) for _, (candidates, _) in used)
        for name, found in worst.items():
            most = max(found.values())
            show({"peer": peer, "corpora": len(used), "items": items, "metric": name, "largest difference": float(f"{most:.1e}")})
            failed |= most > LIMIT
    sys.exit(int(failed))


def main() -> None:
    """Print a line a comparison."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--items", type=int, default=5000)
    parser.add_argument("--references", type=int, nargs="*", default=[5, 40])
    parser.add_argument("--reward", action="store_true", help="only self-critical training's CIDEr-D")
    parser.add_argument("--equal", action="store_true", help="only compare values")
    parser.add_argument("--corpora", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--facts", type=Path)
    parser.add_argument("--score", type=Path, help="score a corpus in this process")
    options = parser.parse_args()
    if options.score:
        score_file(options.score)
    elif options.facts:
        write_facts(options.facts)
    elif options.equal:
        compare_values(options.seed, options.corpora)
    elif options.reward:
        for items in (5_000, 50_000):
            reward(items)
    else:
        with tempfile.TemporaryDirectory() as scratch:
            for references in options.references:
                # Of forty references the peer takes a minute a run.
                compare_speed(options.items, references, options.runs if references < 20 else min(options.runs, 3), Path(scratch))


if __name__ == "__main__":
    main()
