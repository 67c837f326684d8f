"""How fast captions are parsed, scored and judged: ``python -m benchmarks.scene_graph``.

Input: captions made from lists of words (the same each run), 1,000 items of one candidate and five references, all different.
Each part in turns with the others, one thread, CPU time, medians; no peer: no SPICE runs without a network.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import time
from collections.abc import Callable
from typing import Any

from threadpoolctl import threadpool_limits

from components.language.metric_lexicon import load_lexicon
from components.metrics.caption_parses import parse_captions
from components.metrics.caption_repetition import measure_repetition
from components.metrics.hallucination import find_hallucinations
from components.metrics.scene_graph import scene_graph_f
from components.metrics.scene_graph_reading import scene_graph

ITEMS, REFERENCES = 1000, 5
_PARTS = (
    "a|two|the|a young|a small red|an old|several",
    "man|woman|dog|cat|bus|giraffe|girl|boy|train|group of people|picture of a bird|horse",
    "standing|sitting|that is parked|running|holding a red umbrella|eating an apple|looking at a camera|covered with snow",
    "on top of|next to|in front of|on|near|behind|under",
    "a tennis court|a green field|the street|a wooden table|a large building|a bench and a tree|the beach",
    "|in the rain|with a hat|at night|and a bicycle|in the background",
)


def captions(number: int) -> list[str]:
    """That many different captions."""
    source, found = random.Random(7), dict[str, None]()
    while len(found) < number:
        found[" ".join(source.choice(part.split("|")) for part in _PARTS).strip()] = None
    return list(found)


def main() -> None:
    """A JSON line: captions a CPU second of each part (of items: candidates and references together)."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=5)
    options = parser.parse_args()
    lexicon = load_lexicon()
    if lexicon is None:
        raise SystemExit("the dictionary is not there — run `make data`")
    texts = captions(ITEMS * (1 + REFERENCES))
    said = texts[:ITEMS]
    known = [texts[ITEMS + place * REFERENCES : ITEMS + (place + 1) * REFERENCES] for place in range(ITEMS)]
    with threadpool_limits(1):
        parses = parse_captions(texts, "en")
        parts: dict[str, Callable[[], Any]] = {
            "parse": lambda: parse_captions(texts, "en"),
            "scene graph of a parse": lambda: [scene_graph(parses[text]) for text in texts],
            "scene_graph_f, parsed": lambda: scene_graph_f(said, known, parses, lexicon),
            "scene_graph_f, parsed, lemmas only": lambda: scene_graph_f(said, known, parses),
            "hallucinations, parsed": lambda: find_hallucinations(said, known, [()] * ITEMS, parses, lexicon),
            "repetition": lambda: measure_repetition(texts),
        }
        spent: dict[str, list[float]] = {name: [] for name in parts}
        for number in range(-1, options.runs):
            for name, part in parts.items():
                start = time.process_time()
                part()
                if number >= 0:
                    spent[name].append(time.process_time() - start)
    print(json.dumps({name: round(len(texts) / statistics.median(times)) for name, times in spent.items()}))


if __name__ == "__main__":
    main()
