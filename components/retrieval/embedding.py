"""Embeddings of utterances and pictures by a trained dual encoder: rows whose dot products are similarities."""

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
"""Clips, and pictures, that are embedded together."""


@torch.inference_mode()
def embed_speech(network: DualEncoder, items: PairItems, device: Any = "cpu") -> NDArray[np.float32]:
    """The utterances of ``items``, n × D, in its order."""
    found = [torch.zeros(0, network.config.embedding)]
    for first in range(0, len(items), AT_ONCE):
        speech, lengths = items.speech([(0, item) for item in range(first, min(first + AT_ONCE, len(items)))])
        found.append(network.embed_speech(speech.to(device), lengths.to(device)).float().cpu())
    return torch.cat(found).numpy()


@torch.inference_mode()
def embed_pictures(
    network: DualEncoder, items: PairItems, pictures: NDArray[np.int64], device: Any = "cpu"
) -> NDArray[np.float32]:
    """Pictures by their numbers, m × D."""
    found = [torch.zeros(0, network.config.embedding)]
    for first in range(0, len(pictures), AT_ONCE):
        some = items.pictures([(0, "", int(place)) for place in pictures[first : first + AT_ONCE]])
        found.append(network.embed_images(some.to(device)).float().cpu())
    return torch.cat(found).numpy()


def embed_pairs(
    network: DualEncoder, pairs: Pairs, *, frames: int, crop: Crop, held: int = 0
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Every utterance (n × D) and every picture (m × D) of a split, in ``pairs``' own order.

    Args:
        frames: the clips' length the model was trained with.
        crop: the pictures' centre, which the model was trained to see, or the whole of them.
        held: MB of coefficients to keep.
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
