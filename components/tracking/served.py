"""Loader of Hearsight models for ``mlflow.pyfunc.load_model``, from weights and configuration.

Captioners take files or frozen image features, and dual encoders only features of images and of speech.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

if TYPE_CHECKING:
    import pandas as pd

    from components.vision.captioning import Captioner

BEAM = 4
CAPTIONED = {"caption": "string", "confidence": "double"}
"""Columns of a captioner's answer: name → MLflow type."""


class ServedCaptioner:
    """A captioner: image files or image features → captions."""

    def __init__(self, captioner: Captioner) -> None:
        self.captioner = captioner

    def predict(self, given: pd.DataFrame | np.ndarray, params: Mapping[str, Any] | None = None) -> pd.DataFrame | list[str]:
        """Return one caption for each image.

        Args:
            given: a table whose rows have ``content`` (a file's bytes, or base64), ``path`` (a file that the server can read) or
                ``features``: (1 + cells) × F, the vector of the full image first. Or an array of such features of all images;
                for a captioner that was trained with its encoder images × 3 × side × side, uint8.
            params: ``beam``.

        Returns:
            For a table ``caption`` and ``confidence``, the geometric mean of the words' probabilities; for an array the captions.

        Raises:
            HearsightError: a row is no image; it is named.
        """
        beam = int((params or {}).get("beam") or BEAM)
        if isinstance(given, np.ndarray):
            return [written.text for written in self.captioner.write(list(given), beam)]
        # The server loads pandas; other users of this module do not need it.
        import pandas as pd

        # One image at a time: features of a large one take memory, and a caption does not depend on its batch.
        rows = enumerate(cast("list[dict[str, Any]]", given.to_dict("records")))
        captions = [self.captioner.write([self._read(row, f"row {number}")], beam)[0] for number, row in rows]
        rounded = [{"caption": caption.text, "confidence": caption.likelihood} for caption in captions]
        return pd.DataFrame(rounded, columns=list(CAPTIONED))

    def _read(self, row: Mapping[str, Any], where: str) -> np.ndarray:
        # Here: MLflow imports this module before it needs a model.
        from components.vision.image_files import file_of_row, is_present, read_image_file

        if is_present(row.get("features")):
            return np.stack([np.asarray(vector, dtype=np.float32) for vector in row["features"]])
        given = file_of_row(row, where)
        data = read_image_file(Path(given), f"{where}: {given}") if isinstance(given, str) else given
        return self.captioner.see(data, where)


class ServedDualEncoder:
    """Speech or image features → embeddings whose dot products are similarities."""

    def __init__(self, loaded: Any) -> None:
        self.loaded = loaded

    def predict(self, inputs: Mapping[str, np.ndarray], params: Mapping[str, Any] | None = None) -> dict[str, np.ndarray]:
        """Return embeddings under the names of the inputs.

        Args:
            inputs: ``images``: images × features; ``speech``: clips × rows × columns, what the speech tower reads;
                ``lengths``: columns of each clip.
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
    """Load a model's folder; MLflow's entry point."""
    # Here: torch.
    from components.models.dual_encoder_files import CONFIG
    from components.retrieval.embedding import open_folder

    folder = Path(data_path)
    kind = json.loads((folder / CONFIG).read_text(encoding="utf-8"))["kind"]
    if kind != "captioner":
        return ServedDualEncoder(open_folder(folder, data_path))
    # Here: torch and the image encoders.
    from components.vision.captioning import Captioner

    return ServedCaptioner(Captioner(folder))
