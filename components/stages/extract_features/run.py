"""Run extract_features: compute the features of each image, or prepare the images."""

from __future__ import annotations

import json
from collections import Counter
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from components.core.addresses import PREPARED_FILE
from components.core.ledger import dropped, kept, ledger_table
from components.core.records import FEATURES
from components.core.view_arrays import SUFFIX, npy_bytes, pack_views
from components.execution.resources import Resources
from components.execution.stage import ShardOut, Stage, Task
from components.metrics.tokens import tokenize
from components.stages.extract_features import Params
from components.vision.image_encoders import HUB, EncodedImage, ViewSpec, feature_key
from components.vision.named_encoders import find_weights
from components.web.images.opening import make_thumbnail

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

NO_WORDS = "no_words"


def prepare(table: pa.Table, task: Task) -> ShardOut:
    """Return the FEATURES records of a shard; a record whose wording has no words is dropped."""
    rows, ledger = [], []
    for record in table.to_pylist():
        words = tokenize(record[task.params.wording])
        if words:
            rows.append(record | {"words": words})
            ledger.append(kept(record["key"]))
        else:
            ledger.append(dropped(record["key"], NO_WORDS, 0, 1, detail=record[task.params.wording]))
    media = _media(rows, task)
    centre = task.params.encoder.frozen and task.params.centre
    prepared = [
        {
            "key": row["key"],
            "split": row["split"],
            "group": row["group"],
            "language": row["language"],
            "caption": row[task.params.wording],
            "words": row["words"],
            "labels": [label["label"] for label in row["labels"]],
            "image_sha256": row["image_sha256"],
            "media": f"{task.shard}/{_member_name(row, task)}",
            "thumbnail": f"{task.shard}/{_thumbnail_name(row)}" if _thumbnail_name(row) in media else "",
            "centre": f"{task.shard}/{_centre_name(row['image_sha256'])}" if centre else "",
        }
        for row in rows
    ]
    return ShardOut(pa.Table.from_pylist(prepared, schema=FEATURES), ledger_table(ledger), media)


def _member_name(row: dict[str, Any], task: Task) -> str:
    suffix = _features_suffix(task) if task.params.encoder.frozen else f".{row['format'].lower()}"
    return f"{row['image_sha256']}{suffix}"


def _features_suffix(task: Task) -> str:
    """Grids are compressed; vectors of whole images alone are small and read as they are."""
    return SUFFIX if task.params.grid else ".npy"


def _centre_name(sha256: str) -> str:
    return f"{sha256}.centre.npy"


def _thumbnail_name(row: dict[str, Any]) -> str:
    return f"{row['image_sha256']}.thumbnail.jpg"


def _media(rows: Sequence[dict[str, Any]], task: Task) -> dict[str, bytes]:
    """Return the members of a shard's tar; an image of several splits gets the views of a training image."""
    params, images = task.params, {row["image_sha256"]: row for row in rows}
    with_thumbnail = {row["image_sha256"] for row in rows if params.thumbnails == "all" or row["split"] == "test"}
    training = {row["image_sha256"] for row in rows if row["split"] == "train"}
    media: dict[str, bytes] = {}
    if params.encoder.frozen:
        media.update(_features(rows, task, training))
    for sha, row in sorted(images.items()):
        data = task.inputs["media"].read_media(row["media"])
        if not params.encoder.frozen:
            media[_member_name(row, task)] = data
        if params.thumbnail and sha in with_thumbnail:
            media[_thumbnail_name(row)] = make_thumbnail(data, params.thumbnail)
    return media


def _features(rows: Sequence[dict[str, Any]], task: Task, training: set[str]) -> dict[str, bytes]:
    """Return arrays of views × vectors × F of each image, and of its central square (1 × 1 × F) if ``centre`` is set."""
    params = task.params
    source = {row["image_sha256"]: row["media"] for row in rows}
    views = {sha: 1 + (params.views if sha in training else 0) for sha in sorted(source)}
    pack = pack_views if params.grid else npy_bytes
    encoder = _encoder(task, ViewSpec(params.crops, params.least_area, params.grid))
    arrays = _encoded(task, encoder, source, views)
    members = {f"{sha}{_features_suffix(task)}": pack(array) for sha, array in arrays.items()}
    if params.centre:
        # Retrieval, which alone reads the central square, takes its mean vector; of a square image it is the whole image's.
        of_centre, read = _encoder(task, ViewSpec("centre", grid=False)), task.inputs["media"].read_media
        centres = {sha: arrays[sha][:1, :1] for sha in views if of_centre.sees_as(encoder, read(source[sha]))}
        centres |= _encoded(task, of_centre, source, {sha: 1 for sha in views if sha not in centres})
        members |= {_centre_name(sha): npy_bytes(centres[sha]) for sha in views}
    return members


def _encoder(task: Task, view_spec: ViewSpec) -> EncodedImage:
    encoder, about = task.params.encoder, task.shared["encoder"]
    weights = find_weights(task.project, encoder.name, encoder.weights)
    given = (encoder.name, weights, encoder.side, about["weights_sha256"], view_spec, task.shared["device"])
    return EncodedImage(*given, without=encoder.trained_blocks)


def _encoded(
    task: Task, annotator: EncodedImage, source: Mapping[str, str], views: Mapping[str, int]
) -> dict[str, NDArray[np.float16]]:
    """Return sha256 → the first ``views[sha256]`` views of the image at ``source[sha256]``."""
    payloads = {
        feature_key(sha, number): (lambda sha=sha, number=number: (task.inputs["media"].read_media(source[sha]), sha, number))
        for sha, count in views.items()
        for number in range(count)
    }
    features = task.annotations.annotate(annotator, payloads)
    return {sha: np.stack([features[feature_key(sha, number)] for number in range(count)]) for sha, count in views.items()}


def run(stage: Stage) -> None:
    """Prepare the records' shards, and write wording and encoder to ``prepared.json``."""
    params: Params = stage.params
    name, blocks = params.encoder.name, params.encoder.trained_blocks
    weights = find_weights(stage.project, name, params.encoder.weights)
    encoder: dict[str, object] = {"name": name, "side": params.encoder.side, "trained": not params.encoder.frozen}
    if params.encoder.frozen:
        # Raises for unsupported settings. The features are keyed by the files' content, not by their name.
        opened = EncodedImage(name, weights, params.encoder.side, without=blocks)
        encoder |= {"side": opened.side, "weights_sha256": opened.digest} | ({"trained_blocks": blocks} if blocks else {})
        if name == HUB:
            # Captioners and dual encoders find their encoder by it.
            encoder["model"] = params.encoder.weights
    device = stage.engine.device(params.accelerator)
    shared, resources = {"encoder": encoder, "device": device}, Resources(gpus=int(device == "gpu"))
    stage.map(prepare, stage.inputs["input"].shards, step="extract_features", params=params, shared=shared, resources=resources)
    stage.write_file(
        PREPARED_FILE, (json.dumps({"wording": params.wording, "encoder": encoder}, indent=1, sort_keys=True) + "\n").encode()
    )
    counts = Counter(split for shard in stage.inputs["input"].shards for split in shard.read(["split"])["split"].to_pylist())
    for split in ("train", "validation", "test"):
        stage.metric(f"records.{split}", counts[split])
