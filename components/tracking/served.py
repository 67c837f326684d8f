"""How MLflow loads a Hearsight model from its weights and configuration: ``mlflow.pyfunc.load_model`` ends here.

Takes frozen image features and MFCCs, as the networks do; making those from files is the providers' work. An index to search in
takes the files (``components.retrieval.search_model``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

BEAM = 4
SEARCH = "search.json"
"""The file that tells a folder to search in from a model's."""


class ServedCaptioner:
    """Image features, or pictures, → captions."""

    def __init__(self, loaded: Any) -> None:
        self.loaded = loaded

    def predict(self, features: np.ndarray, params: Mapping[str, Any] | None = None) -> list[str]:
        """One caption a picture.

        Args:
            features: pictures × (1 + cells) × F, float32, the whole picture's vector first; of a captioner that was trained
                with its encoder the pictures themselves, × 3 × side × side, uint8.
        """
        import torch

        from components.models.beam import generate

        beam, network = int((params or {}).get("beam", BEAM)), self.loaded.model.network
        with torch.inference_mode():
            if self.loaded.model.encoder is not None:
                seen = self.loaded.model.see(torch.from_numpy(np.ascontiguousarray(features, dtype=np.uint8)))
            else:
                vectors = torch.from_numpy(np.ascontiguousarray(features, dtype=np.float32))
                seen = vectors[:, 1:] if network.config.grid else vectors[:, :1]
        return [self.loaded.text(found[0].words) for found in generate(network, seen, beam=beam)]


class ServedDualEncoder:
    """Speech or image features → embeddings whose dot products are similarities."""

    def __init__(self, loaded: Any) -> None:
        self.loaded = loaded

    def predict(self, inputs: Mapping[str, np.ndarray], params: Mapping[str, Any] | None = None) -> dict[str, np.ndarray]:
        """Embeddings of what is given, under the same names.

        Args:
            inputs: ``images``: pictures × image features; ``speech``: clips × coefficients × frames, with
                ``lengths``: the frames of each clip.
        """
        import torch

        given = {name: torch.from_numpy(np.ascontiguousarray(value)) for name, value in inputs.items()}
        with torch.no_grad():
            made = {}
            if "images" in given:
                made["images"] = self.loaded.model.embed_images(given["images"]).numpy()
            if "speech" in given:
                made["speech"] = self.loaded.model.embed_speech(given["speech"], given["lengths"]).numpy()
        return made


def _load_pyfunc(data_path: str) -> Any:
    """MLflow's entry point: the folder that held the weights in the train output, or an index and its model."""
    from components.models.loading import CONFIG
    from components.retrieval import search_model
    from components.retrieval.loading import open_folder

    folder = Path(data_path)
    if (folder / SEARCH).is_file():
        return search_model.load(folder)
    kind = json.loads((folder / CONFIG).read_text(encoding="utf-8"))["kind"]
    return ServedCaptioner(_captioner(folder)) if kind == "captioner" else ServedDualEncoder(open_folder(folder, data_path))


def _captioner(folder: Path) -> Any:
    from components.models.trained import load_trained
    from components.vision.image_encoders import trainable_encoder

    return load_trained(folder, encoder=lambda about: trainable_encoder(about["name"], side=about["side"]))
