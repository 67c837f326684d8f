"""A captioner that was trained together with its encoder reads a test set's images, and no features."""

from __future__ import annotations

import io
import json
from functools import partial
from pathlib import Path

import pytest
import torch
from PIL import Image
from torch import Tensor, nn

from components.core.stage_output import StageOutput
from components.models.captioners import build
from components.models.captioners.interface import CaptionerConfig
from components.models.trained_captioner import ImageCaptioner, save_trained
from components.models.vocabulary import SPECIAL
from components.stages.evaluate_captioners.writing import caption_images, read_image, require_encoder
from tests.support import make_output, row

ABOUT = {"name": "colours", "side": 16, "trained": True}
VOCABULARY = [*SPECIAL, "red", "green", "blue"]


class Colours(nn.Module):
    """The mean colour, for the evaluated and for its one cell."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = nn.Parameter(torch.ones(3))

    def encode(self, pixels: Tensor) -> Tensor:
        mean = (pixels.float() / 255.0).mean((2, 3)) * self.scale
        return mean[:, None].expand(-1, 2, -1)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("components.stages.evaluate_captioners.writing.captioner_encoder", lambda about: Colours())
    torch.manual_seed(0)
    config = CaptionerConfig("rnn1x1", len(VOCABULARY), image_features=3, width=16, heads=1, layers=1, dropout=0.0, longest=1)
    model = ImageCaptioner(build(config), Colours())
    optimiser = torch.optim.Adam(model.parameters(), lr=0.02)
    words = torch.tensor([[1, 4, 2], [1, 5, 2], [1, 6, 2]])
    for _ in range(60):
        optimiser.zero_grad()
        model.network.loss(model.see(torch.stack([colour(place) for place in range(3)])), words).backward()
        optimiser.step()
    path = tmp_path / "model"
    path.mkdir()
    save_trained(path, model.state_dict(), VOCABULARY, {"network": config.plain(), "encoder": ABOUT})
    return path


def colour(place: int) -> Tensor:
    pixels = torch.zeros(3, 16, 16, dtype=torch.uint8)
    pixels[place] = 255
    return pixels


def images(root: Path) -> StageOutput:
    members = {}
    for place in range(3):
        target = io.BytesIO()
        Image.fromarray(colour(place).permute(1, 2, 0).numpy()).resize((40, 30)).save(target, "PNG")
        members[f"{place}.png"] = target.getvalue()
    return make_output(root, "extract_features", [[row("extract_features", key="k")]], media=[members])


def test_a_trained_captioner_writes_the_captions_of_its_images(folder: Path, tmp_path: Path) -> None:
    encoder = require_encoder(json.loads((folder / "config.json").read_text()), {"encoder": ABOUT})
    read = partial(read_image, images(tmp_path), side=encoder["side"])
    media = [f"00000/{place}.png" for place in (2, 0, 1)]
    for folders in ([folder], [folder, folder]):
        assert [best for ((best, _),) in caption_images(folders, read, media, beam=2)] == ["blue", "red", "green"]


def test_a_set_of_features_is_refused_with_one_line(folder: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="holds features, and the model takes images"):
        read_image(images(tmp_path), "00000/0.npy", 16)
    with pytest.raises(ValueError, match="it takes features, and the set was prepared as images"):
        require_encoder({"encoder": {"name": "colours", "trained": False}}, {"encoder": ABOUT})
