"""Training is deterministic, resumes exactly, and keeps the best epoch."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import save

from components.models.augment import spec_augment
from components.retrieval.items import Batch
from components.training.batches import EpochBatches
from components.training.checkpoints import CHECKPOINT
from components.training.fit import fit
from tests.support import PROJECT
from tests.support.retrieval.training import OPTIMISATION, recipe_on


def trained(world: Path, folder: Path, held: float = 100) -> tuple[bytes, list[dict[str, float]]]:
    recipe, items = recipe_on(world, held)
    fit(recipe, items, folder)
    return save(recipe.network.state_dict()) + save(recipe.best["weights"]), recipe.history


@pytest.mark.long
@pytest.mark.parametrize(("epoch", "step"), [(2, 1), pytest.param(0, 0, marks=pytest.mark.slow)])
def test_a_run_killed_inside_an_epoch_ends_with_the_same_bytes(tmp_path: Path, epoch: int, step: int) -> None:
    straight = trained(tmp_path / "world", tmp_path / "straight")
    # An interpreter of its own: a process forked here would take over what other tests left.
    begun = "from pathlib import Path; from tests.support.retrieval.training import train_and_die"
    code = f"{begun}; train_and_die(Path({str(tmp_path / 'world')!r}), Path({str(tmp_path / 'killed')!r}), {epoch}, {step})"
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, timeout=900)
    assert done.returncode == -signal.SIGKILL, done.stderr[-2000:]
    assert (tmp_path / "killed" / CHECKPOINT).exists() == (epoch > 0)
    torch.manual_seed(999)  # Whatever this process drew before must not matter.
    assert trained(tmp_path / "world", tmp_path / "killed") == straight
    assert [row["epoch"] for row in straight[1]] == [0, 1, 2, 3]


def test_a_finished_run_returns_its_weights_again(tmp_path: Path) -> None:
    assert trained(tmp_path / "world", tmp_path) == trained(tmp_path / "world", tmp_path)


def test_coefficients_beyond_the_cache_train_the_same_network(tmp_path: Path) -> None:
    assert trained(tmp_path / "world", tmp_path / "kept") == trained(tmp_path / "world", tmp_path / "anew", held=1e-6)


def test_the_best_epoch_is_the_first_of_the_highest(tmp_path: Path) -> None:
    recipe, items = recipe_on(tmp_path / "world")
    fit(recipe, items, tmp_path)
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


def test_training_uses_another_order_of_items_in_each_epoch(tmp_path: Path) -> None:
    recipe, items = recipe_on(tmp_path / "world")
    taken, seen = recipe.training_step, []

    def spy(batch: Batch, batch_idx: int) -> torch.Tensor:
        seen.append((recipe.current_epoch, batch.items.tolist()))
        return taken(batch, batch_idx)

    recipe.training_step = spy  # type: ignore[method-assign]
    fit(recipe, items, tmp_path)
    orders = [[item for number, batch in seen if number == epoch for item in batch] for epoch in range(4)]
    assert all(sorted(order) == list(range(len(items))) for order in orders)
    assert len({tuple(order) for order in orders}) == 4


def test_only_training_is_masked_after_normalisation_and_anew_each_epoch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[torch.Tensor, torch.Tensor, bool]] = []

    def watched(features: torch.Tensor, *arguments: Any, **settings: Any) -> torch.Tensor:
        masked = spec_augment(features, *arguments, **settings)
        seen.append((features, masked, recipe.training))
        return masked

    monkeypatch.setattr("components.retrieval.recipe.spec_augment", watched)
    recipe, items = recipe_on(tmp_path / "world")
    tower = recipe.network.speech
    tower.mean.fill_(2.0)
    tower.deviation.fill_(4.0)
    fit(recipe, items, tmp_path)
    steps = len(EpochBatches(len(items), OPTIMISATION["batch"], recipe.seed))
    # Judging, once an epoch, masks nothing.
    assert len(seen) == steps * OPTIMISATION["epochs"] and all(training for _, _, training in seen)
    known = torch.cat([((items.speech_input[item].float() - 2.0) / 4.0).flatten() for item in range(len(items))])
    for features, _, _ in seen:
        assert torch.isin(features[features != 0.0], known).all()
    masks = [(features != masked) for features, masked, _ in seen]
    assert any(mask.any() for mask in masks)
    by_epoch = [masks[first : first + steps] for first in range(0, len(masks), steps)]
    shapes = [tuple(tuple(mask.any(1).flatten().tolist()) for mask in epoch) for epoch in by_epoch]
    assert len(set(shapes)) == len(by_epoch)
