"""One run of ours, in a process of its own: ``python -m benchmarks.caption_metrics_ours WORK FILE``; prints a JSON line."""

from __future__ import annotations

import json
import random
import resource
import sys
import time
from pathlib import Path
from typing import Any

from benchmarks.caption_metrics_inputs import large
from components.metrics.bleu import bleu_counts, bleu_scores
from components.metrics.captions import score_captions
from components.metrics.cider import CiderD
from components.metrics.ngram_table import NgramTable
from components.metrics.rouge import rouge_l_items


def three(candidates: list[str], references: list[list[str]]) -> dict[str, Any]:
    """BLEU, ROUGE-L and CIDEr as the peer gives them (corpus and items), from the same strings."""
    spent: dict[str, float] = {}
    begun = time.process_time()

    def lap(name: str) -> None:
        nonlocal begun
        now = time.process_time()
        spent[name], begun = spent.get(name, 0.0) + now - begun, now

    said, known = [text.split() for text in candidates], [[text.split() for text in texts] for texts in references]
    lap("words")
    table = NgramTable.of(known)
    lap("references")
    cider = CiderD(table)
    lap("cider")
    counts, rouge, scores = [], [], []
    for match in table.matches(said):
        lap("matching")
        counts.append(bleu_counts(match))
        lap("bleu")
        rouge.extend(rouge_l_items(match).tolist())
        lap("rouge_l")
        scores.extend(cider.score_match(match).tolist())
        lap("cider")
    bleu, _ = bleu_scores(counts)
    lap("bleu")
    found = {f"bleu_{size}": float(value) for size, value in enumerate(bleu, start=1)}
    found |= {"rouge_l": sum(rouge) / len(rouge), "cider": sum(scores) / len(scores)}
    return {"spent": spent, "corpus": found}


def everything(candidates: list[str], references: list[list[str]]) -> dict[str, Any]:
    """All nine metrics at once."""
    begun = time.process_time()
    scores = score_captions([text.split() for text in candidates], [[text.split() for text in texts] for texts in references])
    return {"spent": {"all": time.process_time() - begun}, "corpus": scores.corpus}


def reward(items: int, batches: int = 40) -> dict[str, Any]:
    """CIDEr-D of sampled captions, as word numbers, against items × 5 references prepared once."""
    candidates, references = large(items, 5)
    words = {word: number for number, word in enumerate({word for known in references for text in known for word in text})}
    known = [[[words[word] for word in text] for text in texts] for texts in references]
    said = [[words.get(word, -1) for word in text] for text in candidates]
    begun = time.process_time()
    scorer = CiderD(known)
    line: dict[str, Any] = {"items": items, "prepared s": round(time.process_time() - begun, 2)}
    source = random.Random(0)
    for size in (50, 500):
        times = []
        for _ in range(batches):
            # Five samples a picture, as self-critical training draws them.
            chosen = [item for item in source.sample(range(items), size // 5) for _ in range(5)]
            drawn = [[*said[item][:-1], source.randrange(len(words))] for item in chosen]
            begun = time.process_time()
            scorer.score(drawn, chosen)
            times.append(time.process_time() - begun)
        line[f"captions a CPU s, batches of {size}"] = round(size / sorted(times)[batches // 2])
    return line


def main() -> None:
    """Run ``three``, ``everything`` or ``reward``."""
    work, what = sys.argv[1:3]
    if work == "reward":
        line = reward(int(what))
    else:
        corpus = json.loads(Path(what).read_text(encoding="utf-8"))
        line = (three if work == "three" else everything)(corpus["candidates"], corpus["references"])
    print(json.dumps(line | {"memory MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024}))


if __name__ == "__main__":
    main()
