"""The self-critical loss against a loop, against expectations over every caption there is, and at work."""

from __future__ import annotations

import itertools
import math
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from components.models.captioners import build
from components.models.captioners.interface import CaptionerConfig, CaptionNetwork
from components.models.sampling import log_probabilities, sample
from components.models.self_critical import mean_of_others, self_critical_loss, without_dropout
from components.models.vocabulary import END, PAD

A, B = 4, 5


def tiny(name: str = "rnn1x1", **changed: Any) -> CaptionNetwork:
    """Three words that may be written (END, A, B), and captions of two of them."""
    sizes = {"vocabulary": 6, "image_features": 4, "width": 8, "heads": 2, "layers": 1, "dropout": 0.0, "longest": 2}
    torch.manual_seed(3)
    return build(CaptionerConfig(name, **(sizes | changed)))


EVERY = torch.tensor([[END, PAD]] + [list(pair) for pair in itertools.product((A, B), (END, A, B))])
"""Every caption of the tiny network."""


@given(
    words=st.lists(st.lists(st.sampled_from([PAD, END, A, B, 7]), min_size=5, max_size=5), min_size=1, max_size=6),
    seed=st.integers(0, 2**31),
)
@settings(max_examples=80, deadline=None)
def test_the_loss_equals_a_loop_over_words(words: list[list[int]], seed: int) -> None:
    torch.manual_seed(seed)
    log_probabilities = -torch.rand(len(words), 5, dtype=torch.float64)
    rewards, baseline = torch.rand(2, len(words), dtype=torch.float64)
    total = 0.0
    for row, caption in enumerate(words):
        for place, word in enumerate(caption):
            if word != PAD:
                total -= float(rewards[row] - baseline[row]) * float(log_probabilities[row, place])
            if word == END:
                break
    result = self_critical_loss(log_probabilities, torch.tensor(words), rewards, baseline)
    assert float(result) == pytest.approx(total / len(words), abs=1e-12)


@pytest.mark.parametrize("after", [PAD, A, END])
def test_words_after_the_end_have_no_influence_even_if_impossible(after: int) -> None:
    log_probabilities = torch.tensor([[-1.0, -2.0, float("-inf")]], requires_grad=True)
    loss = self_critical_loss(log_probabilities, torch.tensor([[A, END, after]]), torch.tensor([2.0]), torch.tensor([0.5]))
    loss.backward()
    assert float(loss.detach()) == pytest.approx(4.5)
    assert log_probabilities.grad is not None and log_probabilities.grad.tolist() == [[-1.5, -1.5, 0.0]]


def gradients(network: CaptionNetwork, value: Tensor) -> list[Tensor]:
    return [
        torch.zeros_like(parameter) if result is None else result
        for parameter, result in zip(
            network.parameters(), torch.autograd.grad(value, list(network.parameters()), allow_unused=True), strict=True
        )
    ]


@pytest.mark.parametrize("name", ["rnn1x1", "rnn8x8", "aoanet"])
@pytest.mark.parametrize("baseline", [0.0, 0.7])
def test_the_expected_gradient_is_the_gradient_of_the_expected_reward(name: str, baseline: float) -> None:
    network, many = tiny(name).double(), len(EVERY)
    features = torch.randn(1, 1 if name == "rnn1x1" else 3, 4, dtype=torch.float64)
    rewards = torch.rand(many, dtype=torch.float64)
    logs = log_probabilities(network, network.encode(features), EVERY)
    chances = logs.sum(1).exp()
    assert float(chances.detach().sum()) == pytest.approx(1.0, abs=1e-12)
    analytic = gradients(network, -(chances * rewards).sum())
    estimate = [torch.zeros_like(each) for each in analytic]
    for row in range(many):
        one = slice(row, row + 1)
        logs = log_probabilities(network, network.encode(features), EVERY[one])
        loss = self_critical_loss(logs, EVERY[one], rewards[one], torch.tensor([baseline], dtype=torch.float64))
        for total, part in zip(estimate, gradients(network, loss), strict=True):
            total += chances[row].detach() * part
    assert any(float(each.abs().max()) > 1e-4 for each in analytic)
    for mine, theirs in zip(estimate, analytic, strict=True):
        assert torch.allclose(mine, theirs, atol=1e-12)


def test_no_gradient_runs_through_rewards() -> None:
    rewards, baseline = torch.ones(1, requires_grad=True), torch.zeros(1, requires_grad=True)
    logs = torch.full((1, 1), -1.0, requires_grad=True)
    self_critical_loss(logs, torch.tensor([[END]]), rewards, baseline).backward()
    assert rewards.grad is None and baseline.grad is None and logs.grad is not None


def test_captions_are_sampled_by_their_probabilities() -> None:
    network, many = tiny().eval(), 20_000
    features = torch.randn(2, 1, 4)
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad():
        memory = network.encode(features)
        drawn = sample(network, memory, 2, many, generator).words
        every = log_probabilities(network, memory, EVERY.repeat(2, 1))
    for image in range(2):
        mine = drawn[image * many : (image + 1) * many]
        for caption, logs in zip(EVERY, every[image * len(EVERY) :], strict=False):
            chance = float(logs.sum().exp())
            share = float((mine == caption).all(1).float().mean())
            assert share == pytest.approx(chance, abs=4.5 * math.sqrt(chance * (1 - chance) / many))


def test_the_mean_of_the_others_excludes_a_captions_own_reward() -> None:
    result = mean_of_others(torch.tensor([1.0, 2.0, 6.0, 0.0, 0.0, 3.0]), 3)
    assert result.tolist() == [4.0, 3.5, 1.5, 1.5, 1.5, 0.0]


def test_evaluation_without_dropout_is_repeatable_keeps_gradients_and_restores_modes() -> None:
    network = tiny("aoanet", dropout=0.5).train()
    network.words.eval()
    before = [module.training for module in network.modules()]
    features, words = torch.randn(2, 3, 4), torch.full((2, 2), A)
    with without_dropout(network):
        first, second = (network.decode(network.encode(features), words) for _ in range(2))
    assert torch.equal(first, second) and first.requires_grad
    assert [module.training for module in network.modules()] == before
    assert not torch.equal(*(network.decode(network.encode(features), words) for _ in range(2)))


def test_lstms_stay_trainable_without_dropout_as_cudnn_wants() -> None:
    network = tiny("rnn8x8", dropout=0.5).eval()
    with without_dropout(network):
        assert network.encoder.training and network.decoder.training and not network.dropout.training
    assert not network.encoder.training


def test_mismatched_shapes_are_refused() -> None:
    words, logs, one = torch.full((2, 3), A), torch.zeros(2, 3), torch.ones(2)
    with pytest.raises(ValueError, match=r"log-probabilities \(2, 2\) do not match words \(2, 3\)"):
        self_critical_loss(logs[:, :2], words, one, one)
    with pytest.raises(ValueError, match=r"the rewards of 2 captions have the shape \(2, 1\)"):
        self_critical_loss(logs, words, one[:, None], one)
    with pytest.raises(ValueError, match="the rewards of caption 1 are not finite"):
        self_critical_loss(logs, words, torch.tensor([1.0, float("nan")]), one)
    with pytest.raises(ValueError, match="5 rewards, 2 an image"):
        mean_of_others(torch.zeros(5), 2)
    with pytest.raises(ValueError, match="4 rewards, 1 an image"):
        mean_of_others(torch.zeros(4), 1)
