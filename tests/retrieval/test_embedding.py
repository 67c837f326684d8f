"""Embeddings depend neither on the batch nor on the order of the items, up to the tolerance; ranks do not at all."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from components.core.result_cache import ResultCache
from components.metrics.retrieval import best_ranks
from components.models.dual_encoder import DualEncoder
from components.retrieval.embedding import embed_images, embed_pairs, embed_speech
from components.retrieval.inputs import Coefficients
from components.retrieval.items import PairItems
from components.retrieval.pairs import Pairs, read_pairs
from components.training.inference import TOLERANCE
from components.training.settings import PLAIN_INFERENCE, Inference
from tests.support.models.dual_encoders import tiny
from tests.support.retrieval.world import FEATURES, spoken_set

FRAMES = 24
TOWERS: dict[str, dict[str, Any]] = {
    "light": {"image": "convolutions", "side": 24},
    "features": {"image_features": FEATURES},
    "paper": {"speech": "inception_resnet_v2", "image": "inception_resnet_v2", "side": 75, "pool_padding": False},
}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> dict[bool, Pairs]:
    """Frozen features or image files → the training pairs: 8 images, 3 voices."""
    root = tmp_path_factory.mktemp("pairs")
    return {
        frozen: read_pairs([spoken_set(root / str(frozen), voices=3, frozen=frozen)], "train", ["image"])
        for frozen in (True, False)
    }


def items_of(network: DualEncoder, pairs: Pairs, rows: NDArray[np.int64]) -> PairItems:
    side, fixed = network.config.image_side, network.speech.padding_counts
    return PairItems(pairs, Coefficients(pairs, 100), rows, seed=0, frames=FRAMES, side=side, training=False, fixed=fixed)


def network_of(name: str) -> DualEncoder:
    return tiny(embedding=16, **{"coefficients": 128, **TOWERS[name]})


def close(ours: NDArray[np.float32], reference: NDArray[np.float32]) -> bool:
    lengths = np.linalg.norm(reference, axis=1)
    return bool((np.linalg.norm(ours - reference, axis=1) <= TOLERANCE * lengths).all())


@pytest.mark.long
@pytest.mark.parametrize("name", ["light", "features"])
def test_any_batch_size_and_order_give_the_embeddings_of_one_item_at_a_time(name: str, pairs: dict[bool, Pairs]) -> None:
    network, chosen = network_of(name), pairs[name == "features"]
    alone, rows = Inference(batch=1), np.arange(len(chosen))
    speech = embed_speech(network, items_of(network, chosen, rows), alone)
    seen = np.arange(len(chosen.sha256))
    images = embed_images(network, items_of(network, chosen, rows), seen, alone)
    assert np.linalg.matrix_rank(speech) > 3
    expected = best_ranks(speech, images, chosen.identity, chosen.image_identity)

    @settings(max_examples=15)
    @given(order=st.permutations(list(rows)), batch=st.integers(0, 30))
    def check(order: list[int], batch: int) -> None:
        hardware, permutation = Inference(batch=batch), np.array(order)
        items = items_of(network, chosen, permutation)
        back = permutation.argsort()
        mine, theirs = embed_speech(network, items, hardware)[back], embed_images(network, items, seen[::-1], hardware)[::-1]
        assert close(mine, speech) and close(theirs, images)
        assert (best_ranks(mine, theirs, chosen.identity, chosen.image_identity) == expected).all()

    check()


@pytest.mark.slow
def test_the_papers_towers_give_the_same_in_batches(pairs: dict[bool, Pairs]) -> None:
    network, rows, seen = network_of("paper"), np.arange(3), np.arange(2)
    items = items_of(network, pairs[False], rows)
    results = [
        (embed_speech(network, items, hardware), embed_images(network, items, seen, hardware))
        for hardware in (Inference(batch=1), Inference(batch=3))
    ]
    assert close(results[1][0], results[0][0]) and close(results[1][1], results[0][1])


def test_clips_of_similar_length_share_a_batch(pairs: dict[bool, Pairs], monkeypatch: pytest.MonkeyPatch) -> None:
    network, rows = network_of("features"), np.random.default_rng(0).permutation(len(pairs[True]))
    items, padded = items_of(network, pairs[True], rows), []
    speech = PairItems.speech

    def read(self: PairItems, requests: Any) -> Any:
        clips, lengths = speech(self, requests)
        padded.append(clips.shape[0] * clips.shape[2] - int(lengths.sum()))
        return clips, lengths

    monkeypatch.setattr(PairItems, "speech", read)
    embed_speech(network, items, Inference(batch=4))
    sorted_padding, given_order = sum(padded), [list(range(first, first + 4)) for first in range(0, len(rows), 4)]
    padded.clear()
    for part in given_order:
        items.speech([(0, number) for number in part])
    assert sorted_padding < 0.5 * sum(padded)


def test_reading_processes_and_bfloat16_are_used_if_set(pairs: dict[bool, Pairs], tmp_path: Path) -> None:
    network = network_of("features")
    chosen: dict[str, Any] = {"annotations": ResultCache(tmp_path), "project": tmp_path, "frames": FRAMES}
    chosen |= {"crops": ["whole"], "where": "a test"}
    plain = embed_pairs(network, pairs[True], hardware=PLAIN_INFERENCE, **chosen)
    again = embed_pairs(network, pairs[True], hardware=Inference(workers=2), **chosen)
    assert (plain[0] == again[0]).all() and (plain[1]["whole"] == again[1]["whole"]).all()
    rough = embed_pairs(network, pairs[True], hardware=Inference(precision="bf16"), **chosen)[0]
    assert 0 < np.abs(rough - plain[0]).max() < 0.1 * np.abs(plain[0]).max() and rough.dtype == np.float32


def test_an_empty_set_gives_no_embedding(pairs: dict[bool, Pairs]) -> None:
    network = network_of("features")
    items = items_of(network, pairs[True], np.arange(0))
    assert embed_speech(network, items).shape == (0, 16)
    with torch.inference_mode():
        assert embed_images(network, items, np.arange(0)).shape == (0, 16)
