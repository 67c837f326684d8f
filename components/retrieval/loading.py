"""A trained dual encoder out of the output of ``train`` or ``tune``, or out of a folder, ready to embed."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from components.core.errors import HearsightError

if TYPE_CHECKING:
    from components.core.stage_output import StageOutput
    from components.models.dual_encoder import DualEncoderConfig
    from components.models.encoders import ImageEncoder
    from components.models.loading import LoadedDualEncoder


def open_dual_encoder(models: StageOutput, key: str) -> LoadedDualEncoder:
    """The model of this key, in eval mode; see :func:`open_folder` for the errors."""
    return open_folder(model_folder(models, key), models.name)


def open_folder(folder: Path, where: str) -> LoadedDualEncoder:
    """The model whose files lie in ``folder``, in eval mode.

    Args:
        where: what an error names.

    Raises:
        HearsightError: its files are missing, damaged or of another version.
    """
    from components.models.loading import load_dual_encoder

    try:
        return load_dual_encoder(folder, image_encoder=empty_image_encoder)
    except ValueError as error:
        raise HearsightError(str(error), where=where, hint="run the stage that made it again") from error


def model_folder(trained: StageOutput, key: str) -> Path:
    """The folder of a model whose files are those of the manifest."""
    folders = {trained.file(f"models/{key}/{name}").parent for name in ("weights.safetensors", "config.json")}
    if len(folders) != 1:
        raise HearsightError(f"the files of model {key} lie apart", where=trained.path, hint="run its stage again")
    return folders.pop()


def empty_image_encoder(config: DualEncoderConfig) -> ImageEncoder | None:
    """A large image tower's network for weights to be read into; None where it is built with the towers."""
    if config.image != "efficientnet_lite0":
        return None
    from components.vision.image_encoders import trainable_encoder

    return trainable_encoder(config.image, None, config.picture_side)
