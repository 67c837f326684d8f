"""Training of one captioner end to end on one device, in phases that end in time.

1. ``frozen``: cross-entropy over features of several views that lie on the device; the encoder waits.
2. ``fine``: cross-entropy through the encoder, over new crops of each image, with a smaller learning rate for the encoder.
3. ``critical``: self-critical training through the encoder (Rennie et al. 2017), rewarded by CIDEr-D
   (:mod:`benchmarks.gpu_reward`).

A plain loop: the stage's own (``components/training``) reads a prepared set in Parquet, which the machine of the run cannot. The
weights are an exponential mean; each phase begins from the best ones so far by CIDEr-D of greedy validation captions.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

from benchmarks.gpu_data import Data, Phase, autocast, texts, tokenized, vectors
from benchmarks.gpu_networks import Captioner, random_views
from components.metrics.cider import CiderD
from components.models.captioners import build
from components.models.sampling import greedy, log_probabilities, sample
from components.models.self_critical import mean_of_others, self_critical_loss, without_dropout


@dataclass
class Training:
    """One captioner's training."""

    data: Data
    network: str
    seed: int
    seconds: float
    """For all phases."""
    phases: tuple[Phase, ...] = ()
    """None: the plan's."""
    curve: list[dict[str, Any]] = field(default_factory=list)
    """A row a validation."""
    rates: dict[str, float] = field(default_factory=dict)
    """Phase → training images a second."""

    def __post_init__(self) -> None:
        torch.manual_seed(self.seed)
        plan, pack = self.data.plan, self.data.pack
        network = build(plan.config(self.network, pack.vocabulary))
        self.model = Captioner(network.to(self.data.device), self.data.encoder())
        self.best, self.best_score = copy.deepcopy(self.model.state_dict()), -1.0

    def run(self) -> Captioner:
        """Train all phases; return the captioner with the best weights, in eval mode."""
        for phase in self.phases or self.data.plan.phases:
            self._run(phase)
            self.model.load_state_dict(self.best)
        return self.model.eval()

    def _run(self, phase: Phase) -> None:
        plan, device = self.data.plan, self.data.device
        model, images, checked = self.model, 0, 0
        model.train()
        model.encoder.requires_grad_(phase.encoder_rate > 0)
        groups = [{"params": list(model.network.parameters()), "lr": phase.rate}]
        if phase.encoder_rate:
            groups.append({"params": list(model.encoder.parameters()), "lr": phase.encoder_rate})
        optimiser = torch.optim.AdamW(groups, weight_decay=plan.weight_decay, fused=device.type == "cuda")
        rates = [group["lr"] for group in optimiser.param_groups]
        step = 0

        def merge(*given: Any) -> None:
            # The past weighs less in the first steps, so that a short phase is no mean with the weights that it began from.
            get_ema_multi_avg_fn(min(plan.average, (step + 1) / (step + 10)))(*given)

        average = AveragedModel(model, multi_avg_fn=merge)
        notes: list[Tensor] = []
        begin, seconds, spent = time.perf_counter(), self.seconds * phase.share, 0.0
        for step, items in enumerate(self._batches()):
            progress = max((time.perf_counter() - begin) / seconds, step / plan.steps)
            if progress >= (checked + 1) / plan.checks or progress >= 1:
                checked += 1
                before = time.perf_counter()
                self._check(phase, average.module, step, before - begin, notes)
                spent += time.perf_counter() - before
            if progress >= 1:
                break
            for group, rate in zip(optimiser.param_groups, rates, strict=True):
                group["lr"] = rate * min(1.0, (step + 1) / 20) * (1 - progress)
            loss, note = self._critical(phase, items) if phase.samples else self._cross_entropy(phase, items)
            optimiser.zero_grad()
            loss.backward()
            norm = torch.nn.utils.clip_grad_norm_([parameter for group in groups for parameter in group["params"]], 1.0)
            # This waits for the device: else the clock would be ahead of it. And to draw words from NaN ends CUDA for all models.
            if (phase.samples or step % 8 == 0) and not bool(norm.isfinite()):
                raise FloatingPointError(f"the gradient is not finite in step {step} of the phase {phase.name}")
            optimiser.step()
            average.update_parameters(model)
            notes.append(note.detach())
            images += len(items)
        self.rates[phase.name] = images / max(1e-9, time.perf_counter() - begin - spent)

    def _batches(self) -> Iterator[Tensor]:
        """Yield numbers of training images without end, each once an epoch; an incomplete last batch is left out."""
        count = len(self.data.rows["train"])
        size = min(self.data.plan.batch, count)
        while True:
            order = torch.randperm(count, device=self.data.device)
            yield from order[: count - count % size].split(size)

    def _input(self, phase: Phase, items: Tensor) -> Tensor:
        """Return the network's input for a batch, B × L × F."""
        if phase.encoder_rate:
            return self.model.see(random_views(self.data.pixels["train"][items], self.data.plan.side))
        view = torch.randint(len(self.data.features), items.shape, device=items.device)
        return self.model.choose(self.data.features[view, items].float())

    def _cross_entropy(self, phase: Phase, items: Tensor) -> tuple[Tensor, Tensor]:
        """Return the loss of a batch, twice."""
        words = self.data.captions[items].flatten(0, 1)
        with autocast(self.data.device):
            loss = self.model.network.loss(self._input(phase, items), words, self.data.plan.smoothing)
        return loss, loss

    def _critical(self, phase: Phase, items: Tensor) -> tuple[Tensor, Tensor]:
        """Return the self-critical loss of a batch, and the mean reward of its samples."""
        network, device = self.model.network, self.data.device
        with without_dropout(network):
            with autocast(device):
                memory = network.encode(self._input(phase, items))
            # A context of its own: weights that autocast converted without a gradient must not be used again below.
            with autocast(device):
                words = sample(network, memory, len(items), phase.samples).words
            reward = self.data.reward(words, items.repeat_interleave(phase.samples)).float()
            with autocast(device):
                scores = log_probabilities(network, memory, words)
        loss = self_critical_loss(scores.float(), words, reward, mean_of_others(reward, phase.samples))
        return loss, reward.mean()

    def _check(self, phase: Phase, model: Captioner, step: int, seconds: float, notes: list[Tensor]) -> None:
        """Score greedy validation captions of the mean of weights, and keep these if they are the best."""
        model.eval()
        features = vectors(self.data, model, "validation")
        with torch.inference_mode(), autocast(self.data.device):
            written = [
                words
                for part in features.split(self.data.plan.evaluated)
                for words in greedy(model.network, model.network.encode(part.float()), len(part)).captions()
            ]
        validation = CiderD(self.data.references["validation"])
        score = float(validation.score([tokenized(one) for one in texts(self.data.pack, written)]).mean())
        noted = float(torch.stack(notes).mean()) if notes else 0.0
        row = {"network": self.network, "seed": self.seed, "phase": phase.name, "seconds": round(seconds, 1), "step": step}
        self.curve.append(row | {"loss_or_reward": round(noted, 4), "validation_cider_d": round(score, 4)})
        notes.clear()
        if score >= self.best_score:
            self.best, self.best_score = copy.deepcopy(model.state_dict()), score
