"""Features of every post's image, read through the result cache.

Each is the vector of the whole image: by the paper's MobileNetV2 from a file of weights, by a model of a hub, or else by
EfficientNet-lite0, since no package contains MobileNetV2's weights.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from components.core.errors import HearsightError
from components.core.ledger import dropped, kept, ledger_table
from components.core.result_cache import ResultCache
from components.core.stage_output import StageOutput
from components.execution.shard_worker import ShardOut, Task
from components.vision.features import ImageFeatures, feature_key
from components.vision.image_encoders import EncodedImage
from components.vision.named_encoders import PostEncoder
from components.web.images.opening import UnreadableImageError

BATCH = 256
"""Images whose features (43 KB each as stored) are in memory at a time."""


def compute_features(table: pa.Table, task: Task) -> ShardOut:
    """Compute the features of a shard's images; drop posts whose image is missing or unreadable.

    Args:
        task: ``shared["encoder"]`` is a :class:`~components.vision.named_encoders.PostEncoder` as a list.
    """
    media = task.inputs["media"]
    images: dict[str, Callable[[], Any]] = {}
    verdicts = []
    broken: dict[str, str] = {}
    rows = table.select(["key", "image_sha256", "media"]).to_pylist()
    for row in rows:
        sha = row["image_sha256"]
        if not _has_image(media, row["media"]):
            broken[row["key"]] = "image_missing"
        elif sha not in images:
            images[sha] = partial(_payload, media, row["media"], sha)
    unreadable = _compute(task.annotations, images, PostEncoder(*task.shared["encoder"]).annotator(task.project))
    for row in rows:
        key = row["key"]
        if key not in broken and row["image_sha256"] in unreadable:
            broken[key] = "image_unreadable"
        if key in broken:
            reason = unreadable.get(row["image_sha256"], row["media"] or "no reference to an image")
            verdicts.append(dropped(key, broken[key], reason, "an image"))
        else:
            verdicts.append(kept(key))
    kept_rows = [{"key": row["key"]} for row in rows if row["key"] not in broken]
    return ShardOut(pa.Table.from_pylist(kept_rows, schema=pa.schema([pa.field("key", pa.string())])), ledger_table(verdicts))


def read_vectors(
    posts: Sequence[tuple[str, str]], annotations: ResultCache, annotator: ImageFeatures | EncodedImage
) -> NDArray[np.float32]:
    """Return the global vectors of ``(key, image's sha256)``, posts × F, in the given order; nothing is computed.

    Raises:
        HearsightError: the cache lost one since :func:`compute_features`.
    """
    vectors = np.empty((len(posts), annotator.width), dtype=np.float32)
    for start in range(0, len(posts), BATCH):
        batch = posts[start : start + BATCH]
        features = annotations.read(annotator, [feature_key(sha, 0) for _, sha in batch])
        for offset, (key, sha) in enumerate(batch):
            stored = features.get(feature_key(sha, 0))
            if stored is None:
                what = f"the features of post {key} are missing"
                raise HearsightError(what, where=annotations.folder, hint="remove .hearsight/cache and run again")
            vectors[start + offset] = stored[0]
    return vectors


def _payload(media: StageOutput, reference: str, sha: str) -> tuple[bytes, str, int]:
    return media.read_media(reference), sha, 0


def _compute(
    annotations: ResultCache, images: dict[str, Callable[[], Any]], annotator: ImageFeatures | EncodedImage
) -> dict[str, str]:
    """Compute missing features; return sha256 → error of the images that no decoder reads."""
    broken: dict[str, str] = {}
    digests = list(images)
    for start in range(0, len(digests), BATCH):
        batch = digests[start : start + BATCH]
        try:
            annotations.annotate(annotator, {feature_key(sha, 0): images[sha] for sha in batch})
        except UnreadableImageError:
            for sha in batch:  # the batch has an unreadable image; computed ones are cached
                try:
                    annotations.annotate(annotator, {feature_key(sha, 0): images[sha]})
                except UnreadableImageError as error:
                    broken[sha] = str(error)
    return broken


def _has_image(media: StageOutput, reference: str) -> bool:
    """Return whether the crawl has the image; raise if a whole media file is missing."""
    shard = reference.partition("/")[0]
    if not reference or not shard:
        return False
    try:
        media.read_media(reference)
    except HearsightError:
        if (media.path / "media" / f"{shard}.tar").exists():
            return False
        raise
    return True
