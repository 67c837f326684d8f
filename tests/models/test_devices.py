"""Networks and decoding compute on the device of their inputs alone, checked on torch's meta device since tests need no GPU."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from components.models import beam
from components.models.captioners import NETWORKS, build
from components.models.captioners.interface import CaptionerConfig
from tests.support.models.dual_encoders import tiny


class OneDevice(TorchDispatchMode):
    """Fails where an operation reads tensors of two devices; single numbers may come from the processor."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        tensors = [leaf for leaf in tree_leaves((args, kwargs or {})) if isinstance(leaf, Tensor) and leaf.dim()]
        assert len({tensor.device.type for tensor in tensors}) < 2, f"{func} reads tensors of two devices"
        return func(*args, **(kwargs or {}))


def test_mixed_devices_are_found() -> None:
    with OneDevice(), pytest.raises(AssertionError, match="two devices"):
        torch.zeros(2, 3, device="meta").gather(1, torch.zeros(2, 1, dtype=torch.long))


@pytest.mark.long
@pytest.mark.parametrize("speech", ["convolutions", "inception_resnet_v2", "own_columns"])
def test_speech_towers_compute_on_their_inputs_device(speech: str) -> None:
    own = speech == "own_columns"
    settings = {"speech": "inception_resnet_v2" if own else speech, "pool_padding": not own, "coefficients": 80}
    with torch.device("meta"):
        network = tiny(**settings)
        clips, lengths = torch.zeros(12, 80, 90), torch.ones(12, dtype=torch.long)
    with OneDevice(), torch.inference_mode():
        assert network.embed_speech(clips, lengths).device.type == "meta"


@pytest.mark.long
@pytest.mark.parametrize("image", ["features", "convolutions", "inception_resnet_v2"])
def test_image_towers_compute_on_their_inputs_device(image: str) -> None:
    with torch.device("meta"):
        network = tiny(image=image)
        side = network.config.image_side
        images = torch.zeros(3, 3, side, side, dtype=torch.uint8) if side else torch.zeros(3, 8, dtype=torch.float16)
    with OneDevice(), torch.inference_mode():
        assert network.embed_images(images).device.type == "meta"


@pytest.mark.long
@pytest.mark.parametrize("width", [1, 3])
@pytest.mark.parametrize("name", NETWORKS)
def test_beam_search_computes_on_its_inputs_device(name: str, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Tensors of the meta device have no values, so every question about them gets the answer no.
    monkeypatch.setattr(Tensor, "__bool__", lambda self: False)
    results: list[Tensor] = []
    monkeypatch.setattr(beam.Finished, "captions", lambda self, best: results.extend(self) or [[beam.Written([], 0.0)]])
    monkeypatch.setattr(Tensor, "tolist", lambda self: results.append(self) or [0.0])
    monkeypatch.setattr("components.models.sampling.Sampled.captions", lambda self: results.extend(self) or [[]])
    small = {"image_features": 16, "width": 16, "layers": 2, "heads": 2, "feedforward": 16, "longest": 4}
    with torch.device("meta"):
        network = build(CaptionerConfig(name, 30, **small)).eval()
        features = torch.zeros(5, 4 if network.config.grid else 1, 16)
    with OneDevice():
        beam.generate(network, features, beam=width)
    assert results and {tensor.device.type for tensor in results} == {"meta"}
