"""Jobs on pictures: features and sketches of the pictures that a shard is the first to show, and matches with earlier ones.

Both are keyed by the pictures alone, so results for old pictures remain valid when posts are added.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from components.execution.stage import Task
from components.stages.dedup.sketches import SKETCH, correlation, make_parts, make_sketch, miniatures
from components.vision.features import WIDTH, ImageFeatures, feature_key

BATCH = 128
"""Pictures of either side whose parts are in memory at a time: 50 MB."""
MINIATURE_SLACK = 0.01
"""Tolerance of a miniature's correlation below the threshold of the whole sketch."""


def prepare(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Compute features and sketches of ``spec["pictures"]`` (sha256 → media reference), in the order of the sha256.

    Writes ``pictures.json`` (the sha256 of each row), ``vectors.npy`` (n, 1280) float16, ``sketches.npy`` (n, 64, 64),
    ``miniatures.npy`` (n, 144), and ``unreadable.json`` (sha256 → error) for undecodable pictures.
    """
    media = task.inputs["media"]
    sketches, unreadable = {}, {}
    for sha256, reference in sorted(spec["pictures"].items()):
        data = media.read_media(reference)
        try:
            sketches[sha256] = make_sketch(data)
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
    """Find pictures of ``spec["own"]`` that match one of ``spec["earlier"]`` or another of ``spec["own"]``.

    Writes ``repeats.npy``, (k, 3) int32: row of ``own``, number of the other folder (``len(earlier)`` for ``own``), row of that.

    Args:
        spec: cache folders written by :func:`prepare`, named by content.
        task: params are the stage's ``aligned`` settings.
    """
    cache, limits = task.annotations.folder.parent / "cache", task.params.plain()
    own = cache / spec["own"]
    vectors, sketches = _unit_vectors(own), np.load(own / "sketches.npy")
    turned = miniatures(sketches)
    edges, cosine, candidates = [], [], []
    for number, name in enumerate([*spec["earlier"], spec["own"]]):
        others = cache / name
        cosines = vectors @ _unit_vectors(others).T
        similarity = np.full(cosines.shape, -1.0, np.float32)
        upright = np.load(others / "miniatures.npy")
        for turn in range(turned.shape[1]):
            np.maximum(similarity, turned[:, turn] @ upright.T, out=similarity)
        candidate = (cosines >= limits["cosine_from"]) | (similarity >= limits["whole_from"] - MINIATURE_SLACK)
        i, j = np.nonzero(np.triu(candidate, 1) if name == spec["own"] else candidate)
        edges.append(np.stack([i, np.full(len(i), number), j], axis=1))
        cosine.append(cosines[i, j])
        candidates.append(np.load(others / "sketches.npy")[np.unique(j)])
    pairs = np.concatenate(edges)
    # Candidates of other folders are concatenated; ``position`` is each pair's index among them.
    position = np.unique(pairs[:, 1:], axis=0, return_inverse=True)[1].reshape(-1)
    near = verify_pairs(sketches, np.concatenate(candidates), pairs[:, 0], position, np.concatenate(cosine), limits)
    np.save(folder / "repeats.npy", pairs[near].astype(np.int32))


def _unit_vectors(folder: Path) -> NDArray[np.float32]:
    """Return the features of a folder's pictures, each of length 1 (or 0)."""
    vectors = np.load(folder / "vectors.npy").astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return vectors / np.where(lengths > 0, lengths, 1)[:, None]


def verify_pairs(
    ones: NDArray[np.uint8],
    others: NDArray[np.uint8],
    i: NDArray[np.int64],
    j: NDArray[np.int64],
    cosines: NDArray[np.float32],
    limits: dict[str, Any],
) -> NDArray[np.bool_]:
    """Return which candidate pairs match by ``limits``.

    Args:
        ones, others: sketches, (n, 64, 64).
        i, j: rows of ``ones`` and of ``others``.
        cosines: cosine of the features of each pair.
        limits: the ``aligned`` settings.
    """
    near = np.zeros(len(i), bool)
    rows_i, rows_j = np.unique(i), np.unique(j)
    for top in range(0, len(rows_i), BATCH):
        batch_i = rows_i[top : top + BATCH]
        pairs = np.nonzero((i >= batch_i[0]) & (i <= batch_i[-1]))[0]
        pairs = pairs[np.argsort(j[pairs], kind="stable")]
        parts_i = make_parts(ones[batch_i])
        for left in range(0, len(rows_j), BATCH):
            batch_j = rows_j[left : left + BATCH]
            start, end = np.searchsorted(j[pairs], [batch_j[0], batch_j[-1] + 1])
            if start == end:
                continue
            used_j = np.unique(j[pairs[start:end]])
            parts_j = make_parts(others[used_j])
            for pair in pairs[start:end]:
                row_i, row_j = np.searchsorted(batch_i, i[pair]), np.searchsorted(used_j, j[pair])
                whole_correlation, best = correlation(parts_i, int(row_i), parts_j, int(row_j))
                score = limits["cosine_weight"] * float(cosines[pair]) + best
                fits = cosines[pair] >= limits["cosine_from"] and score >= limits["score_from"]
                near[pair] = whole_correlation >= limits["whole_from"] or fits
    return near
