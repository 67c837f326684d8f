"""The features of every post's picture, through the annotation store: computed once, whatever asks for them.

Each is the global vector of view 0 (the whole picture) of ``providers/features``: EfficientNet-lite0 stands in for the
paper's MobileNetV2, whose weights no package carries; both give 1280 values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from components.core.errors import HearsightError
from components.core.ledger import dropped, kept, ledger_table
from components.core.stage_output import StageOutput
from components.execution.shard_worker import ShardOut, Task
from components.vision.features import WIDTH, ImageFeatures, feature_key, flatten

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from components.core.result_cache import ResultCache

BATCH = 256
"""Pictures whose features (43 KB each as stored) are in memory at a time."""


def look(table: pa.Table, task: Task) -> ShardOut:
    """See that every picture of the shard has its features; the posts whose picture is missing or unreadable stop here."""
    import pyarrow as pa

    media = task.inputs["media"]
    whole: dict[str, Callable[[], Any]] = {}
    verdicts = []
    bad: dict[str, str] = {}
    rows = table.select(["key", "image_sha256", "media"]).to_pylist()
    for row in rows:
        sha = row["image_sha256"]
        if not _there(media, row["media"]):
            bad[row["key"]] = "picture_missing"
        elif sha not in whole:
            whole[sha] = partial(_payload, media, row["media"], sha)
    unreadable = _compute(task.annotations, whole)
    for row in rows:
        key = row["key"]
        if key not in bad and row["image_sha256"] in unreadable:
            bad[key] = "picture_unreadable"
        if key in bad:
            why = unreadable.get(row["image_sha256"], row["media"] or "no reference to a picture")
            verdicts.append(dropped(key, bad[key], why, "a picture"))
        else:
            verdicts.append(kept(key))
    stays = [{"key": row["key"]} for row in rows if row["key"] not in bad]
    return ShardOut(pa.Table.from_pylist(stays, schema=pa.schema([pa.field("key", pa.string())])), ledger_table(verdicts))


def read_vectors(posts: Sequence[tuple[str, str]], annotations: ResultCache) -> NDArray[np.float32]:
    """The global vectors of ``(key, picture's sha256)``, posts × WIDTH, in the order given; nothing is computed.

    Raises:
        HearsightError: the store has lost one since :func:`look` saw to it.
    """
    import numpy as np

    vectors = np.empty((len(posts), WIDTH), dtype=np.float32)
    for start in range(0, len(posts), BATCH):
        batch = posts[start : start + BATCH]
        found = annotations.read(ImageFeatures(), [feature_key(sha, 0) for _, sha in batch])
        for offset, (key, sha) in enumerate(batch):
            stored = found.get(feature_key(sha, 0))
            if stored is None:
                raise HearsightError(
                    f"the features of post {key} are gone", where=annotations.folder, hint="remove .hearsight/cache and run again"
                )
            vectors[start + offset] = stored[0]
    return vectors


class Unreadable(ValueError):
    """A picture that no decoder reads; its text is what the decoder raised."""


def _payload(media: StageOutput, reference: str, sha: str) -> tuple[bytes, str, int]:
    from PIL.Image import DecompressionBombError

    data = media.read_media(reference)
    try:
        flatten(data)
    except (OSError, ValueError, SyntaxError, DecompressionBombError) as error:
        # Not an OSError on its way out: the store would take that for a fault of its own file.
        raise Unreadable(type(error).__name__) from error
    return data, sha, 0


def _compute(annotations: ResultCache, pictures: dict[str, Callable[[], Any]]) -> dict[str, str]:
    """Compute what is missing; picture's sha256 → what is wrong with it, for those that no decoder reads."""
    bad: dict[str, str] = {}
    every = list(pictures)
    for start in range(0, len(every), BATCH):
        batch = every[start : start + BATCH]
        try:
            annotations.annotate(ImageFeatures(), {feature_key(sha, 0): pictures[sha] for sha in batch})
        except Unreadable:
            for sha in batch:  # one of them; what was computed before it is kept
                try:
                    annotations.annotate(ImageFeatures(), {feature_key(sha, 0): pictures[sha]})
                except Unreadable as error:
                    bad[sha] = str(error)
    return bad


def _there(media: StageOutput, reference: str) -> bool:
    """Whether the crawl has the picture; a tar that is missing as a whole is another matter, and raises."""
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
