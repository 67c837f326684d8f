"""What a captioner writes for each test picture."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.evaluate.items import model_folder, picture_features, records_of

if TYPE_CHECKING:
    from components.core.stage import Task


def score_captioner(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Write ``captions.json``: record key → the caption of its picture, by beam search, one picture at a time."""
    import torch

    from components.models.decoding import beam_search
    from components.models.loading import load_captioner

    torch.set_num_threads(1)
    torch.use_deterministic_algorithms(True)
    trained = load_captioner(model_folder(task.inputs["input"], spec["key"]))
    records = records_of(task.inputs["captions"], "test")
    features = picture_features(task.inputs["media"], task.annotations, records)
    written = {
        sha: trained.text(
            beam_search(trained.model, vectors, beam=task.params["beam"], length_power=task.params["length_power"]).words
        )
        for sha, vectors in features.items()
    }
    captions = {record["key"]: written[record["image_sha256"]] for record in records}
    (folder / "captions.json").write_text(json.dumps(captions, sort_keys=True, ensure_ascii=False), encoding="utf-8")
