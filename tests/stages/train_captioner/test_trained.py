"""A trained captioner is loaded unchanged, and a damaged one is refused in one line."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from components.models.captioners.interface import CaptionerConfig
from components.models.trained_captioner import CONFIG, WEIGHTS, ImageCaptioner, load_trained, save_trained
from tests.support.train_captioner.project import SmallEncoder, SmallNetwork

WORDS = ["<PAD>", "<S>", "</S>", "<UNK>", "a", "dog"]
SHAPE = CaptionerConfig("t2t8x8", len(WORDS), image_features=6, width=8, heads=2, layers=1)


def saved(folder: Path, encoder: Any = None) -> ImageCaptioner:
    folder.mkdir(exist_ok=True)
    model = ImageCaptioner(SmallNetwork(SHAPE), encoder)
    save_trained(folder, model.state_dict(), WORDS, {"network": SHAPE.plain(), "encoder": {"name": "small"}})
    return model


def test_a_value_is_read_back_unchanged(tmp_path: Path) -> None:
    model, loaded = saved(tmp_path), load_trained(tmp_path)
    assert all(torch.equal(tensor, loaded.model.state_dict()[name]) for name, tensor in model.state_dict().items())
    assert loaded.text([4, 5]) == "a dog" and not loaded.model.training
    own = saved(tmp_path / "own", SmallEncoder())
    with pytest.raises(ValueError, match="holds a trained encoder"):
        load_trained(tmp_path / "own")
    back = load_trained(tmp_path / "own", encoder=lambda encoder: SmallEncoder())
    image = torch.randint(256, (2, 3, 32, 32), dtype=torch.uint8)
    assert torch.equal(back.model.see(image), own.eval().see(image))
    with pytest.raises(ValueError, match="not images"):
        loaded.model.see(image)


def change(folder: Path, **values: Any) -> None:
    config = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps(config | values))


def test_a_captioner_whose_files_do_not_belong_together_is_refused(tmp_path: Path) -> None:
    saved(tmp_path)
    with pytest.raises(ValueError, match="another vocabulary or size"):
        change(tmp_path, network=SHAPE.plain() | {"width": 16})
        load_trained(tmp_path)
    change(tmp_path, network=SHAPE.plain() | {"vocabulary": 9})
    with pytest.raises(ValueError, match="has 6 words for a network of 9"):
        load_trained(tmp_path)
    change(tmp_path, vocabulary=[*WORDS[:5], "cat"])
    with pytest.raises(ValueError, match="their digest differs"):
        load_trained(tmp_path)


def test_missing_and_damaged_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"config\.json: is missing"):
        load_trained(tmp_path)
    saved(tmp_path)
    (tmp_path / WEIGHTS).rename(tmp_path / "away")
    with pytest.raises(ValueError, match=r"weights\.safetensors: is missing"):
        load_trained(tmp_path)
    change(tmp_path, kind="dual_encoder")
    with pytest.raises(ValueError, match="does not describe a captioner"):
        load_trained(tmp_path)
    (tmp_path / CONFIG).write_text("{")
    with pytest.raises(ValueError, match="is not complete JSON"):
        load_trained(tmp_path)


@given(st.integers(0, 2000))
@settings(max_examples=30, deadline=None)
def test_weights_cut_anywhere_are_refused(tmp_path_factory: pytest.TempPathFactory, length: int) -> None:
    folder = tmp_path_factory.mktemp("cut")
    saved(folder)
    data = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(data[: min(length, len(data) - 1)])
    with pytest.raises(ValueError, match=r"weights\.safetensors: is not a whole safetensors file"):
        load_trained(folder)
