"""Near-duplicate pictures found, kind by kind: our signal beside its parts, imagededup and fastdup.

Every original and every change of it (``duplicates_pictures``) is a file; a system pairs files; what counts are pairs of an
original and a change. Recall of a kind: originals paired with their own. Precision: such pairs among all of the system's, kinds
together.
"""

from __future__ import annotations

import json
import shutil
import time
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.duplicates_pictures import VARIANTS, flat, originals, variants
from components.core.digests import sha256_bytes
from components.core.result_cache import ResultCache
from components.stages.dedup.near import near_hashes
from components.stages.dedup.pictures import verify_pairs
from components.stages.dedup.posts import unit_rows
from components.stages.dedup.sketches import make_sketch, miniatures
from components.vision.features import ImageFeatures, feature_key, flatten
from components.web.images.image import perceptual_hash

KINDS = list(VARIANTS)
LIMITS = {"whole_from": 0.98, "cosine_from": 0.65, "cosine_weight": 0.6, "score_from": 1.35}
"""The defaults of ``components.stages.dedup.Aligned``."""


def write(unpacked: Path, folder: Path) -> int:
    """The files: ``<number>-o`` for an original, ``<number>-<kind>`` for a change; how many originals."""
    paths = originals(unpacked)
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    for number, path in enumerate(paths):
        # On white for all: the peers would show what is transparent as black.
        flat(path.read_bytes()).save(folder / f"{number:04d}-o.png")
        for kind, data in variants(path, number):
            (folder / f"{number:04d}-{KINDS.index(kind):02d}.jpg").write_bytes(data)
    return len(paths)


def row(name: str, pairs: set[tuple[str, str]], count: int, half: int | None = None) -> dict[str, Any]:
    """Recall of each kind and precision of ``pairs`` of file names; ``half`` keeps the even or odd originals."""
    found, wrong = dict.fromkeys(KINDS, 0), 0
    kept = [n for n in range(count) if half is None or n % 2 == half]
    wanted = set(kept)
    for pair in pairs:
        one, other = sorted(pair, key=lambda file: "-o" not in file)
        if "-o" not in one or "-o" in other or int(one[:4]) not in wanted:
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
        "recall": {kind: round(found[kind] / len(kept), 3) for kind in KINDS},
    }


def ours(folder: Path, store: ResultCache) -> dict[str, set[tuple[str, str]]]:
    """Pairs of files by our signal, by the cosine alone, and by perceptual hashes with and without turns."""
    files = sorted(folder.iterdir())
    data = {file.name: file.read_bytes() for file in files}
    begun = time.process_time()
    sketches = {name: make_sketch(content) for name, content in data.items()}
    drawn = time.process_time() - begun
    names, begun = list(data), time.process_time()
    keys = {name: feature_key(sha256_bytes(content), 0) for name, content in data.items()}
    features = store.annotate(ImageFeatures(), {keys[n]: (lambda n=n: (data[n], "", 0)) for n in names})
    seen = time.process_time() - begun
    computed = store.computed.get(ImageFeatures.name, 0)
    print(json.dumps({"cpu s a picture": {"sketch": drawn / len(names), "features": seen / computed if computed else None}}))
    first = [name for name in names if "-o" in name]
    rest = [name for name in names if "-o" not in name]
    units = {name: features[keys[name]][0] for name in names}
    one, other = (unit_rows(np.stack([units[n] for n in part])).astype(np.float32) for part in (first, rest))
    cosines = one @ other.T
    mine, theirs = (np.stack([sketches[n] for n in part]) for part in (first, rest))
    alike = np.max(np.einsum("adk,bk->dab", miniatures(mine), miniatures(theirs)[:, 0], optimize=True), axis=0)
    i, j = np.nonzero((cosines >= LIMITS["cosine_from"]) | (alike >= LIMITS["whole_from"] - 0.01))
    begun = time.process_time()
    near = verify_pairs(mine, theirs, i, j, cosines[i, j], LIMITS)
    print(
        json.dumps(
            {"candidates": len(i), "of": cosines.size, "cpu ms a candidate": (time.process_time() - begun) / len(i) * 1000}
        )
    )
    pairs = {"ours": {(first[a], rest[b]) for a, b in zip(i[near], j[near], strict=True)}}
    for least in (0.9, 0.8):
        pairs[f"cosine ≥ {least}"] = {(first[a], rest[b]) for a, b in zip(*np.nonzero(cosines >= least), strict=True)}
    turns = {}
    for name in first:
        picture = flatten(data[name])
        turns[name] = [perceptual_hash(p) for p in (picture, *(picture.transpose(turn) for turn in range(7)))]
    plain = [perceptual_hash(flatten(data[n])) for n in rest]
    for label, how_many in (("pHash ≤ 10", 1), ("pHash ≤ 10, eight turns", 8)):
        hashes = [value for n in first for value in turns[n][:how_many]] + plain
        edge = len(first) * how_many
        near = [(a, b) for block in near_hashes(hashes, 10) for a, b in zip(*(x.tolist() for x in block), strict=True)]
        pairs[label] = {(first[a // how_many], rest[b - edge]) for a, b in near if a < edge <= b}
    return pairs
