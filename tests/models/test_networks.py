"""Properties of the networks and of decoding, with tiny untrained models."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from safetensors.torch import save_file

from components.models.captioner import END, PAD, START, UNKNOWN, Captioner, CaptionerConfig
from components.models.decoding import beam_search, greedy, greedy_batch, log_probabilities
from components.models.dual_encoder import DualEncoder, DualEncoderConfig, similarity
from components.models.loading import load_captioner, load_dual_encoder


def tiny_captioner(seed: int = 0) -> Captioner:
    torch.manual_seed(seed)
    config = CaptionerConfig(vocabulary=12, image_features=8, width=16, heads=2, layers=1, dropout=0.1, longest=5)
    return Captioner(config).eval()


def tiny_encoder() -> DualEncoder:
    torch.manual_seed(0)
    return DualEncoder(DualEncoderConfig(coefficients=6, image_features=8, channels=10, embedding=4, layers=2)).eval()


def rescored(model: Captioner, features: torch.Tensor, words: list[int]) -> float:
    memory, total = model.encode(features[None]), 0.0
    path = [*words, END] if len(words) < model.config.longest else words
    for place, word in enumerate(path):
        total += float(log_probabilities(model, memory, torch.tensor([[START, *path[:place]]]))[0, word])
    return total


@pytest.mark.parametrize("seed", range(12))
def test_a_beam_is_never_less_likely_than_greedy(seed: int) -> None:
    model, features = tiny_captioner(seed), torch.randn(5, 8)
    assert beam_search(model, features, beam=4).score >= greedy(model, features).score - 1e-6


@pytest.mark.parametrize("seed", range(6))
def test_a_caption_is_scored_by_the_sum_of_its_words(seed: int) -> None:
    model, features = tiny_captioner(seed), torch.randn(5, 8)
    found = beam_search(model, features, beam=4)
    assert found.score == pytest.approx(rescored(model, features, found.words), abs=1e-4)


def test_a_full_beam_finds_the_most_likely_caption_of_all() -> None:
    torch.manual_seed(5)
    model = Captioner(CaptionerConfig(vocabulary=6, image_features=8, width=16, heads=2, layers=1, longest=2)).eval()
    features = torch.randn(3, 8)
    memory = model.encode(features[None])

    def score(path: list[int]) -> float:
        return sum(
            float(log_probabilities(model, memory, torch.tensor([[START, *path[:i]]]))[0, word]) for i, word in enumerate(path)
        )

    # A caption of the longest length has no room for an end sign.
    every = [[END], [4, END], [5, END], *([a, b] for a in (4, 5) for b in (4, 5))]
    assert beam_search(model, features, beam=50).score == pytest.approx(max(map(score, every)), abs=1e-5)


@pytest.mark.parametrize("seed", range(6))
def test_greedy_in_a_batch_writes_what_greedy_alone_writes(seed: int) -> None:
    model = tiny_captioner(seed)
    features = torch.randn(4, 5, 8)
    assert greedy_batch(model, features) == [greedy(model, one).words for one in features]


def test_signs_are_never_written_and_captions_end() -> None:
    for seed in range(10):
        words = beam_search(tiny_captioner(seed), torch.randn(5, 8)).words
        assert len(words) <= 5 and not {PAD, START, UNKNOWN, END} & set(words)


def test_the_decoder_does_not_look_ahead() -> None:
    model = tiny_captioner()
    memory = model.encode(torch.randn(1, 5, 8))
    one, other = torch.tensor([[1, 4, 5, 6]]), torch.tensor([[1, 4, 9, 7]])
    torch.testing.assert_close(model.decode(memory, one)[:, :2], model.decode(memory, other)[:, :2])


def test_padding_adds_nothing_to_the_loss() -> None:
    model, features = tiny_captioner(), torch.randn(2, 5, 8)
    words = torch.tensor([[START, 4, END], [START, 5, END]])
    longer = torch.nn.functional.pad(words, (0, 3))
    torch.testing.assert_close(model.loss(features, words), model.loss(features, longer))


def test_the_output_matrix_is_the_embedding() -> None:
    names = [name for name, _ in tiny_captioner().named_parameters()]
    assert sum(next(iter(p.shape)) == 12 for p in tiny_captioner().parameters()) == 1, names


def test_padding_frames_have_no_influence_on_a_clip() -> None:
    model = tiny_encoder()
    for frames in (1, 2, 7, 20):
        clip = torch.randn(1, 6, frames)
        alone = model.embed_speech(clip, torch.tensor([frames]))
        noisy = torch.cat([clip, torch.randn(1, 6, 13) * 100], dim=2)
        torch.testing.assert_close(model.embed_speech(noisy, torch.tensor([frames])), alone)


def test_similarity_is_the_dot_product_bounded_by_the_scale() -> None:
    model = tiny_encoder()
    speech, images = model.embed_speech(torch.randn(3, 6, 9), torch.tensor([9, 5, 2])), model.embed_images(torch.randn(4, 8))
    scores = similarity(speech, images)
    assert scores.shape == (3, 4) and float(scores.detach().abs().max()) <= model.config.scale * (1 + 1e-5)
    assert float(scores[1, 2].detach()) == pytest.approx(float((speech[1] * images[2]).sum().detach()), abs=1e-5)


def test_saved_models_come_back_the_same(tmp_path: Path) -> None:
    for kind, model, more, load in (
        ("captioner", tiny_captioner(), {"vocabulary": [f"w{i}" for i in range(12)]}, load_captioner),
        ("dual_encoder", tiny_encoder(), {}, load_dual_encoder),
    ):
        folder = tmp_path / kind
        folder.mkdir()
        save_file(model.state_dict(), folder / "weights.safetensors")
        (folder / "config.json").write_text(json.dumps({"kind": kind, "network": model.config.plain(), **more}))
        loaded = load(folder)
        assert not loaded.model.training
        assert all(
            torch.equal(a, b) for a, b in zip(model.state_dict().values(), loaded.model.state_dict().values(), strict=True)
        )
    with pytest.raises(ValueError, match="not a captioner"):
        load_captioner(tmp_path / "dual_encoder")
