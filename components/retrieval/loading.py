"""Loading of trained dual encoders from a training stage's output or a folder."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import HearsightError
from components.models.loading import LoadedDualEncoder, load_dual_encoder
from components.vision.image_encoders import trainable_encoder

if TYPE_CHECKING:
    from components.core.stage_output import StageOutput
    from components.models.dual_encoder import DualEncoderConfig
    from components.models.encoders import ImageEncoder


def open_dual_encoder(models: StageOutput, key: str) -> LoadedDualEncoder:
    """Return the model of this key, in eval mode; errors as :func:`open_folder`."""
    return open_folder(model_folder(models, key), models.name)


def open_folder(folder: Path, where: str) -> LoadedDualEncoder:
    """Return the model in ``folder``, in eval mode.

    Args:
        where: location named in errors.

    Raises:
        HearsightError: files are missing, damaged or of another version.
    """
    try:
        return load_dual_encoder(folder, image_encoder=empty_image_encoder)
    except ValueError as error:
        raise HearsightError(str(error), where=where, hint="run the stage that made it again") from error


def model_folder(trained: StageOutput, key: str) -> Path:
    """Return the folder of a model's files, as recorded in the manifest."""
    folders = {trained.file(f"models/{key}/{name}").parent for name in ("weights.safetensors", "config.json")}
    if len(folders) != 1:
        raise HearsightError(f"the files of model {key} are in different folders", where=trained.path, hint="run its stage again")
    return folders.pop()


def empty_image_encoder(config: DualEncoderConfig) -> ImageEncoder | None:
    """Return a large image tower's network, to be filled with weights; None if the towers build it themselves."""
    if config.image != "efficientnet_lite0":
        return None

    return trainable_encoder(config.image, None, config.picture_side)
