"""Retrieval rows of the GPU run: captions or utterances find images, through EfficientNet-lite0 trained end to end.

The image tower and the loss are the project's (CSC §3). The other tower is two layers over the mean of a caption's word vectors,
or over the pooled states of a pretrained ear, which the pack may hold.
"""

from __future__ import annotations

import copy
import time
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from benchmarks.gpu_data import Data, autocast
from benchmarks.gpu_networks import random_views, whole_views
from components.metrics.retrieval import best_ranks, recall_at
from components.models.contrastive import masked_margin_softmax
from components.models.matching import positives_mask
from components.models.towers import EncodedImage
from components.models.vocabulary import PAD

WIDTH, EMBEDDING, DROPOUT, SCALE, MARGIN = 768, 512, 0.3, 20.0, 0.001
RATE, ENCODER_RATE = 1e-3, 5e-5


class Words(nn.Module):
    """The mean of a caption's word vectors; words that the vocabulary lacks are one word."""

    def __init__(self, vocabulary: int) -> None:
        super().__init__()
        self.vectors = nn.Embedding(vocabulary, WIDTH, padding_idx=PAD)

    def forward(self, words: Tensor) -> Tensor:
        """Map B × T words to B × WIDTH."""
        return self.vectors(words).sum(1) / (words != PAD).sum(1, keepdim=True)


class States(nn.Sequential):
    """A linear map of normed states."""

    def __init__(self, width: int) -> None:
        super().__init__(nn.LayerNorm(width), nn.Linear(width, WIDTH))


def tower(first: nn.Module) -> nn.Sequential:
    """Return two layers over the output of ``first``, B × WIDTH."""
    layers = nn.Dropout(DROPOUT), nn.Linear(WIDTH, WIDTH), nn.ReLU(), nn.Dropout(DROPOUT), nn.Linear(WIDTH, EMBEDDING)
    return nn.Sequential(first, *layers)


def queries(data: Data, row: str, split: str) -> tuple[Tensor, Tensor]:
    """Return a split's captions as words or utterances as states, and the place of each one's image in the split."""
    place = {int(image): at for at, image in enumerate(data.rows[split])}
    if row == "speech":
        chosen = [at for at, image in enumerate(data.pack.spoken.tolist()) if image in place]
        images = torch.tensor([place[int(image)] for image in data.pack.spoken[chosen]])
        return torch.from_numpy(data.pack.states[chosen]).float().to(data.device), images.to(data.device)
    words = torch.from_numpy(data.pack.inputs(30)[data.rows[split]]).to(data.device)
    return words.flatten(0, 1), torch.arange(len(words), device=data.device).repeat_interleave(words.shape[1])


def retrieve(data: Data, row: str, seed: int, seconds: float) -> dict[str, Any]:
    """Train a dual encoder for ``seconds``; return its recalls on the test split, at the best epoch of validation.

    Args:
        row: ``text`` or ``speech``.
    """
    torch.manual_seed(seed)
    begin, device, plan = time.perf_counter(), data.device, data.plan
    inputs, images = queries(data, row, "train")
    left = tower(Words(data.pack.vocabulary) if row == "text" else States(inputs.shape[1])).to(device)
    right = EncodedImage(data.encoder(), EMBEDDING, DROPOUT).to(device)
    both = nn.ModuleList([left, right])
    groups = [{"params": [*left.parameters(), *right.project.parameters()], "lr": RATE}]
    groups.append({"params": list(right.encoder.parameters()), "lr": ENCODER_RATE})
    optimiser = torch.optim.AdamW(groups, weight_decay=0.01, fused=device.type == "cuda")
    best, best_score, step, epoch, progress = copy.deepcopy(both.state_dict()), -1.0, 0, 0, 0.0
    size = min(2 * plan.batch, len(inputs))
    while progress < 1:
        both.train()
        # A caption in five an epoch, so that an epoch sees each image about once.
        order = torch.randperm(len(inputs), device=device)[: max(size, len(data.rows["train"]))]
        for items in order[: len(order) - len(order) % size].split(size):
            progress = max((time.perf_counter() - begin) / seconds, step / plan.steps)
            for group, rate in zip(optimiser.param_groups, (RATE, ENCODER_RATE), strict=True):
                group["lr"] = rate * min(1.0, (step + 1) / 20) * max(0.0, 1 - progress)
            with autocast(device):
                seen = right(random_views(data.pixels["train"][images[items]], plan.side))
                asked = left(inputs[items])
            # Not in bfloat16, whose steps at such scores exceed the margin.
            scores = unit(asked) @ unit(seen).T * SCALE
            loss = masked_margin_softmax(scores, positives_mask(images[items], images[items]), MARGIN)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            step += 1
            if progress >= 1:
                break
            if device.type == "cuda" and step % 8 == 0:
                torch.cuda.synchronize()
        epoch += 1
        if epoch % 3 == 0 or progress >= 1:
            found = recalls(data, row, both, "validation")
            if sum(found.values()) > best_score:
                best, best_score = copy.deepcopy(both.state_dict()), sum(found.values())
    both.load_state_dict(best)
    return {"row": row, "seed": seed, "epochs": epoch, "steps": step, **recalls(data, row, both, "test")}


def recalls(data: Data, row: str, both: nn.ModuleList, split: str) -> dict[str, float]:
    """Return R@10 of a split in both directions."""
    both.eval()
    inputs, images = queries(data, row, split)
    with torch.inference_mode(), autocast(data.device):
        left = torch.cat([unit(both[0](part)) for part in inputs.split(4096)]).cpu().numpy()
        views = (whole_views(part, data.plan.side) for part in data.pixels[split].split(data.plan.evaluated))
        right = torch.cat([unit(both[1](part)) for part in views]).cpu().numpy()
    asked = images.cpu().numpy()
    spoken = sorted(set(asked.tolist()))
    forward = best_ranks(left, right, asked, list(range(len(right))))
    back = best_ranks(right[spoken], left, spoken, asked)
    return {f"{row} to image R@10": round(recall_at(forward, 10), 4), f"image to {row} R@10": round(recall_at(back, 10), 4)}


def unit(vectors: Tensor) -> Tensor:
    """Return vectors of length 1, in float32."""
    return F.normalize(vectors.float(), dim=-1)
