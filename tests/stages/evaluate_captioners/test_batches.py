"""Captions depend neither on the batch nor on the order of the images."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.models.captioners import NETWORKS, build
from components.models.captioners.interface import CaptionerConfig, CaptionNetwork
from components.models.trained_captioner import ImageCaptioner, save_trained
from components.models.vocabulary import SPECIAL
from components.stages.evaluate_captioners.writing import caption_images
from components.training.settings import PLAIN_INFERENCE, Inference
from tests.support.models.captioning import tiny_transformer

IMAGES = [str(number) for number in range(9)]


def random_network(name: str) -> CaptionNetwork:
    """A network with larger weights than new ones have, so that captions differ and no two words are nearly equally likely."""
    torch.manual_seed(0)
    small: dict[str, Any] = {"image_features": 6, "width": 16, "layers": 2, "heads": 2, "feedforward": 24, "longest": 6}
    network = build(CaptionerConfig(name, 13, **small))
    with torch.no_grad():
        for weight in network.parameters():
            weight += 0.3 * torch.randn_like(weight)
    return network


def saved(folder: Path, network: CaptionNetwork) -> Path:
    folder.mkdir(exist_ok=True)
    vocabulary = [*SPECIAL, *(f"w{number}" for number in range(network.config.vocabulary - len(SPECIAL)))]
    save_trained(folder, ImageCaptioner(network.float()).state_dict(), vocabulary, {"network": network.config.plain()})
    return folder


def captions_of(folder: Path, images: list[str], beam: int = 3, hardware: Inference = PLAIN_INFERENCE) -> list[str]:
    return [text for ((text, _),) in caption_images([folder], features, images, hardware, beam=beam)]


def features(name: str) -> Any:
    return np.random.default_rng(int(name)).standard_normal((5, 6)).astype(np.float16)


@pytest.mark.long
@pytest.mark.parametrize("name", ["trained", *NETWORKS])
def test_any_batch_size_and_order_give_the_captions_of_one_image_at_a_time(name: str, tmp_path: Path) -> None:
    folder = saved(tmp_path / name, tiny_transformer(3) if name == "trained" else random_network(name))
    alone = dict(zip(IMAGES, captions_of(folder, IMAGES, 3, Inference(batch=1)), strict=True))
    assert len(set(alone.values())) > 2

    @settings(max_examples=8)
    @given(order=st.permutations(IMAGES), batch=st.integers(0, 10))
    def check(order: list[str], batch: int) -> None:
        captions = captions_of(folder, order, 3, Inference(batch=batch))
        assert captions == [alone[image] for image in order]

    check()


def test_reading_processes_change_no_caption(tmp_path: Path) -> None:
    folder = saved(tmp_path, tiny_transformer(3, eager=2.0))
    plain = captions_of(folder, IMAGES, 3)
    assert captions_of(folder, IMAGES, 3, Inference(workers=2, batch=2)) == plain


@pytest.mark.parametrize("beam", [1, 3])
def test_bfloat16_writes_a_caption_of_each_image(beam: int, tmp_path: Path) -> None:
    folder = saved(tmp_path, tiny_transformer(3, eager=2.0))
    assert len(captions_of(folder, IMAGES, beam, Inference(precision="bf16"))) == len(IMAGES)


def test_insufficient_memory_names_the_model_and_the_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = saved(tmp_path / "t2t8x8-1", tiny_transformer(3))

    def fail(*values: Any, **named: Any) -> Any:
        raise torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 9.00 GiB")

    monkeypatch.setattr("components.stages.evaluate_captioners.writing.generate", fail)
    with pytest.raises(HearsightError, match=r"^evaluate_captioners, t2t8x8-1: .*batch of 5 .*lower hardware\.batch"):
        captions_of(folder, IMAGES, 3, Inference(batch=5))
