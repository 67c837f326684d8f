"""RNN1x1, RNN8x8 and AoANet: cached steps against one pass, sizes against formulas, and that they learn."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from components.models.captioners import build
from components.models.captioners.interface import CaptionerConfig
from components.models.captioners.parts import open_forget_gates
from components.models.vocabulary import END, START
from tests.models.recurrent import GRID, NAMES, images, tiny, word_rows


@pytest.mark.parametrize("name", NAMES)
@given(count=st.integers(1, 3), rows=st.integers(1, 4), length=st.integers(1, 6), seed=st.integers(0, 2**31))
@settings(max_examples=25, deadline=None)
def test_cached_steps_with_any_beam_reordering_equal_full_decoding(
    name: str, count: int, rows: int, length: int, seed: int
) -> None:
    network = tiny(name)
    torch.manual_seed(seed)
    memory = network.encode(images(name, count))
    words = word_rows(count * rows, 1)
    state = network.start(memory, rows)
    with torch.no_grad():
        for place in range(length):
            scores = network.step(state, words[:, -1])
            assert torch.allclose(scores, network.decode(memory, words)[:, -1], atol=1e-5)
            # Each row goes on from any row of its image, as a beam's do.
            parents = (torch.arange(count)[:, None] * rows + torch.randint(rows, (count, rows))).flatten()
            if place % 3 < 2:
                network.reorder(state, parents)
                words = words[parents]
            words = torch.cat([words, torch.randint(END, 14, (count * rows, 1))], dim=1)


@pytest.mark.parametrize("name", NAMES)
def test_every_column_of_decode_is_a_step_and_sees_no_later_word(name: str) -> None:
    network = tiny(name)
    memory, words = network.encode(images(name, 2)), word_rows(6, 5)
    whole, state = network.decode(memory, words), network.start(memory, 3)
    for place in range(5):
        assert torch.allclose(network.step(state, words[:, place]), whole[:, place], atol=1e-5)
        assert torch.allclose(network.decode(memory, words[:, : place + 1]), whole[:, : place + 1], atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_captions_of_one_repeated_image_equal_those_of_separate_images(name: str) -> None:
    network = tiny(name)
    features, words = images(name, 3), word_rows(12, 4)
    together = network.decode(network.encode(features), words)
    apart = network.decode(network.encode(features.repeat_interleave(4, dim=0)), words)
    assert torch.allclose(together, apart, atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_an_images_result_does_not_depend_on_its_batch(name: str) -> None:
    network = tiny(name)
    features, words = images(name, 3), word_rows(6, 4)
    whole = network.decode(network.encode(features), words)
    for place in range(3):
        mine = slice(2 * place, 2 * place + 2)
        assert torch.allclose(network.decode(network.encode(features[place : place + 1]), words[mine]), whole[mine], atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_gradients_reach_every_parameter(name: str) -> None:
    network = tiny(name).train()
    network.loss(images(name, 4), torch.cat([word_rows(4, 5), torch.full((4, 1), END)], dim=1)).backward()
    for parameter, value in network.named_parameters():
        # A single step from a state of zeros multiplies nothing by the matrix of past states.
        never = name == "rnn1x1" and parameter == "encoder.weight_hh_l0"
        assert value.grad is not None and bool((value.grad != 0).any()) is not never, parameter
        assert bool(value.grad.isfinite().all()), parameter


@pytest.mark.parametrize(
    ("name", "features", "width", "vocabulary", "known"),
    [("rnn8x8", 1536, 512, 9_000, 9_597_440), ("aoanet", 2048, 1024, 10_369, 76_739_584)],
)
def test_other_published_sizes_have_their_parameter_counts(
    name: str, features: int, width: int, vocabulary: int, known: int
) -> None:
    network = build(CaptionerConfig(name, vocabulary, image_features=features, width=width))
    counted = sum(value.numel() for value in network.parameters())
    assert counted == known


def test_the_two_recurrent_networks_differ_only_in_their_inputs() -> None:
    one, grid = tiny("rnn1x1"), tiny("rnn8x8")
    grid.load_state_dict(one.state_dict())
    features, words = images("rnn1x1", 3), word_rows(3, 4)
    assert torch.equal(one.decode(one.encode(features), words), grid.decode(grid.encode(features), words))


def test_the_recurrent_encoder_reads_all_cells_in_order_and_returns_its_last_state() -> None:
    network = tiny("rnn8x8")
    features = images("rnn8x8", 2)
    encoder, read = network.encoder, network.read
    cell = torch.nn.LSTMCell(16, 16)
    cell.load_state_dict({key.removesuffix("_l0"): value for key, value in encoder.state_dict().items()})
    state = (torch.zeros(2, 16), torch.zeros(2, 16))
    for place in range(GRID):
        state = cell(read(features[:, place]), state)
    for mine, theirs in zip(network.encode(features), state, strict=True):
        assert torch.allclose(mine, theirs, atol=1e-6)
    assert not torch.allclose(network.encode(features.flip(1)).hidden, state[0], atol=1e-3)


@pytest.mark.parametrize("cell", [torch.nn.LSTM(3, 5), torch.nn.LSTMCell(3, 5)])
def test_a_new_lstm_has_open_forget_gates(cell: torch.nn.LSTM | torch.nn.LSTMCell) -> None:
    open_forget_gates(cell)
    for name, value in cell.named_parameters():
        if name.startswith("weight"):
            torch.nn.init.zeros_(value)
    held = torch.ones(1, 5)
    if isinstance(cell, torch.nn.LSTM):
        after = cell(torch.zeros(1, 1, 3), (torch.zeros(1, 1, 5), held[None]))[1][1]
    else:
        after = cell(torch.zeros(1, 3), (torch.zeros(1, 5), held))[1]
    # Of what was held σ(1) is kept, and tanh(0) is added.
    assert torch.allclose(after, torch.full_like(after, 1 / (1 + math.exp(-1))))


@pytest.mark.parametrize("rows", [1, 4, 16])
def test_keys_and_values_are_stored_once_for_each_image_and_never_copied(rows: int) -> None:
    network = tiny("aoanet")
    memory = network.encode(images("aoanet", 3))
    state = network.start(memory, rows)
    for _ in range(3):
        network.step(state, torch.full((3 * rows,), START))
        network.reorder(state, torch.arange(3 * rows).flip(0).unflatten(0, (3, rows)).flip(0).flatten())
        for held, made in zip(state.memory, memory, strict=True):
            assert held.data_ptr() == made.data_ptr() and held.shape[0] == 3
    assert state.memory.keys.shape == state.memory.values.shape == (3, 4, GRID, 4)


@pytest.mark.parametrize("name", NAMES)
def test_half_precision_training_stays_close_to_single_precision(name: str) -> None:
    network = tiny(name, dropout=0.0)
    features, words = images(name, 4), torch.cat([word_rows(4, 5), torch.full((4, 1), END)], dim=1)
    exact = network.loss(features, words)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        near = network.loss(features, words)
    near.backward()
    assert near.item() == pytest.approx(exact.item(), rel=0.02)
    assert all(value.grad is not None and bool(value.grad.isfinite().all()) for value in network.parameters())


@pytest.mark.parametrize("name", NAMES)
def test_features_of_another_width_are_refused(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} reads features of images × vectors × 10, not 2 × 1 × 11"):
        tiny(name).encode(torch.zeros(2, 1, 11))
    with pytest.raises(ValueError, match="reads features"):
        tiny(name).encode(torch.zeros(2, 0, 10))


def test_a_grid_is_refused_in_place_of_one_vector() -> None:
    with pytest.raises(ValueError, match="rnn1x1 reads one vector an image, not 64"):
        tiny("rnn1x1").encode(torch.zeros(2, 64, 10))


@pytest.mark.parametrize("name", NAMES)
def test_rows_that_are_not_a_multiple_of_the_images_are_refused(name: str) -> None:
    network = tiny(name)
    with pytest.raises(ValueError, match="7 rows of words are not a multiple of 3 images"):
        network.decode(network.encode(images(name, 3)), word_rows(7, 2))


def test_a_width_not_divisible_by_the_heads_is_refused() -> None:
    with pytest.raises(ValueError, match="width 10 is not divisible by 4 heads"):
        tiny("aoanet", width=10)
