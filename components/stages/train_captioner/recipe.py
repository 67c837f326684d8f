"""How every captioning network is trained: cross-entropy, then self-critical if asked, judged by CIDEr-D of greedy captions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch
from torch import Tensor

from components.metrics.cider import cider
from components.models.image_captioner import ImageCaptioner
from components.models.sampling import greedy, log_probabilities, sample
from components.models.self_critical import mean_of_others, self_critical_loss, without_dropout
from components.models.vocabulary import PAD
from components.stages.train_captioner.items import Batch, Items
from components.stages.train_captioner.rewards import CiderReward
from components.training.recipe import TrainingModule, loader

JUDGED_AT_ONCE = 64


class CaptionerTraining(TrainingModule):
    """One phase of a captioner's training.

    Args:
        network: the network, with its encoder where that is trained too.
        settings: those of ``CaptionerSettings``, plain; ``epochs``, ``batch`` and ``learning_rate``
            are the phase's.
        vocabulary: words by number.
        validation: pictures to judge by (view 0), and their tokenised references, beside each other.
        reward: of the training pictures by number, for the self-critical phase; None trains by cross-entropy.
        keys: of the training items, for errors.
    """

    network: ImageCaptioner

    def __init__(
        self,
        network: ImageCaptioner,
        settings: dict[str, Any],
        seed: int,
        *,
        vocabulary: Sequence[str],
        validation: tuple[Items, Sequence[Sequence[Sequence[str]]]],
        reward: CiderReward | None = None,
        keys: Callable[[int], str] = str,
        identity: Mapping[str, str] | None = None,
        name: str = "caption",
    ) -> None:
        super().__init__(network, settings, seed, identity, name)
        self.vocabulary, self.validation, self.reward, self.keys = vocabulary, validation, reward, keys
        self._cross_entropy: Callable[..., Tensor] = network.network.loss
        self._judging: Any = None

    @property
    def phase(self) -> str:
        """What the history calls this phase."""
        return "cross_entropy" if self.reward is None else "self_critical"

    def begin_after(self, earlier: CaptionerTraining) -> None:
        """Count on from another phase, and keep its best weights until they are beaten."""
        self.history, self.best, self.steps = list(earlier.history), dict(earlier.best), earlier.steps
        self.first_epoch, self.first_step = len(self.history), earlier.steps

    def record_keys(self, items: Tensor) -> list[str]:
        """The records' keys."""
        return [self.keys(item) for item in items.tolist()]

    def on_fit_start(self) -> None:
        """Let torch compile, and order the encoder's memory, as the hardware's settings say."""
        encoder = self.network.encoder
        if encoder is not None and self.hardware.channels_last:
            encoder.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        if self.hardware.compile:
            self._cross_entropy = torch.compile(self.network.network.loss)
            if encoder is not None:
                encoder.encode = torch.compile(encoder.encode)  # type: ignore[arg-type, assignment]

    def see(self, features: Tensor) -> Tensor:
        """What the network takes of a batch."""
        if features.dtype == torch.uint8:
            kind = torch.channels_last if self.hardware.channels_last else torch.contiguous_format
            features = features.contiguous(memory_format=kind)
        return self.network.see(features)

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """One batch of either phase."""
        features = self.see(batch.features)
        if self.reward is None:
            loss = self._cross_entropy(features, batch.words, self.settings["label_smoothing"])
            return self.note_loss(self._share(loss, batch.words[:, 1:]), batch.items)
        loss = self._self_critical(features, batch.items)
        return self.note_loss(self._share(loss, batch.items), batch.items)

    def _share(self, loss: Tensor, counted: Tensor) -> Tensor:
        """A mean over what this rank counts, weighed so that the ranks' mean is the mean over all that the batch counts.

        Args:
            counted: words, PAD aside, or whatever else the loss is the mean of.
        """
        if self.trainer.world_size == 1:
            return loss
        own = (counted != PAD).sum().float() if self.reward is None else torch.tensor(float(len(counted)), device=loss.device)
        # Lightning reduces in place.
        return loss * own / self.trainer.strategy.reduce(own.clone(), reduce_op="mean")

    def _self_critical(self, features: Tensor, items: Tensor) -> Tensor:
        """The mean over the captions drawn. Dropout rests, so that samples and gradient are of the same policy."""
        chosen, network = self.settings["self_critical"], self.network.network
        samples, pictures = chosen["samples"], items.tolist()
        with without_dropout(network):
            memory = network.encode(features)
            words = sample(network, memory, len(features), samples).words
            rewards = self._rewards(words, [picture for picture in pictures for _ in range(samples)])
            if chosen["baseline"] == "greedy":
                baseline = self._rewards(greedy(network, memory, len(features)).words, pictures).repeat_interleave(samples)
            else:
                baseline = mean_of_others(rewards, samples)
            found = log_probabilities(network, memory, words)
        self.note("reward", float(rewards.mean()))
        return self_critical_loss(found, words, rewards, baseline)

    def _rewards(self, words: Tensor, pictures: Sequence[int]) -> Tensor:
        assert self.reward is not None
        captions = [[self.vocabulary[word] for word in row if word != PAD] for row in words.tolist()]
        return torch.as_tensor(self.reward(captions, pictures), dtype=torch.float32, device=words.device)

    def judge(self) -> float | None:
        """Mean CIDEr-D of greedy captions; each rank writes its part of them."""
        items, references = self.validation
        if not references:
            return None
        world, rank = self.trainer.world_size, self.global_rank
        own = list(range(rank, len(references), world))
        if self._judging is None:
            parts = [own[first : first + JUDGED_AT_ONCE] for first in range(0, len(own), JUDGED_AT_ONCE)]
            self._judging = loader(items, [[(0, item) for item in part] for part in parts], self.hardware)
        written: dict[int, list[int]] = {}
        for batch in self._judging:
            features = self.see(batch.features.to(self.device, non_blocking=True))
            found = greedy(self.network.network, self.network.network.encode(features), len(features))
            written |= dict(zip(batch.items.tolist(), found.captions(), strict=True))
        if world > 1:
            told: list[dict[int, list[int]]] = [{}] * world
            torch.distributed.all_gather_object(told, written)
            written = {item: words for part in told for item, words in part.items()}
        captions = [[self.vocabulary[word] for word in written[item]] for item in range(len(references))]
        scores = cider(captions, references)
        return math.fsum(scores) / len(scores)
