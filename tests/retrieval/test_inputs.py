"""What towers read: states from the cache, words in a vocabulary; and that a small training on real states learns."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from components.core.result_cache import ResultCache
from components.models.contrastive import LossSettings, contrastive_loss
from components.models.dual_encoder import DualEncoder, DualEncoderConfig
from components.retrieval.inputs import INPUTS, Coefficients, States, Words, open_input, vocabulary_of
from components.retrieval.items import PairItems
from components.retrieval.pairs import Pairs, read_pairs
from components.search.queries import Query
from components.search.query_encoder import QueryEncoder
from components.speech.audio.files import from_flac
from components.speech.recognition.encoder_states import EncoderStates, unpack
from components.speech.voices.speaking import speak
from tests.support.models.dual_encoders import tiny
from tests.support.retrieval.world import spoken_set


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Pairs:
    return read_pairs([spoken_set(tmp_path_factory.mktemp("set"), images=8)], "train", ["image"])


def test_states_are_read_from_the_cache_and_kept_within_the_limit(pairs: Pairs, tmp_path: Path) -> None:
    cache = ResultCache(tmp_path)
    kept, again = States(pairs, 1, cache), States(pairs, 0, ResultCache(tmp_path))
    sounds = [from_flac(pairs.audio.read(item)) for item in range(len(pairs))]
    for item, samples in enumerate(sounds):
        expected = unpack(EncoderStates().compute(samples)).T
        assert np.array_equal(kept[item], expected) and np.array_equal(again[item], expected)
    assert cache.computed == {EncoderStates.name: len(pairs)} and not again.annotations.computed
    # As bytes: a quarter of what they are read as.
    assert sum(held.nbytes for held in kept._kept.values()) < kept[0].nbytes * len(pairs) / 2 and not again._kept


def test_clip_length_and_masks_are_given_in_frames_of_10_ms(pairs: Pairs, tmp_path: Path) -> None:
    assert (Coefficients.columns(350), States.columns(350), States.columns(8), States.columns(1)) == (350, 44, 1, 1)
    assert (Coefficients.masks(20, 40), States.masks(20, 40), Words.masks(20, 40)) == ((20, 40), (0, 5), (0, 0))
    states = States(pairs, 1, ResultCache(tmp_path))
    items = PairItems(pairs, states, np.arange(4), seed=0, frames=16, side=0, training=False, fixed=True)
    clips, lengths = items.speech([(0, 0), (0, 3)])
    assert clips.shape == (2, 512, 2) and torch.equal(clips[1, :, : lengths[1]], states[3][:, : lengths[1]])


def test_words_are_numbers_of_those_that_training_captions_repeat(pairs: Pairs) -> None:
    vocabulary = vocabulary_of(["A dog runs.", "The dog's ball", "a red dog"])
    assert vocabulary == ("a", "dog") and vocabulary_of(["red"]) == ("red",)
    words = Words(pairs, 1, vocabulary, ["a Dog sleeps", "!", *pairs.utterances["caption"].to_pylist()[2:]])
    assert words[0].tolist() == [[1, 2, 0]] and words[1].tolist() == [[0]]
    mean, deviation = words.statistics(np.arange(2), 0)
    assert (mean, deviation) == (torch.zeros(1, 1), torch.ones(1, 1))


@pytest.mark.parametrize("name", INPUTS)
def test_a_query_is_heard_as_an_utterance_is(name: str, pairs: Pairs, tmp_path: Path) -> None:
    tower = {"coefficients": {"coefficients": 128}, "states": {"speech": "whisper", "width": 8}}[name]
    encoder = QueryEncoder.__new__(QueryEncoder)
    encoder.network, encoder.config = tiny(**tower), {"frames": 20}
    samples = from_flac(pairs.audio.read(1))
    clips, lengths = encoder._speech(samples)
    items = PairItems(
        pairs, open_input(encoder.network.speech, pairs, 0, ResultCache(tmp_path)), np.arange(len(pairs)),
        seed=0, frames=20, side=0, training=False,
    )  # fmt: skip
    expected = items.speech([(0, 1)])
    torch.testing.assert_close(clips, expected[0], rtol=1e-5, atol=1e-4)
    assert torch.equal(lengths, expected[1])
    assert np.isfinite(encoder.embed(Query("speech", b"", samples))).all()


def test_a_few_minutes_of_states_tell_captions_of_another_voice_apart() -> None:
    """Trained on one voice, the right image of four is found for each caption of a voice that was never heard."""
    captions = ("a dog runs", "a red flower", "two boats at sea", "people dance")
    torch.manual_seed(0)
    images = torch.randn(len(captions), 8)

    def heard(voice: str) -> tuple[torch.Tensor, torch.Tensor]:
        clips = [States.of_sound(speak(caption, voice)) for caption in captions]
        lengths = torch.tensor([clip.shape[1] for clip in clips])
        return torch.stack([torch.nn.functional.pad(c, (0, int(lengths.max()) - c.shape[1])) for c in clips]), lengths

    config: dict[str, Any] = {"speech": "whisper", "width": 32, "embedding": 8, "image_features": 8, "scale": 8.0}
    network = DualEncoder(DualEncoderConfig(**config)).train()
    optimiser = torch.optim.Adam(network.parameters(), lr=3e-3)
    training = heard("nanotts-en-us")
    for step in range(30):
        spoken, seen = network.embed_speech(*training), network.embed_images(images)
        loss = contrastive_loss(spoken, seen, torch.arange(4), LossSettings(), step, torch.Generator())
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    with torch.inference_mode():
        scores = network.eval().embed_speech(*heard("hibari-heart")) @ network.embed_images(images).T
    assert scores.argmax(1).tolist() == [0, 1, 2, 3]
