"""Training of captioning networks: cross-entropy or self-critical loss, validated by CIDEr-D of greedy captions.

The reward of self-critical training: CIDEr-D against an image's training captions.

The end token counts as a word of samples and references. Without it captions learn to stop early, since the missing words cost
little.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from components.metrics.cider import CiderD, cider
from components.models.sampling import greedy, log_probabilities, sample
from components.models.self_critical import mean_of_others, self_critical_loss, without_dropout
from components.models.trained_captioner import ImageCaptioner
from components.models.vocabulary import END, PAD, SPECIAL
from components.stages.train_captioner.items import Batch, Items
from components.training.batches import loader
from components.training.recipe import TrainingModule

STOP = SPECIAL[END]


class CiderReward:
    """CIDEr-D with the document frequencies of the training references.

    Args:
        references: the tokenised captions of each training image.
    """

    def __init__(self, references: Sequence[Sequence[Sequence[str]]]) -> None:
        self.cider = CiderD([[[*caption, STOP] for caption in known] for known in references])

    def __call__(self, candidates: Sequence[Sequence[str]], images: Sequence[int]) -> NDArray[np.float64]:
        """Return the CIDEr-D, 0 to 10, of each candidate (ending in :data:`STOP` if complete) for its image."""
        return self.cider.score(candidates, images)


VALIDATION_BATCH = 64


class CaptionerTraining(TrainingModule):
    """One phase of a captioner's training.

    Args:
        network: the network, with its encoder if that is trained too.
        settings: ``CaptionerSettings`` as a dict, with the phase's ``epochs``, ``batch`` and ``learning_rate``.
        vocabulary: words by number.
        validation: the validation images (view 0) and their tokenised references, in the same order.
        reward: reward of captions by training image, for the self-critical phase; None trains by cross-entropy.
        keys: returns the key of a training item, for error messages.
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
        name: str = "caption",
    ) -> None:
        super().__init__(network, settings, seed, name)
        self.vocabulary, self.validation, self.reward, self.keys = vocabulary, validation, reward, keys
        self._cross_entropy: Callable[..., Tensor] = network.network.loss
        self._validation_loader: Any = None

    @property
    def phase(self) -> str:
        """Name of the phase in the history."""
        return "cross_entropy" if self.reward is None else "self_critical"

    def continue_from(self, earlier: CaptionerTraining) -> None:
        """Continue another phase's history and steps, and keep its best weights until they are beaten."""
        self.history, self.best, self.steps = list(earlier.history), dict(earlier.best), earlier.steps
        self.first_epoch, self.first_step = len(self.history), earlier.steps

    def record_keys(self, items: Tensor) -> list[str]:
        """Return the records' keys."""
        return [self.keys(item) for item in items.tolist()]

    def on_fit_start(self) -> None:
        """Compile the network and set the encoder's memory format, as the hardware settings require."""
        encoder = self.network.encoder
        if encoder is not None and self.hardware.channels_last:
            encoder.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
        if self.hardware.compile:
            self._cross_entropy = torch.compile(self.network.network.loss)
            if encoder is not None:
                encoder.encode = torch.compile(encoder.encode)  # type: ignore[arg-type, assignment]

    def on_fit_end(self) -> None:
        """Remove the compiled method, which a copy of the encoder would share: the next phase's average is a copy."""
        vars(self.network.encoder or self).pop("encode", None)

    def parameter_groups(self) -> list[dict[str, Any]]:
        """Return the captioning network's parameters, and the encoder's with their own learning rate."""
        groups: list[dict[str, Any]] = [{"params": list(self.network.network.parameters())}]
        if self.network.encoder is not None:
            rate = self.settings["learning_rate"] * self.settings["encoder_rate"]
            trained = [parameter for parameter in self.network.encoder.parameters() if parameter.requires_grad]
            groups.append({"params": trained, "lr": rate})
        return groups

    def network_input(self, features: Tensor) -> Tensor:
        """Return the network's input for a batch of features or pixels."""
        if features.dtype == torch.uint8:
            kind = torch.channels_last if self.hardware.channels_last else torch.contiguous_format
            features = features.contiguous(memory_format=kind)
        return self.network.see(features)

    def training_step(self, batch: Batch, batch_idx: int) -> Tensor:
        """Return the loss of a batch, in either phase."""
        features = self.network_input(batch.features)
        if self.reward is None:
            loss = self._cross_entropy(features, batch.words, self.settings["label_smoothing"])
            return self.note_loss(self._share(loss, batch.words[:, 1:]), batch.items)
        loss = self._self_critical(features, batch.items)
        return self.note_loss(self._share(loss, batch.items), batch.items)

    def _share(self, loss: Tensor, counted: Tensor) -> Tensor:
        """Weight a rank's mean loss so that the mean over ranks is the mean over the batch.

        Args:
            counted: what the loss is a mean over: words (PAD is not counted), or items.
        """
        if self.trainer.world_size == 1:
            return loss
        count = (counted != PAD).sum().float() if self.reward is None else torch.tensor(float(len(counted)), device=loss.device)
        # Lightning reduces in place.
        return loss * count / self.trainer.strategy.reduce(count.clone(), reduce_op="mean")

    def _self_critical(self, features: Tensor, items: Tensor) -> Tensor:
        """Return the self-critical loss; dropout is off, so samples and gradient come from the same policy."""
        chosen, network = self.settings["self_critical"], self.network.network
        samples, images = chosen["samples"], items.tolist()
        with without_dropout(network):
            memory = network.encode(features)
            words = sample(network, memory, len(features), samples).words
            rewards = self._rewards(words, [image for image in images for _ in range(samples)])
            if chosen["baseline"] == "greedy":
                baseline = self._rewards(greedy(network, memory, len(features)).words, images).repeat_interleave(samples)
            else:
                baseline = mean_of_others(rewards, samples)
            log_probs = log_probabilities(network, memory, words)
        self.note("reward", float(rewards.mean()))
        return self_critical_loss(log_probs, words, rewards, baseline)

    def _rewards(self, words: Tensor, images: Sequence[int]) -> Tensor:
        assert self.reward is not None
        captions = [[self.vocabulary[word] for word in row if word != PAD] for row in words.tolist()]
        return torch.as_tensor(self.reward(captions, images), dtype=torch.float32, device=words.device)

    def judge(self) -> float | None:
        """Return the mean CIDEr-D of greedy captions; each rank writes a part of them."""
        items, references = self.validation
        if not references:
            return None
        world, rank = self.trainer.world_size, self.global_rank
        indices = list(range(rank, len(references), world))
        if self._validation_loader is None:
            parts = [indices[first : first + VALIDATION_BATCH] for first in range(0, len(indices), VALIDATION_BATCH)]
            self._validation_loader = loader(items, [[(0, item) for item in part] for part in parts], self.hardware)
        written: dict[int, list[int]] = {}
        for batch in self._validation_loader:
            features = self.network_input(batch.features.to(self.device, non_blocking=True))
            decoded = greedy(self.network.network, self.network.network.encode(features), len(features))
            written |= dict(zip(batch.items.tolist(), decoded.captions(), strict=True))
        if world > 1:
            by_rank: list[dict[int, list[int]]] = [{}] * world
            torch.distributed.all_gather_object(by_rank, written)
            written = {item: words for part in by_rank for item, words in part.items()}
        captions = [[self.vocabulary[word] for word in written[item]] for item in range(len(references))]
        scores = cider(captions, references)
        return math.fsum(scores) / len(scores)
