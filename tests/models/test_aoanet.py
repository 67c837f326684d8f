"""AoANet against its formulas in numpy."""

from __future__ import annotations

import math

import numpy as np
import torch

from components.models.captioners.aoanet import AoANet, RefiningLayer
from components.models.captioners.interface import CaptionerConfig
from tests.models.recurrent import GRID, images, tiny, word_rows


def test_aoanet_is_invariant_to_the_order_of_grid_cells() -> None:
    network = tiny("aoanet")
    features, words = images("aoanet", 2), word_rows(2, 4)
    mixed = features[:, torch.randperm(GRID)]
    assert torch.allclose(
        network.decode(network.encode(features), words), network.decode(network.encode(mixed), words), atol=1e-5
    )


def sigmoid(x: np.ndarray) -> np.ndarray:
    return 1 / (1 + np.exp(-x))


def arrays(module: torch.nn.Module) -> dict[str, np.ndarray]:
    return {name: value.numpy() for name, value in module.double().state_dict().items()}


def normed(x: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + 1e-5) * weight + bias


def attended(query: np.ndarray, key: np.ndarray, value: np.ndarray, heads: int) -> np.ndarray:
    """Of n × width, m × width, m × width: head by head, row by row."""
    size = query.shape[1] // heads
    out = np.zeros_like(query)
    for head in range(heads):
        part = slice(head * size, (head + 1) * size)
        for row in range(len(query)):
            weights = np.exp(key[:, part] @ query[row, part] / math.sqrt(size))
            out[row, part] = weights / weights.sum() @ value[:, part]
    return out


def on_attention(found: np.ndarray, query: np.ndarray, weight: np.ndarray, bias: np.ndarray) -> np.ndarray:
    both = np.concatenate([found, query], axis=-1) @ weight.T + bias
    width = query.shape[-1]
    return both[..., :width] * sigmoid(both[..., width:])


def test_a_refining_layer_equals_its_formula() -> None:
    layer = RefiningLayer(CaptionerConfig("aoanet", 14, width=8, heads=2)).eval()
    torch.nn.init.normal_(layer.norm.weight)
    w = arrays(layer)
    x = torch.randn(1, 5, 8, dtype=torch.float64)
    inner = normed(x[0].numpy(), w["norm.weight"], w["norm.bias"])
    query, key, value = np.split(inner @ w["query_key_value.weight"].T + w["query_key_value.bias"], 3, axis=1)
    expected = x[0].numpy() + on_attention(attended(query, key, value, 2), inner, w["aoa.both.weight"], w["aoa.both.bias"])
    assert np.abs(layer(x)[0].detach().numpy() - expected).max() < 1e-12


def test_aoanets_encoder_equals_its_formula() -> None:
    network = tiny("aoanet")
    w = arrays(network)
    features = images("aoanet", 2).double()
    refined = torch.from_numpy(np.maximum(features.numpy() @ w["read.weight"].T + w["read.bias"], 0))
    for layer in network.refiner:
        refined = layer(refined)
    expected = normed(refined.detach().numpy(), w["refiner_norm.weight"], w["refiner_norm.bias"])
    both = expected @ w["key_value.weight"].T + w["key_value.bias"]
    memory = network.encode(features)
    assert np.abs(memory.mean.detach().numpy() - expected.mean(1)).max() < 1e-12
    for result, wanted in ((memory.keys, both[..., :16]), (memory.values, both[..., 16:])):
        assert np.abs(result.transpose(1, 2).flatten(2).detach().numpy() - wanted).max() < 1e-12


def test_aoanets_decoder_equals_its_formula_word_by_word() -> None:
    network = tiny("aoanet")
    assert isinstance(network, AoANet)
    w = arrays(network)
    memory = network.encode(images("aoanet", 1).double())
    mean = memory.mean[0].detach().numpy()
    key, value = (each[0].transpose(0, 1).flatten(1).detach().numpy() for each in (memory.keys, memory.values))
    hidden = cell = context = np.zeros(16)
    words = word_rows(1, 5)
    scores = network.decode(memory, words)[0].detach().numpy()
    for place, word in enumerate(words[0].tolist()):
        entering = np.concatenate([w["words.weight"][word] * 4.0, mean + context])
        gates = w["lstm.weight_ih"] @ entering + w["lstm.bias_ih"] + w["lstm.weight_hh"] @ hidden + w["lstm.bias_hh"]
        into, forget, new, out = np.split(gates, 4)
        cell = sigmoid(forget) * cell + sigmoid(into) * np.tanh(new)
        hidden = sigmoid(out) * np.tanh(cell)
        query = normed(hidden, w["query_norm.weight"], w["query_norm.bias"]) @ w["query.weight"].T + w["query.bias"]
        result = attended(query[None], key, value, 4)[0]
        context = on_attention(result, hidden, w["aoa.both.weight"], w["aoa.both.bias"])
        assert np.abs(scores[place] - w["words.weight"] @ context).max() < 1e-12
