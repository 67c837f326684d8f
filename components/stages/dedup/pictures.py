"""The pieces of work on pictures: what is compared of those a shard shows first, and which of them repeat earlier ones.

Both are keyed by the pictures alone, so when posts are added the work on the old ones stands.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from components.execution.stage import Task

BATCH = 128
"""Pictures whose parts are in memory at a time, of either side: 50 MB."""
MINIATURE_SLACK = 0.01
"""A miniature's correlation may be so much below what is asked of the whole sketch."""


def prepare(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Features and sketches of ``spec["pictures"]`` (sha256 → media reference), in the order of the sha256.

    Leaves ``pictures.json`` (the sha256 of each row), ``vectors.npy`` (n, 1280) float16, ``sketches.npy`` (n, 64, 64),
    ``miniatures.npy`` (n, 144), and ``unreadable.json`` (sha256 → why) for those that are no pictures.
    """
    import numpy as np

    from components.stages.dedup.sketches import SKETCH, miniatures, sketch
    from components.vision.features import WIDTH, ImageFeatures, feature_key

    media = task.inputs["media"]
    sketches, unreadable = {}, {}
    for sha256, reference in sorted(spec["pictures"].items()):
        data = media.read_media(reference)
        try:
            sketches[sha256] = sketch(data)
        except Exception as error:  # decoders raise OSError, SyntaxError, ValueError, EOFError, struct.error and more
            unreadable[sha256] = " ".join(str(error).split())[:120]
    payloads = {
        feature_key(sha256, 0): lambda sha256=sha256: (media.read_media(spec["pictures"][sha256]), sha256, 0)
        for sha256 in sketches
    }
    features = task.annotations.annotate(ImageFeatures(), payloads)
    vectors = np.zeros((len(sketches), WIDTH), np.float16)
    for number, sha256 in enumerate(sketches):
        vectors[number] = features[feature_key(sha256, 0)][0]
    np.save(folder / "vectors.npy", vectors)
    drawn = np.array(list(sketches.values()), np.uint8).reshape(-1, SKETCH, SKETCH)
    np.save(folder / "sketches.npy", drawn)
    np.save(folder / "miniatures.npy", miniatures(drawn)[:, 0])
    (folder / "pictures.json").write_text(json.dumps(list(sketches)))
    (folder / "unreadable.json").write_text(json.dumps(unreadable))


def find_repeats(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Which pictures of ``spec["own"]`` show the same as one of ``spec["earlier"]`` or another of its own.

    Args:
        spec: folders of the cache made by :func:`prepare`, named by content.
        task: params are the stage's ``aligned`` settings.

    Leaves ``repeats.npy``: (k, 3) int32, a row of its own, which earlier folder (their number: its own), a row of that.
    """
    import numpy as np

    from components.stages.dedup.sketches import miniatures

    cache, limits = task.annotations.folder.parent / "cache", task.params.plain()
    own = cache / spec["own"]
    vectors, sketches = _directions(own), np.load(own / "sketches.npy")
    turned = miniatures(sketches)
    edges, cosine, shown = [], [], []
    for number, name in enumerate([*spec["earlier"], spec["own"]]):
        others = cache / name
        cosines = vectors @ _directions(others).T
        alike = np.full(cosines.shape, -1.0, np.float32)
        upright = np.load(others / "miniatures.npy")
        for turn in range(turned.shape[1]):
            np.maximum(alike, turned[:, turn] @ upright.T, out=alike)
        candidate = (cosines >= limits["cosine_from"]) | (alike >= limits["whole_from"] - MINIATURE_SLACK)
        i, j = np.nonzero(np.triu(candidate, 1) if name == spec["own"] else candidate)
        edges.append(np.stack([i, np.full(len(i), number), j], axis=1))
        cosine.append(cosines[i, j])
        shown.append(np.load(others / "sketches.npy")[np.unique(j)])
    pairs = np.concatenate(edges)
    # The pictures of other folders that matter, one after the other, and where each pair's stands among them.
    place = np.unique(pairs[:, 1:], axis=0, return_inverse=True)[1].reshape(-1)
    near = verified(sketches, np.concatenate(shown), pairs[:, 0], place, np.concatenate(cosine), limits)
    np.save(folder / "repeats.npy", pairs[near].astype(np.int32))


def _directions(folder: Path) -> NDArray[np.float32]:
    """The features of a folder's pictures, each of length 1 (or 0)."""
    import numpy as np

    vectors = np.load(folder / "vectors.npy").astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return vectors / np.where(lengths > 0, lengths, 1)[:, None]


def verified(
    ones: NDArray[np.uint8],
    others: NDArray[np.uint8],
    i: NDArray[np.int64],
    j: NDArray[np.int64],
    cosines: NDArray[np.float32],
    limits: dict[str, Any],
) -> NDArray[np.bool_]:
    """Which candidates (rows of ``ones`` and ``others``, the cosine of their features) show the same picture by ``limits``.

    ``limits`` are the ``aligned`` settings.
    """
    import numpy as np

    from components.stages.dedup.sketches import correlation, parts

    near = np.zeros(len(i), bool)
    mine, theirs = np.unique(i), np.unique(j)
    for top in range(0, len(mine), BATCH):
        here = mine[top : top + BATCH]
        own = np.nonzero((i >= here[0]) & (i <= here[-1]))[0]
        own = own[np.argsort(j[own], kind="stable")]
        one = parts(ones[here])
        for left in range(0, len(theirs), BATCH):
            there = theirs[left : left + BATCH]
            start, end = np.searchsorted(j[own], [there[0], there[-1] + 1])
            if start == end:
                continue
            wanted = np.unique(j[own[start:end]])
            other = parts(others[wanted])
            for pair in own[start:end]:
                a, b = np.searchsorted(here, i[pair]), np.searchsorted(wanted, j[pair])
                whole, best = correlation(one, int(a), other, int(b))
                score = limits["cosine_weight"] * float(cosines[pair]) + best
                fits = cosines[pair] >= limits["cosine_from"] and score >= limits["score_from"]
                near[pair] = whole >= limits["whole_from"] or fits
    return near
