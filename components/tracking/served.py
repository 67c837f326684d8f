"""Loader of Hearsight models for ``mlflow.pyfunc.load_model``, from weights and configuration.

Models take frozen image features and MFCCs, as the networks do. A search index takes files
(:mod:`components.retrieval.search_model`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

BEAM = 4
SEARCH = "search.json"
"""The file that distinguishes a search index's folder from a model's."""


class ServedCaptioner:
    """A captioner: image features or pictures → captions."""

    def __init__(self, loaded: Any) -> None:
        self.loaded = loaded

    def predict(self, features: np.ndarray, params: Mapping[str, Any] | None = None) -> list[str]:
        """Return one caption for each picture.

        Args:
            features: pictures × (1 + cells) × F, float32, the vector of the full picture first. For a captioner that was trained
                with its encoder: pictures × 3 × side × side, uint8.
        """
        # Here: MLflow imports this module before it needs a model.
        import torch

        from components.models.beam import generate

        beam, network = int((params or {}).get("beam", BEAM)), self.loaded.model.network
        with torch.inference_mode():
            if self.loaded.model.encoder is not None:
                inputs = self.loaded.model.see(torch.from_numpy(np.ascontiguousarray(features, dtype=np.uint8)))
            else:
                vectors = torch.from_numpy(np.ascontiguousarray(features, dtype=np.float32))
                inputs = vectors[:, 1:] if network.config.grid else vectors[:, :1]
        return [self.loaded.text(captions[0].words) for captions in generate(network, inputs, beam=beam)]


class ServedDualEncoder:
    """Speech or image features → embeddings whose dot products are similarities."""

    def __init__(self, loaded: Any) -> None:
        self.loaded = loaded

    def predict(self, inputs: Mapping[str, np.ndarray], params: Mapping[str, Any] | None = None) -> dict[str, np.ndarray]:
        """Return embeddings under the names of the inputs.

        Args:
            inputs: ``images``: images × features; ``speech``: clips × coefficients × frames; ``lengths``: frames of each clip.
        """
        import torch  # here: as above

        tensors = {name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in inputs.items()}
        with torch.no_grad():
            embeddings = {}
            if "images" in tensors:
                embeddings["images"] = self.loaded.model.embed_images(tensors["images"]).numpy()
            if "speech" in tensors:
                embeddings["speech"] = self.loaded.model.embed_speech(tensors["speech"], tensors["lengths"]).numpy()
        return embeddings


def _load_pyfunc(data_path: str) -> Any:
    """Load a model's folder or a search index's folder; MLflow's entry point."""
    # Here: torch, and for an index the encoders.
    from components.models.loading import CONFIG
    from components.retrieval import search_model
    from components.retrieval.embedding import open_folder

    folder = Path(data_path)
    if (folder / SEARCH).is_file():
        return search_model.load(folder)
    kind = json.loads((folder / CONFIG).read_text(encoding="utf-8"))["kind"]
    if kind != "captioner":
        return ServedDualEncoder(open_folder(folder, data_path))
    # Here: torch and the image encoders.
    from components.models.trained import load_trained
    from components.vision.image_encoders import trainable_encoder

    return ServedCaptioner(load_trained(folder, encoder=lambda about: trainable_encoder(about["name"], side=about["side"])))
