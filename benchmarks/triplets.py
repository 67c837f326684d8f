"""Accuracy of each metric on triplets of a reference and two captions: ``python -m benchmarks.triplets FILE``.

FILE has the format of the CIDEr-R authors (Santos, Colombini and Avila 2021): ``{"HCI": {"0": [A, B, C, winner]}, "HII": ...}``.
A is the reference; the winner is B above 0 and C below 0. In HCI B describes the same image as A, in HII it is also cut to a
quarter to a half; C describes another image. A metric is right if it scores the winner strictly higher: ties are wrong, as in
the authors' program. A file of duplicate groups (``{"2": [{"caption": ...}, ...]}``) becomes every pair of each group in the
authors' order, C and the cut drawn by ``--seed``.

Document frequencies are those of the references scored together: a whole set, or with ``--batch N`` the keys of each N in turn
(the authors: 500). Triplets of one group repeat its captions, so intervals are bootstrapped over groups of captions.
``--write FOLDER`` writes COCO's files for ``hearsight score``, whose function gives the scores here.
"""

from __future__ import annotations

import argparse
import json
import random
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.harness import show
from components.metrics.bootstrap import bootstrap_interval
from components.metrics.coco import Captions
from components.stages.dedup.groups import Groups
from components.tools.score import METRICS, score

PUBLISHED = {"bleu_4": "Bleu_4", "meteor": "METEOR", "rouge_l": "ROUGE_L", "cider": "CIDEr", "cider_r": "CIDEr-R"}
"""Our name of a metric → the authors'."""
RESAMPLES = 2_000
Triplets = dict[int, tuple[str, str, str, float]]


def read(path: Path, seed: int) -> dict[str, Triplets]:
    """Return the triplets of each set by their key."""
    content: Any = json.loads(path.read_text(encoding="utf-8"))
    if not content.keys() & {"HCI", "HII"}:
        return pairs_of([[post["caption"] for post in group] for group in content.values()], seed)
    return {name: {int(key): (a, b, c, winner) for key, (a, b, c, winner) in items.items()} for name, items in content.items()}


def pairs_of(groups: list[list[str]], seed: int) -> dict[str, Triplets]:
    """Return a triplet for each pair of each group, as the authors make them."""
    source = random.Random(seed)
    sets: dict[str, Triplets] = {"HCI": {}, "HII": {}}
    for number, captions in enumerate(groups):
        others = [other for other in range(len(groups)) if other != number]
        for first, reference in enumerate(captions):
            for caption in captions[first + 1 :]:
                key, unrelated = len(sets["HCI"]), source.choice(groups[source.choice(others)])
                words = caption.split()
                cut = " ".join(words[: source.randint(len(words) // 4, len(words) // 2)])
                sets["HCI"][key] = (reference, caption, unrelated, 1)
                sets["HII"][key] = (reference, cut, unrelated, 1)
    return sets


def batches(keys: Iterable[int], size: int) -> Iterator[list[int]]:
    """Yield the keys of each range of ``size``; all together if it is 0."""
    ranges = defaultdict(list)
    for key in keys:
        ranges[key // size if size else 0].append(key)
    yield from ranges.values()


def scored(triplets: Triplets, side: int, size: int, jar: str) -> tuple[dict[str, dict[int, float]], dict[str, str]]:
    """Return each metric's score of each triplet's caption B (``side`` 1) or C (2), and the metrics left out."""
    found: dict[str, dict[int, float]] = defaultdict(dict)
    left_out: dict[str, str] = {}
    for keys in batches(triplets, size):
        captions = Captions(list(keys), [str(triplets[key][side]) for key in keys], [[triplets[key][0]] for key in keys])
        scores = score(captions, meteor_path=jar, language="pt")
        left_out |= scores.left_out
        for name in METRICS:
            found[name] |= dict(zip(keys, scores.items.get(name, ()), strict=False))
    return {name: values for name, values in found.items() if len(values) == len(triplets)}, left_out


def independent(sets: Mapping[str, Triplets]) -> list[list[int]]:
    """Return the keys by group: triplets that share an uncut caption A or B stay together."""
    uncut = sets.get("HCI") or next(iter(sets.values()))
    numbers: dict[str, int] = {}
    places = {
        key: (numbers.setdefault(a, len(numbers)), numbers.setdefault(b, len(numbers))) for key, (a, b, _, _) in uncut.items()
    }
    groups = Groups(len(numbers))
    ends = np.array(list(places.values()), np.int64)
    groups.add(ends[:, 0], ends[:, 1])
    labels, by_label = groups.labels(), defaultdict(list)
    for key, (first, _) in places.items():
        by_label[int(labels[first])].append(key)
    return list(by_label.values())


def row(
    name: str, metric: str, outcomes: Mapping[int, tuple[bool, bool]], groups: list[list[int]], theirs: float | None
) -> dict[str, Any]:
    """Return a row of the table; ``outcomes`` holds for each key whether the metric is right and whether it ties."""
    counts = [
        (sum(outcomes[key][0] for key in known), len(known))
        for keys in groups
        if (known := [key for key in keys if key in outcomes])
    ]

    def share(drawn: list[Any]) -> float:
        return float(sum(right for right, _ in drawn) / sum(count for _, count in drawn))

    low, high = bootstrap_interval(counts, share, seed=1, resamples=RESAMPLES)
    ties = sum(tie for _, tie in outcomes.values())
    figures = {"set": name, "metric": metric, "accuracy": round(share(counts), 3), "95 %": f"{low:.3f}-{high:.3f}", "ties": ties}
    return figures | {"published": "" if theirs is None else f"{theirs:.3f}"}


def write(triplets: Triplets, name: str, folder: Path) -> None:
    """Write one set as COCO's files: references ``A``, candidates ``B`` and ``C``."""
    folder.mkdir(parents=True, exist_ok=True)
    annotations = [{"image_id": key, "id": key, "caption": triplet[0]} for key, triplet in triplets.items()]
    content: dict[str, Any] = {"A": {"images": [{"id": key} for key in triplets], "annotations": annotations}}
    for side, letter in ((1, "B"), (2, "C")):
        content[letter] = [{"image_id": key, "caption": triplet[side]} for key, triplet in triplets.items()]
    for letter, value in content.items():
        (folder / f"{name}-{letter}.json").write_text(json.dumps(value, ensure_ascii=False), encoding="utf-8")


def main() -> None:
    """Print a row for each set and metric."""
    parser = argparse.ArgumentParser(description="Accuracy of each metric on triplets of a reference and two captions.")
    parser.add_argument("file", type=Path, metavar="FILE", help="triplets, or duplicate groups")
    parser.add_argument("--published", type=Path, help="the authors' accuracies")
    parser.add_argument("--batch", type=int, default=0, help="keys scored together; 0: all of a set")
    parser.add_argument("--seed", type=int, default=1, help="of the triplets made from groups")
    parser.add_argument("--meteor", default="", help="meteor-1.5.jar; off: without METEOR")
    parser.add_argument("--write", type=Path, help="folder for COCO's files")
    options = parser.parse_args()
    published = json.loads(options.published.read_text(encoding="utf-8")) if options.published else {}
    sets = read(options.file, options.seed)
    groups = independent(sets)
    print(f"{', '.join(f'{name} {len(triplets)}' for name, triplets in sets.items())} triplets of {len(groups)} groups\n")
    missing: dict[str, str] = {}
    for name, triplets in sets.items():
        if options.write:
            write(triplets, name, options.write)
        better, missing = scored(triplets, 1, options.batch, options.meteor)
        worse, _ = scored(triplets, 2, options.batch, options.meteor)
        for metric, scores in better.items():
            pairs = {key: (scores[key], worse[metric][key]) for key in triplets}
            outcomes = {key: (b > c if triplets[key][3] > 0 else b < c, b == c) for key, (b, c) in pairs.items()}
            theirs = published.get(name, {}).get(PUBLISHED.get(metric, ""))
            show(row(name, metric, outcomes, groups, theirs))
    for metric, reason in missing.items():
        print(f"{metric} left out: {reason}")


if __name__ == "__main__":
    main()
