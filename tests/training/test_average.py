"""The moving average of the weights, which is validated and kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from components.stages.train_captioner.jobs import train
from components.training.recipe import TrainingModule
from tests.support.train_captioner.project import SmallEncoder, SmallNetwork, no_second_phase, prepared, spec_of, task_of

DECAY = 0.6


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, torch.Tensor]]:
    """The weights before the first step and after each one."""
    monkeypatch.setattr("components.stages.train_captioner.jobs.build", SmallNetwork)
    taken: list[dict[str, torch.Tensor]] = []
    step = TrainingModule.optimizer_step

    def state(recipe: TrainingModule) -> dict[str, torch.Tensor]:
        return {name: tensor.clone() for name, tensor in recipe.network.state_dict().items()}

    def watched(recipe: TrainingModule, *given: Any) -> None:
        if not taken:
            taken.append(state(recipe))
        step(recipe, *given)
        taken.append(state(recipe))

    monkeypatch.setattr(TrainingModule, "optimizer_step", watched)
    return taken


def naive_average(steps: list[dict[str, torch.Tensor]], name: str) -> torch.Tensor:
    average = steps[0][name].double()
    for number, weights in enumerate(steps[1:]):
        decay = min(DECAY, (1 + number) / (10 + number))
        average = decay * average + (1 - decay) * weights[name].double()
    return average


def test_the_last_epochs_weights_are_the_naive_average_of_all_steps(tmp_path: Path, steps: list[Any]) -> None:
    # Without validation images the last epoch is kept.
    recipe = train(spec_of(ema=DECAY, **no_second_phase()), task_of(tmp_path, prepared(tmp_path, validation=0))).recipe
    assert len(steps) == 1 + recipe.steps == 10
    for name, kept in recipe.best["weights"].items():
        torch.testing.assert_close(kept.double(), naive_average(steps, name), rtol=1e-5, atol=1e-7)
        assert not torch.equal(kept, steps[-1][name])


def test_the_average_changes_no_step_and_counts_of_batch_norm_are_copied(
    tmp_path: Path, steps: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("components.stages.train_captioner.jobs.build_encoder", lambda encoder, project: SmallEncoder())
    encoder = {"name": "small", "weights": "", "weights_sha256": "", "trained": True, "side": 32}
    source = prepared(tmp_path, validation=0, images=True)
    ends = []
    for ema in (0.0, DECAY):
        torch.manual_seed(0)
        folder = tmp_path / str(ema)
        folder.mkdir()
        steps.clear()
        kept = train(spec_of("rnn1x1", encoder, ema=ema, **no_second_phase()), task_of(folder, source)).recipe.best["weights"]
        ends.append(steps[-1])
        assert int(kept["encoder.layers.1.num_batches_tracked"]) == 9
        assert torch.equal(kept["encoder.layers.1.running_mean"], steps[-1]["encoder.layers.1.running_mean"])
    assert all(torch.equal(ends[0][name], ends[1][name]) for name in ends[0])
