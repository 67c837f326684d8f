"""Job that embeds one split's utterances and images with one model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from components.retrieval.embedding import embed_pairs, open_dual_encoder
from components.retrieval.pairs import read_pairs, sets_of

if TYPE_CHECKING:
    from components.execution.stage import Task

SPEECH, IMAGES = "speech.npy", "images.npy"


def embed_job(spec: dict[str, Any], task: Task, folder: Path) -> None:
    """Write ``speech.npy`` (n × D) and ``images.npy`` (m × D), float32, in the order of the split's pairs.

    Args:
        spec: ``model``, its key, ``weights_sha256`` and ``config_sha256``; ``split``; ``crop``; ``sets``: the digests of the
            inputs, since the job is cached by its spec.
    """
    torch.set_num_threads(1)
    network, config = open_dual_encoder(task.inputs["input"], spec["model"])
    pairs = read_pairs(sets_of(task.inputs), spec["split"], config["matching"])
    speech = images = np.zeros((0, network.config.embedding), np.float32)
    if len(pairs):
        speech, by_crop = embed_pairs(
            network,
            pairs,
            annotations=task.annotations,
            project=task.project,
            frames=config["frames"],
            crops=[spec["crop"]],
            hardware=task.params,
            where=f"build_search_index, {spec['split']} split",
        )
        images = by_crop[spec["crop"]]
    np.save(folder / SPEECH, speech)
    np.save(folder / IMAGES, images)
