"""The towers over encoder states and over words: independent of padding, trained as a whole, and handed on as they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from components.models.dual_encoder import DualEncoder, DualEncoderConfig
from components.models.dual_encoder_files import LoadedDualEncoder, load_dual_encoder, save_dual_encoder, warm_start
from components.models.pooled_towers import CHANNELS
from tests.support.models.dual_encoders import tiny

TOWERS: dict[str, dict[str, Any]] = {
    "whisper": {"speech": "whisper", "width": 12},
    "text": {"speech": "text", "width": 12, "vocabulary": ("a", "dog", "runs")},
}


def model_of(name: str, **changed: Any) -> DualEncoder:
    return tiny(**TOWERS[name] | changed)


def clips_of(name: str, count: int, length: int) -> torch.Tensor:
    source = torch.Generator().manual_seed(length)
    if name == "text":
        return torch.randint(4, (count, 1, length), generator=source).float()
    return torch.randn(count, CHANNELS, length, generator=source)


@pytest.mark.parametrize("name", TOWERS)
def test_an_embedding_depends_on_its_clip_alone(name: str) -> None:
    # More clips than are convolved together, in no order.
    model, clips, lengths = model_of(name), clips_of(name, 12, 21), torch.tensor([21, 3, 1, 14, 8, 20, 2, 17, 5, 11, 19, 6])
    together = model.embed_speech(clips, lengths)
    for row, length in enumerate(lengths.tolist()):
        alone = model.embed_speech(clips[row : row + 1, :, :length], lengths[row : row + 1])
        torch.testing.assert_close(together[row : row + 1], alone)
    clips[1, :, 3:] = float("nan")
    torch.testing.assert_close(model.embed_speech(clips, lengths), together)
    assert len(torch.unique(together, dim=0)) == 12


@pytest.mark.parametrize("name", TOWERS)
def test_neighbouring_vectors_are_heard_together(name: str) -> None:
    """The same vectors in another order are another clip; where in it a sequence stands, between silences, does not matter."""
    model = model_of(name)
    clip = torch.zeros(1, 1 if name == "text" else CHANNELS, 11)
    clip[:, :, 3:6] = clips_of(name, 1, 3) if name == "whisper" else torch.tensor([1.0, 2.0, 3.0])
    other, moved = clip.clone(), clip.roll(2, dims=2)
    other[:, :, 3:6] = clip[:, :, [4, 3, 5]]
    first, swapped, later = (model.speech.pool(one, torch.tensor([11])) for one in (clip, other, moved))
    torch.testing.assert_close(later, first)
    assert not torch.allclose(swapped, first)


@pytest.mark.parametrize("name", TOWERS)
def test_a_gradient_reaches_every_parameter_also_of_clips_of_one_vector(name: str) -> None:
    model = model_of(name)
    # Every word occurs, so that each has a gradient.
    clips, lengths = clips_of(name, 3, 40), torch.tensor([40, 40, 1])
    model.embed_speech(clips, lengths).square().sum().backward()
    gradients = {part: parameter.grad for part, parameter in model.speech.named_parameters()}
    assert "queries.weight" in gradients
    assert all(gradient is not None and gradient.any() and gradient.isfinite().all() for gradient in gradients.values())


def test_learnt_queries_move_towards_the_state_that_matters() -> None:
    """One state of a clip says which class it is; the queries learn to give it more weight than an even share."""
    torch.manual_seed(0)
    model = DualEncoder(DualEncoderConfig(speech="whisper", width=16, embedding=2, image_features=8)).train()
    marks = torch.randn(3, CHANNELS)  # of what matters, and of the two classes
    optimiser = torch.optim.Adam(model.speech.parameters(), lr=1e-2)
    for _ in range(30):
        clips, classes = torch.randn(32, CHANNELS, 12), torch.randint(2, (32,))
        clips[:, :, 5] += 3 * (marks[0] + marks[1 + classes])
        loss = torch.nn.functional.cross_entropy(model.speech(clips, torch.full((32,), 12)), classes)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    weights = model.speech.queries(clips.transpose(1, 2)).softmax(1)
    assert loss < 0.1 and weights[:, 5].mean() > 2 / 12


@pytest.mark.parametrize("name", TOWERS)
def test_a_saved_tower_loads_unchanged_and_starts_only_its_like(name: str, tmp_path: Path) -> None:
    model = model_of(name)
    save_dual_encoder(tmp_path, model.state_dict(), {"network": model.config.plain()})
    loaded = load_dual_encoder(tmp_path)
    assert loaded.model.config == model.config
    clips, lengths = clips_of(name, 2, 9), torch.tensor([9, 4])
    assert torch.equal(loaded.model.embed_speech(clips, lengths), model.embed_speech(clips, lengths))
    assert "speech.queries.weight" in warm_start(model_of(name), loaded, {"speech"})
    with pytest.raises(ValueError, match=f"the speech tower is convolutions, and the one to start from is {name}"):
        warm_start(tiny(), loaded, {"speech"})
    other = LoadedDualEncoder(model_of(name, width=13), {})
    with pytest.raises(ValueError, match="the speech tower is of another size"):
        warm_start(model_of(name), other, {"speech"})


def test_a_text_tower_without_words_and_a_warm_start_from_other_words_are_refused() -> None:
    with pytest.raises(ValueError, match="'text' needs a vocabulary"):
        DualEncoderConfig(speech="text")
    other = LoadedDualEncoder(model_of("text", vocabulary=("a", "cat", "runs")), {})
    with pytest.raises(ValueError, match="knows other words"):
        warm_start(model_of("text"), other, {"speech"})
