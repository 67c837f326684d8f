"""Jobs on images: features and sketches of the images that a shard is the first to show, and matches with earlier ones.

An image has one view, itself, or two: what a frame surrounds in it is another. Two images match if a view of each does.
Results are keyed by the images alone, so those for old images remain valid when posts are added.
"""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from components.core.digests import sha256_bytes
from components.execution.stage import Task
from components.stages.dedup.matching import match_pairs
from components.stages.dedup.sketches import SKETCH, cut_content, flatten, make_sketch, miniatures
from components.vision.features import feature_key
from components.vision.named_encoders import PostEncoder
from components.web.images.contrast import has_contrast

MINIATURE_SLACK = 0.01
"""Tolerance of a miniature's correlation below the threshold of the whole sketch."""


def prepare(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Compute features and sketches of ``spec["images"]`` (sha256 → media reference), in the order of the sha256.

    ``spec["encoder"]`` is a :class:`~components.vision.named_encoders.PostEncoder` as a list.

    Writes ``images.json`` (the sha256 of n images), ``views.npy`` (the image's row of each of v views, the n whole ones
    first), ``vectors.npy`` (v, F) float16, ``sketches.npy`` (v, 64, 64), ``miniatures.npy`` (v, 144), and ``unreadable.json``
    (sha256 → error) for undecodable images.
    """
    media = task.inputs["media"]
    sketches, contents, unreadable = {}, {}, {}
    for sha256, reference in sorted(spec["images"].items()):
        data = media.read_media(reference)
        try:
            image = flatten(data)
            content = cut_content(image)
        except Exception as error:  # decoders raise OSError, SyntaxError, ValueError, EOFError, struct.error and more
            unreadable[sha256] = " ".join(str(error).split())[:120]
            continue
        sketches[sha256] = make_sketch(image)
        if content is not None and has_contrast(content):
            contents[sha256] = content_key(content), make_sketch(content)

    def payload(sha256: str, inner: bool) -> Callable[[], Any]:
        def read() -> tuple[bytes, str, int]:
            data = media.read_media(spec["images"][sha256])
            return encode_content(data) if inner else data, sha256, 0

        return read

    payloads = {feature_key(sha256, 0): payload(sha256, inner=False) for sha256 in sketches}
    payloads |= {key: payload(sha256, inner=True) for sha256, (key, _) in contents.items()}
    annotator = PostEncoder(*spec["encoder"]).annotator(task.project)
    features = task.annotations.annotate(annotator, payloads)
    keys = [*(feature_key(sha256, 0) for sha256 in sketches), *(key for key, _ in contents.values())]
    vectors = np.array([features[key][0] for key in keys], np.float16).reshape(-1, annotator.width)
    rows = {sha256: row for row, sha256 in enumerate(sketches)}
    np.save(folder / "views.npy", np.array([*rows.values(), *(rows[sha256] for sha256 in contents)], np.int64))
    np.save(folder / "vectors.npy", vectors)
    drawn = np.array([*sketches.values(), *(sketch for _, sketch in contents.values())], np.uint8).reshape(-1, SKETCH, SKETCH)
    np.save(folder / "sketches.npy", drawn)
    np.save(folder / "miniatures.npy", miniatures(drawn)[:, 0])
    (folder / "images.json").write_text(json.dumps(list(sketches)))
    (folder / "unreadable.json").write_text(json.dumps(unreadable))


def content_key(content: Image.Image) -> str:
    """Return the content key of the features of what a frame surrounds: by its pixels, so that no version has to follow them."""
    return feature_key(sha256_bytes(repr(content.size).encode() + content.tobytes()), 0)


def encode_content(data: bytes) -> bytes:
    """Return what a frame surrounds in an image as a file."""
    content = cut_content(flatten(data))
    assert content is not None
    buffer = io.BytesIO()
    content.save(buffer, "PNG", compress_level=1)
    return buffer.getvalue()


def find_repeats(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Find images of ``spec["own"]`` that match one of ``spec["earlier"]`` or another of ``spec["own"]``.

    Writes ``repeats.npy``, (k, 3) int32: row of ``own``, number of the other folder (``len(earlier)`` for ``own``), row of that.

    Args:
        spec: cache folders written by :func:`prepare`, named by content.
        task: params are the stage's ``aligned`` settings.
    """
    cache, limits = task.state / "cache", task.params.plain()
    own = cache / spec["own"]
    vectors, sketches, views = _unit_vectors(own), np.load(own / "sketches.npy"), np.load(own / "views.npy")
    turned = miniatures(sketches)
    edges, cosine, candidates, found = [], [], [], []
    for number, name in enumerate([*spec["earlier"], spec["own"]]):
        others = cache / name
        i, j, cosines = find_candidates(vectors, turned, _unit_vectors(others), np.load(others / "miniatures.npy"), limits)
        if name == spec["own"]:
            upper = views[i] < views[j]
            i, j, cosines = i[upper], j[upper], cosines[upper]
        edges.append(np.stack([i, np.full(len(i), number), j], axis=1))
        cosine.append(cosines)
        candidates.append(np.load(others / "sketches.npy")[np.unique(j)])
        found.append(np.load(others / "views.npy")[j])
    pairs = np.concatenate(edges)
    # Candidates of other folders are concatenated; ``position`` is each pair's index among them.
    position = np.unique(pairs[:, 1:], axis=0, return_inverse=True)[1].reshape(-1)
    near = match_pairs(sketches, np.concatenate(candidates), pairs[:, 0], position, np.concatenate(cosine), limits)
    pairs = np.stack([views[pairs[:, 0]], pairs[:, 1], np.concatenate(found)], axis=1)
    np.save(folder / "repeats.npy", np.unique(pairs[near], axis=0).astype(np.int32))


def find_candidates(
    vectors: NDArray[np.float32],
    turned: NDArray[np.float32],
    other_vectors: NDArray[np.float32],
    other_miniatures: NDArray[np.float32],
    limits: dict[str, Any],
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.float32]]:
    """Return rows i, j of views worth aligning, and the cosines of their features.

    Args:
        vectors, other_vectors: features of length 1, (a, F) and (b, F).
        turned: (a, 8, 144), by :func:`~components.stages.dedup.sketches.miniatures`.
        other_miniatures: (b, 144), the upright ones.
        limits: the ``aligned`` settings.
    """
    cosines = vectors @ other_vectors.T
    similarity = np.full(cosines.shape, -1.0, np.float32)
    for turn in range(turned.shape[1]):
        np.maximum(similarity, turned[:, turn] @ other_miniatures.T, out=similarity)
    i, j = np.nonzero((cosines >= limits["cosine_from"]) | (similarity >= limits["whole_from"] - MINIATURE_SLACK))
    return i, j, cosines[i, j]


def _unit_vectors(folder: Path) -> NDArray[np.float32]:
    """Return the features of a folder's views, each of length 1 (or 0)."""
    vectors = np.load(folder / "vectors.npy").astype(np.float32)
    lengths = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return vectors / np.where(lengths > 0, lengths, 1)[:, None]
