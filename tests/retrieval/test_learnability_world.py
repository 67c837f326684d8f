"""The made world of ``benchmarks.learnability``: words name what is seen, and nothing but that tells which picture is meant."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from benchmarks.learnability_world import (
    HUMAN,
    NAMES,
    SPLITS,
    SYNTHETIC,
    Kind,
    Language,
    combinations,
    pairs_of,
    render,
    source_of,
    utter,
)
from components.models.mfcc import MFCC

SEEDS = (0, 7)


@pytest.mark.parametrize("seed", SEEDS)
def test_no_two_splits_share_a_combination_and_every_name_is_trained_with_few_pairs_too(seed: int) -> None:
    result = combinations(seed)
    every = [tuple(shown.values()) for split in result.values() for shown in split]
    assert {split: len(some) for split, some in result.items()} == SPLITS and len(set(every)) == len(every)
    for split in ("train", "few"):
        for what, names in NAMES.items():
            assert {shown[what] for shown in result[split]} == set(names)


@pytest.mark.parametrize("kind", [SYNTHETIC, HUMAN])
def test_an_utterance_names_what_its_picture_shows_and_always_the_colour_and_the_shape(kind: Kind) -> None:
    pairs = pairs_of(3, "test", kind, 30)
    for pair in pairs:
        assert set(pair.said) <= set(pair.shown.values()) and {pair.shown["colour"], pair.shown["shape"]} <= set(pair.said)
        assert pair.picture.shape == (3, 32, 32) and np.abs(pair.samples).max() <= 1.0
    assert len({len(pair.said) for pair in pairs}) > 1
    again = pairs_of(3, "test", kind, 5)
    assert all(np.array_equal(one.samples, other.samples) for one, other in zip(pairs, again, strict=False))
    assert all(np.array_equal(one.picture, other.picture) for one, other in zip(pairs, again, strict=False))


def test_draws_depend_on_the_pairs_number_only() -> None:
    shown = {"pattern": "plain", "colour": "red", "shape": "disc", "ground": "snow"}
    blue = render(shown | {"colour": "blue"}, SYNTHETIC, source_of(1, "x")).astype(int)
    red = render(shown, SYNTHETIC, source_of(1, "x")).astype(int)
    square = render(shown | {"shape": "square"}, SYNTHETIC, source_of(1, "x")).astype(int)
    thing = np.abs(red - blue).sum(0) > 60
    assert 0.1 < thing.mean() < 0.4 and np.abs(red - blue).sum(0)[~thing].max() < 60
    assert red[0][thing].mean() > 2 * red[2][thing].mean() and blue[2][thing].mean() > 2 * blue[0][thing].mean()
    # A square in the disc's place: their middles are the same, and so is all that lies outside both.
    assert (square == red).all(0).mean() > 0.6
    grass = render(shown | {"ground": "grass"}, SYNTHETIC, source_of(1, "x")).astype(int)
    assert (np.abs(grass - red).sum(0) < 30)[thing].mean() > 0.8


def test_features_separate_words_across_speakers() -> None:
    language, transform = Language(0), MFCC()
    names = list(language.words)
    assert len({language.words[name] for name in names} | set(language.fillers)) == len(names) + len(language.fillers)

    def heard(name: str, speaker: int) -> torch.Tensor:
        samples = utter([language.words[name]], SYNTHETIC, source_of(0, name, speaker))
        # Silence before and behind has the noise's level alone; without the first coefficient loudness does not count.
        level = np.convolve(np.square(samples), np.ones(320), "same")
        spoken = np.flatnonzero(level > 0.03 * level.max())[[0, -1]]
        loud = transform(torch.from_numpy(samples[slice(*spoken)])[None])[0][0][1:20]
        # Four stretches of the word, so that the order of its syllables counts.
        return torch.cat([part.mean(1) for part in loud.tensor_split(4, dim=1)])

    known = torch.stack([torch.stack([heard(name, speaker) for speaker in range(4)]).mean(0) for name in names])
    right = [int((known - heard(name, 9)).norm(dim=1).argmin()) == place for place, name in enumerate(names)]
    assert sum(right) > 0.6 * len(names), sum(right)
