"""Training of a dual encoder: one of the losses, validated by R@10 in both directions."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from components.metrics.retrieval import best_ranks, recall_at
from components.models.augment import spec_augment
from components.models.contrastive import LossSettings, contrastive_loss
from components.models.dual_encoder import DualEncoder
from components.retrieval.embedding import embed_images, embed_speech
from components.retrieval.items import Batch, PairItems
from components.training.recipe import TrainingModule, seed_of

DEPTH = 10


class DualEncoderTraining(TrainingModule):
    """Masked margin softmax or triplet loss over speech–image pairs (CSC §3).

    Args:
        settings: of :class:`components.training.settings.Optimisation`, plain.
        masks: SpecAugment's F and T, in rows and columns of the speech tower's input.
        training: the training items, for the record keys in errors.
        validation: the validation items; if empty, the last epoch is kept.
    """

    network: DualEncoder

    def __init__(
        self,
        network: DualEncoder,
        settings: dict[str, Any],
        seed: int,
        *,
        loss: LossSettings,
        masks: tuple[int, int],
        training: PairItems,
        validation: PairItems,
        name: str = "train",
    ) -> None:
        super().__init__(network, settings, seed, name)
        self.loss, self.masks, self.training_items, self.validation_items = loss, masks, training, validation
        self._towers: tuple[Any, Any] = (network.speech, network.image)

    def record_keys(self, items: Tensor) -> list[str]:
        """Return the utterances' keys."""
        return [self.training_items.key(item) for item in items.tolist()]

    def on_fit_start(self) -> None:
        """Compile the towers and set the image tower's memory format, if the hardware settings require it."""
        if self.hardware.channels_last:
            self.network.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        if self.hardware.compile:
            self._towers = (torch.compile(self.network.speech), torch.compile(self.network.image))

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """Return the loss of one batch: masked, normalised clips through both towers, at this step's margin."""
        network, (frequency, time) = self.network, self.masks
        speech = network.speech.normalise(batch.speech, batch.lengths)
        speech = spec_augment(speech, batch.lengths, frequency=frequency, time=time)
        towers = self._towers
        spoken = network.finish(towers[0](speech, batch.lengths))
        seen = network.finish(towers[1](batch.images))
        # The seed does not depend on the rank, since the triplet loss draws for the whole batch.
        seed = seed_of(self.seed, self.first_epoch + self.current_epoch, batch_idx, "negatives")
        generator = torch.Generator().manual_seed(seed)
        loss = contrastive_loss(spoken, seen, batch.identities, self.loss, self.first_step + self.global_step, generator)
        return self.note_loss(loss, batch.items)

    def judge(self) -> float | None:
        """Return the mean of R@10 from speech to image and back; every rank evaluates all items."""
        items = self.validation_items
        if not len(items):
            return None
        pairs, seen = items.pairs, np.unique(items.pairs.image[items.rows])
        speech = embed_speech(self.network, items)
        images = embed_images(self.network, items, seen)
        return recall_of_both(speech, images, pairs.identity[items.rows], pairs.image_identity[seen])


def recall_of_both(
    speech: NDArray[np.float32],
    images: NDArray[np.float32],
    spoken: NDArray[np.int64],
    seen: NDArray[np.int64],
) -> float:
    """Return the mean of both directions' any-hit R@10.

    Args:
        speech, images: n × D and m × D.
        spoken, seen: n and m identities; equal ones match.
    """
    to_images = best_ranks(speech, images, spoken, seen)
    to_speech = best_ranks(images, speech, seen, spoken)
    return (recall_at(to_images, DEPTH) + recall_at(to_speech, DEPTH)) / 2
