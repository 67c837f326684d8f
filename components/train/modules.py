"""The training recipe: what a step computes and what an epoch is judged by (components/training/recipe.py: the rest)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from components.metrics.retrieval import ranks, recall_at
from components.models.augment import crop_or_pad, spec_augment
from components.models.dual_encoder import DualEncoder, similarity
from components.models.margins import margin_at
from components.models.masked_margin_softmax import masked_margin_softmax
from components.models.matching import positives_mask
from components.models.triplet import triplet
from components.training.recipe import Recipe


class DualEncoderRecipe(Recipe):
    """Masked margin softmax (or triplet) over speech–picture pairs; judged by validation R@10 of both directions.

    Args:
        features: pictures × views × width (the global vector).
        clips: MFCCs, a tensor an utterance.
        picture: for each utterance the row of its picture.
        group: for each utterance a number; equal numbers match.
        training, validation: which utterances belong to which.
    """

    network: DualEncoder

    def __init__(
        self,
        network: DualEncoder,
        settings: dict[str, Any],
        seed: int,
        features: Tensor,
        clips: Sequence[Tensor],
        picture: Tensor,
        group: Tensor,
        training: Tensor,
        validation: Tensor,
    ) -> None:
        super().__init__(network, settings, seed)
        self.features, self.clips, self.picture, self.group = features, clips, picture, group
        self.training_items, self.validation_items = training, validation
        tower = network.speech
        self.clips = [(clip - tower.mean) / tower.deviation for clip in clips]

    def training_step(self, batch: Tensor, batch_idx: int) -> Tensor:
        """One batch: random crop and masks of each clip, a random view of each picture."""
        items = self.training_items[batch]
        clips = [self.clips[item] for item in items.tolist()]
        speech, lengths = crop_or_pad(clips, self.settings["frames"], at_random=True, to_longest=True)
        speech = spec_augment(speech, lengths, frequency=self.settings["mask_coefficients"], time=self.settings["mask_frames"])
        views = torch.randint(self.features.shape[1], (len(items),))
        pictures = self.features[self.picture[items], views].float()
        clips_found, group = self.network.finish(self.network.speech(speech, lengths)), self.group[items]
        pictures_found = self.network.embed_images(pictures)
        if self.settings["loss"] == "triplet":
            return self.note_loss(triplet(clips_found, pictures_found, group, self.settings["margin"], "mean"), batch)
        scores, mask = similarity(clips_found, pictures_found), positives_mask(group, group)
        delta = margin_at(self.global_step, start=self.settings["margin"], factor=self.settings["margin_factor"])
        return self.note_loss(masked_margin_softmax(scores, mask, delta), batch)

    def judge(self) -> float | None:
        """The mean of R@10 from speech to picture and back, over all validation utterances."""
        items = self.validation_items
        if len(items) == 0:
            return None
        parts = []
        for chunk in items.split(32):
            clips = [self.clips[item] for item in chunk.tolist()]
            speech, lengths = crop_or_pad(clips, self.settings["frames"], to_longest=True)
            parts.append(self.network.finish(self.network.speech(speech, lengths)))
        rows, first = torch.unique(self.picture[items], return_inverse=True)
        pictures = self.network.embed_images(self.features[rows, 0].float())
        groups = torch.zeros(len(rows), dtype=torch.long).scatter_(0, first, self.group[items])
        scores, correct = similarity(torch.cat(parts), pictures), self.group[items][:, None] == groups[None]
        ways = ((scores, correct), (scores.T, correct.T))
        # Several utterances answer a picture, so the way back is easier than in the evaluation; only the order counts.
        return sum(recall_at(ranks(score.tolist(), right.tolist()), 10) for score, right in ways) / 2
