"""Embedding of utterances and pictures by a trained dual encoder; dot products of the rows are similarities."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from components.retrieval.items import Coefficients, Crop, PairItems
from components.retrieval.pairs import Pairs

if TYPE_CHECKING:
    from components.models.dual_encoder import DualEncoder

AT_ONCE = 32
"""Clips, or pictures, embedded in one batch."""


@torch.inference_mode()
def embed_speech(network: DualEncoder, items: PairItems, device: Any = "cpu") -> NDArray[np.float32]:
    """Return the embeddings of the utterances of ``items``, n × D, in order."""
    parts = [torch.zeros(0, network.config.embedding)]
    for first in range(0, len(items), AT_ONCE):
        speech, lengths = items.speech([(0, item) for item in range(first, min(first + AT_ONCE, len(items)))])
        parts.append(network.embed_speech(speech.to(device), lengths.to(device)).float().cpu())
    return torch.cat(parts).numpy()


@torch.inference_mode()
def embed_pictures(
    network: DualEncoder, items: PairItems, pictures: NDArray[np.int64], device: Any = "cpu"
) -> NDArray[np.float32]:
    """Return the embeddings of pictures by number, m × D."""
    parts = [torch.zeros(0, network.config.embedding)]
    for first in range(0, len(pictures), AT_ONCE):
        batch = items.pictures([(0, "", int(number)) for number in pictures[first : first + AT_ONCE]])
        parts.append(network.embed_images(batch.to(device)).float().cpu())
    return torch.cat(parts).numpy()


def embed_pairs(
    network: DualEncoder, pairs: Pairs, *, frames: int, crop: Crop, held: int = 0
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return the embeddings of every utterance (n × D) and every picture (m × D) of a split, in the order of ``pairs``.

    Args:
        frames: clip length of the model's training.
        crop: the pictures' centre, as in training, or the whole picture.
        held: MB of coefficients to keep in memory.
    """
    items = PairItems(
        pairs,
        Coefficients(pairs, held),
        np.arange(len(pairs)),
        seed=0,
        frames=frames,
        side=network.config.picture_side,
        training=False,
        crop=crop,
        fixed=network.speech.padding_counts,
    )
    return embed_speech(network, items), embed_pictures(network, items, np.arange(len(pairs.sha256)))
