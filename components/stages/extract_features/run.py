"""Run extract_features: compute the features of each image, or prepare the pictures."""

from __future__ import annotations

import json
from collections import Counter

from components.core.addresses import PREPARED_FILE, installed_file
from components.execution.resources import Resources
from components.execution.stage import Stage
from components.stages.extract_features import Params
from components.stages.extract_features.records import prepare
from components.vision.image_encoders import EncodedPicture, weights_digest


def run(stage: Stage) -> None:
    """Prepare the records' shards, and write wording and encoder to ``prepared.json``."""
    params: Params = stage.params
    weights = installed_file(stage.project, params.encoder.weights) if params.encoder.weights else None
    encoder: dict[str, object] = {"name": params.encoder.name, "side": params.encoder.side, "trained": not params.encoder.frozen}
    if params.encoder.frozen:
        # The features are keyed by the file's content, not by its name.
        encoder["weights_sha256"] = weights_digest(params.encoder.name, weights)
        EncodedPicture(
            params.encoder.name, weights, params.encoder.side, str(encoder["weights_sha256"])
        )  # raises for unsupported settings
    device = stage.engine.device(params.accelerator)
    shared, resources = {"encoder": encoder, "device": device}, Resources(gpus=int(device == "gpu"))
    stage.map(prepare, stage.inputs["input"].shards, step="extract_features", params=params, shared=shared, resources=resources)
    stage.write_file(
        PREPARED_FILE, (json.dumps({"wording": params.wording, "encoder": encoder}, indent=1, sort_keys=True) + "\n").encode()
    )
    counts = Counter(split for shard in stage.inputs["input"].shards for split in shard.read(["split"])["split"].to_pylist())
    for split in ("train", "validation", "test"):
        stage.metric(f"records.{split}", counts[split])
