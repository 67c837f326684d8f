"""Training is deterministic, resumes exactly, and keeps the best epoch."""

from __future__ import annotations

import multiprocessing
import signal
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save

from components.models.augment import spec_augment
from components.train.data import numbered
from components.training.batches import EpochBatches, Indices
from components.training.checkpoints import CHECKPOINT
from components.training.fit import fit
from tests.train.recipes import TRAINING, dual_encoder, train_and_die


def trained(folder: Path) -> tuple[bytes, list[dict[str, float]]]:
    recipe = dual_encoder()
    fit(recipe, Indices(TRAINING), folder)
    return save(recipe.network.state_dict()) + save(recipe.best["weights"]), recipe.history


@pytest.mark.parametrize(("epoch", "step"), [(2, 1), (1, 1), (0, 0)])
def test_a_run_killed_inside_an_epoch_ends_with_the_same_bytes(tmp_path: Path, epoch: int, step: int) -> None:
    straight = trained(tmp_path / "straight")
    victim = multiprocessing.get_context("fork").Process(target=train_and_die, args=(tmp_path / "killed", epoch, step))
    victim.start()
    victim.join(timeout=120)
    assert victim.exitcode == -signal.SIGKILL
    assert (tmp_path / "killed" / CHECKPOINT).exists() == (epoch > 0)
    torch.manual_seed(999)  # Whatever this process drew before must not matter.
    assert trained(tmp_path / "killed") == straight
    assert [row["epoch"] for row in straight[1]] == [0, 1, 2, 3]


def test_a_run_that_was_over_gives_its_weights_again(tmp_path: Path) -> None:
    assert trained(tmp_path) == trained(tmp_path)


def test_the_best_epoch_is_the_first_of_the_highest(tmp_path: Path) -> None:
    recipe = dual_encoder()
    fit(recipe, Indices(TRAINING), tmp_path)
    values = [row["validation"] for row in recipe.history]
    assert recipe.best["epoch"] == values.index(max(values)) and recipe.best["validation"] == max(values)


def test_the_order_of_batches_is_a_function_of_seed_and_epoch() -> None:
    def order(seed: int, epoch: int) -> list[list[int]]:
        batches = EpochBatches(10, 3, seed)
        batches.set_epoch(epoch)
        return list(batches)

    assert order(1, 4) == order(1, 4) != order(1, 5) != order(2, 5)
    assert len(order(1, 4)) == 3 and len({item for batch in order(1, 4) for item in batch}) == 9
    assert [len(b) for b in EpochBatches(11, 3, 0)] == [3, 3, 3, 2]
    assert [len(b) for b in EpochBatches(1, 3, 0)] == [1]


def test_training_goes_through_the_items_in_another_order_each_epoch(tmp_path: Path) -> None:
    recipe = dual_encoder()
    taken, seen = recipe.training_step, []

    def spy(batch: torch.Tensor, batch_idx: int) -> torch.Tensor:
        seen.append((recipe.current_epoch, batch.tolist()))
        return taken(batch, batch_idx)

    recipe.training_step = spy  # type: ignore[method-assign]
    fit(recipe, Indices(TRAINING), tmp_path)
    orders = [[item for number, batch in seen if number == epoch for item in batch] for epoch in range(4)]
    assert all(sorted(order) == list(range(TRAINING)) for order in orders)
    assert len({tuple(order) for order in orders}) == 4


def test_equal_names_are_equal_numbers() -> None:
    assert numbered(["x", "y", "x"]).tolist() == [0, 1, 0]


def test_only_training_is_masked_and_afresh_each_epoch_after_normalisation(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[torch.Tensor, torch.Tensor, bool]] = []

    def watched(features: torch.Tensor, *arguments: Any, **settings: Any) -> torch.Tensor:
        masked = spec_augment(features, *arguments, **settings)
        seen.append((features, masked, recipe.training))
        return masked

    monkeypatch.setattr("components.train.modules.spec_augment", watched)
    recipe = dual_encoder()
    tower = recipe.network.speech
    tower.mean.fill_(2.0)
    tower.deviation.fill_(4.0)
    raw = [clip.clone() for clip in recipe.clips]
    recipe.clips = [(clip - tower.mean) / tower.deviation for clip in raw]
    fit(recipe, Indices(TRAINING), tmp_path)
    steps = len(EpochBatches(TRAINING, recipe.settings["batch"], recipe.seed))
    # Judging, once an epoch, masks nothing.
    assert len(seen) == steps * recipe.settings["epochs"] and all(training for _, _, training in seen)
    known = torch.cat([((clip - 2.0) / 4.0).flatten() for clip in raw])
    for features, _, _ in seen:
        assert torch.isin(features[features != 0.0], known).all()
    masks = [(features != masked) for features, masked, _ in seen]
    assert any(mask.any() for mask in masks)
    by_epoch = [masks[first : first + steps] for first in range(0, len(masks), steps)]
    shapes = [tuple(tuple(mask.any(1).flatten().tolist()) for mask in epoch) for epoch in by_epoch]
    assert len(set(shapes)) == len(by_epoch)
    assert all(torch.equal(clip, (one - 2.0) / 4.0) for clip, one in zip(recipe.clips, raw, strict=True))
