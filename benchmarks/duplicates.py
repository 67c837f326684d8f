"""Near-duplicate images found by our signal, the paper's cosine and perceptual hashes: ``python -m benchmarks.duplicates``.

Originals are the distinct images of the sample's packages (``hearsight data --benchmarks``), or those of ``--images FOLDER``.
Every original and every change of it (``duplicates_changes``) is a file; a signal pairs files; what counts are pairs of an
original and a change. Recall of a change: originals paired with their own. Precision: such pairs among all of the signal's.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from benchmarks.duplicates_changes import VARIANTS, flat, originals, variants
from benchmarks.harness import PACKAGES, WORK, show
from components.core.digests import sha256_bytes
from components.core.result_cache import ResultCache
from components.stages.dedup import Aligned
from components.stages.dedup.hashes import near_hashes
from components.stages.dedup.images import content_key, encode_content, find_candidates
from components.stages.dedup.matching import match_pairs
from components.stages.dedup.posts import unit_rows
from components.stages.dedup.sketches import cut_content, make_sketch, miniatures
from components.stages.dedup.sketches import flatten as sketched
from components.vision.features import ImageFeatures, feature_key, flatten
from components.web.images.image import perceptual_hash

KINDS = list(VARIANTS)
LIMITS = Aligned().plain()


def write(paths: list[Path], folder: Path, changed: int) -> int:
    """The files: ``<number>-o`` for an original, ``<number>-<kind>`` for a change of ``changed`` of them; how many originals."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    step = max(1, len(paths) // changed)
    for number, path in enumerate(paths):
        flat(path.read_bytes()).save(folder / f"{number:04d}-o.png")
        if number % step == 0:
            for kind, data in variants(path, number):
                (folder / f"{number:04d}-{KINDS.index(kind):02d}.jpg").write_bytes(data)
    return len(paths)


def numbers(folder: Path) -> list[int]:
    """The originals that were changed."""
    return sorted({int(path.name[:4]) for path in folder.iterdir() if "-o" not in path.name})


def row(name: str, pairs: set[tuple[str, str]], changed: list[int]) -> dict[str, Any]:
    """Recall of each kind among the ``changed`` originals, and precision of ``pairs`` of file names."""
    found, wrong = dict.fromkeys(KINDS, 0), 0
    wanted = set(changed)
    for pair in pairs:
        one, other = sorted(pair, key=lambda file: "-o" not in file)
        if "-o" not in one or "-o" in other or int(other[:4]) not in wanted:
            continue
        if one[:4] == other[:4]:
            found[KINDS[int(other[5:7])]] += 1
        else:
            wrong += 1
    right = sum(found.values())
    return {
        "system": name,
        "precision": round(right / max(1, right + wrong), 4),
        "wrong": wrong,
        "recall": {kind: round(found[kind] / len(wanted), 3) for kind in KINDS},
    }


def confused(pairs: set[tuple[str, str]]) -> dict[str, int]:
    """Two different originals (numbers) → pairs of their files, most first: what to look at."""
    counts: dict[str, int] = {}
    for one, other in pairs:
        if one[:4] != other[:4]:
            name = " ".join(sorted((one[:4], other[:4])))
            counts[name] = counts.get(name, 0) + 1
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def ours(folder: Path, store: ResultCache) -> dict[str, set[tuple[str, str]]]:
    """Pairs of files by our signal, by the cosine alone (the paper's rule: ≥ .9), and by perceptual hashes, also with turns."""
    files = sorted(folder.iterdir())
    data = {file.name: file.read_bytes() for file in files}
    names, seconds, begun = list(data), {}, time.process_time()
    sketches = {name: make_sketch(sketched(content)) for name, content in data.items()}
    seconds["sketch"] = (time.process_time() - begun) / len(names)
    begun = time.process_time()
    contents = {name: content for name in names if (content := cut_content(sketched(data[name]))) is not None}
    seconds["frame"] = (time.process_time() - begun) / len(names)
    keys = {name: feature_key(sha256_bytes(content), 0) for name, content in data.items()}
    inner = {name: content_key(content) for name, content in contents.items()}
    begun = time.process_time()
    payloads = {keys[n]: (lambda n=n: (data[n], "", 0)) for n in names}
    payloads |= {inner[n]: (lambda n=n: (encode_content(data[n]), "", 0)) for n in contents}
    features = store.annotate(ImageFeatures(), payloads)
    computed = store.computed.get(ImageFeatures.name, 0)
    seconds["features"] = (time.process_time() - begun) / computed if computed else None
    show({"CPU s an image": seconds, "with a second view": {
        "originals": round(sum("-o" in n for n in contents) / sum("-o" in n for n in names), 3),
        "changes": round(sum("-o" not in n for n in contents) / sum("-o" not in n for n in names), 3)}})  # fmt: skip
    pairs = {"aligned": aligned(names, sketches, contents, {n: features[keys[n]][0] for n in names},
                                {n: features[inner[n]][0] for n in contents})}  # fmt: skip
    first, rest = ([name for name in names if ("-o" in name) == original] for original in (True, False))
    one, other = (unit_rows(np.stack([features[keys[n]][0] for n in part])).astype(np.float32) for part in (first, rest))
    cosines = one @ other.T
    for least in (0.9, 0.8):
        pairs[f"cosine ≥ {least}"] = {(first[a], rest[b]) for a, b in zip(*np.nonzero(cosines >= least), strict=True)}
    turns = {}
    for name in first:
        image = flatten(data[name])
        turns[name] = [perceptual_hash(p) for p in (image, *(image.transpose(turn) for turn in range(7)))]
    plain = [perceptual_hash(flatten(data[n])) for n in rest]
    for label, how_many, most in (("pHash ≤ 6", 1, 6), ("pHash ≤ 10", 1, 10), ("pHash ≤ 10, eight turns", 8, 10)):
        hashes = [value for n in first for value in turns[n][:how_many]] + plain
        edge = len(first) * how_many
        near = [
            (a, b)
            for block in near_hashes(np.array([int(h, 16) for h in hashes], np.uint64), most)
            for a, b in zip(*(x.tolist() for x in block), strict=True)
        ]
        pairs[label] = {(first[a // how_many], rest[b - edge]) for a, b in near if a < edge <= b}
    return pairs


def aligned(
    names: list[str],
    sketches: dict[str, Any],
    contents: dict[str, Image.Image],
    wholes: dict[str, Any],
    inners: dict[str, Any],
) -> set[tuple[str, str]]:
    """Pairs of files, an original and a change or two originals, that the stage's signal matches."""
    views = [*names, *contents]
    drawn = np.stack([*sketches.values(), *(make_sketch(content) for content in contents.values())])
    vectors = unit_rows(np.stack([*(wholes[n] for n in names), *(inners[n] for n in contents)])).astype(np.float32)
    first = np.array([row for row, name in enumerate(views) if "-o" in name])
    i, j, cosines = find_candidates(vectors[first], miniatures(drawn[first]), vectors, miniatures(drawn)[:, 0], LIMITS)
    named = np.array(views)
    once = (named[first[i]] < named[j]) | (np.char.find(named[j], "-o") < 0)
    i, j, cosines = i[once], j[once], cosines[once]
    begun = time.process_time()
    near = match_pairs(drawn[first], drawn, i, j, cosines, LIMITS)
    cost = (time.process_time() - begun) / len(i) * 1000
    show({"candidates": len(i), "of": len(first) * len(views), "CPU ms a candidate": cost})
    return {(views[first[a]], views[b]) for a, b in zip(i[near], j[near], strict=True)}


def listed(folder: Path, names: Path | None) -> list[Path]:
    """Return the images of ``folder``, or those whose names ``names`` lists, in order."""
    if names is None:
        return sorted(path for path in folder.iterdir() if path.suffix.lower() in (".jpg", ".jpeg", ".png"))
    return [folder / name for name in names.read_text(encoding="utf-8").split()]


def main() -> None:
    """Print a table of recall: a row a signal."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--images", type=Path, help="of this folder instead of the sample's")
    parser.add_argument("--list", type=Path, help="with --images: a file of their names; all by default")
    parser.add_argument("--changed", type=int, default=10_000, help="how many are changed, evenly spread; all by default")
    options = parser.parse_args()
    paths = listed(options.images, options.list) if options.images else originals(PACKAGES)
    folder = WORK / "images"
    write(paths, folder, options.changed)
    changed = numbers(folder)
    show({"originals": len(paths), "changed": len(changed)})
    found = ours(folder, ResultCache(WORK / "annotations"))
    for name, pairs in found.items():
        show(row(name, pairs, changed))
    for one_and_other, count in confused(found["aligned"]).items():
        show({"different originals that aligned pairs": one_and_other, "pairs": count})


if __name__ == "__main__":
    main()
