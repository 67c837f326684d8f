"""A trained dual encoder out of the output of ``train`` or ``tune``, ready to embed."""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.core.errors import HearsightError
from components.retrieval.jobs import model_folder

if TYPE_CHECKING:
    from components.core.boundary import Boundary
    from components.models.dual_encoder import DualEncoderConfig
    from components.models.encoders import ImageEncoder
    from components.models.loading import LoadedDualEncoder


def open_dual_encoder(models: Boundary, key: str) -> LoadedDualEncoder:
    """The model of this key, in eval mode.

    Raises:
        HearsightError: its files are missing, damaged or of another version.
    """
    from components.models.loading import load_dual_encoder

    try:
        return load_dual_encoder(model_folder(models, key), image_encoder=_image_encoder)
    except ValueError as error:
        raise HearsightError(str(error), where=models.name, mend="run its stage again") from error


def _image_encoder(config: DualEncoderConfig) -> ImageEncoder:
    """A large image tower's network, for the weights to be read into."""
    from components.providers.encoded import trainable_encoder

    return trainable_encoder(config.image, None, config.picture_side)
