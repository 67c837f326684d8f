"""A step's loss: its settings, and that processes which share a batch have the loss and the gradients of one that holds it."""

from __future__ import annotations

import itertools
import multiprocessing
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.nn.parallel import DistributedDataParallel

from components.models.contrastive import LossSettings, contrastive_loss, gather, margin_at, masked_margin_softmax, triplet
from components.models.matching import positives_mask
from tests.support import PROJECT

SETTINGS = [
    LossSettings(**chosen)
    for chosen in (
        {"margin": 0.3},
        {"loss": "triplet"},
    )
]
BATCHES = (6, 7, 4)
"""Of 7 the last process has fewer; of 4 some of three have one."""
STEP = 1500


class Towers(nn.Module):
    """The least that has a speech and an image side with weights of their own."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.speech, self.image = nn.Linear(5, 4).double(), nn.Linear(6, 4).double()

    def forward(self, speech: Tensor, images: Tensor) -> tuple[Tensor, Tensor]:
        return self.speech(speech), self.image(images)


def data(size: int) -> tuple[Tensor, Tensor, Tensor]:
    """Inputs of both sides and identities, some of which match across processes."""
    generator = torch.Generator().manual_seed(size)
    inputs = [torch.randn(size, width, dtype=torch.float64, generator=generator) for width in (5, 6)]
    return inputs[0], inputs[1], torch.randint(0, size - 1, (size,), generator=generator)


def step(towers: nn.Module, inputs: tuple[Tensor, Tensor, Tensor], settings: LossSettings) -> tuple[Tensor, list[Tensor]]:
    """A step's loss and the gradients it leaves."""
    towers.zero_grad()
    value = contrastive_loss(*towers(*inputs[:2]), inputs[2], settings, STEP, torch.Generator().manual_seed(11))
    value.backward()
    return value.detach(), [weight.grad.clone() for weight in towers.parameters() if weight.grad is not None]


def rank(number: int, world: int, folder: Path) -> None:
    """One of the processes: every batch by every setting, as DistributedDataParallel trains it."""
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=number, world_size=world)
    towers, result = DistributedDataParallel(Towers()), {}
    for size, (place, settings) in itertools.product(BATCHES, enumerate(SETTINGS)):
        share = tuple(tensor[number::world] for tensor in data(size))
        value, gradients = step(towers, share, settings)  # type: ignore[arg-type]
        result[size, place, "global"] = value, gradients
        value, gradients = step(towers, share, replace(settings, scope="device"))  # type: ignore[arg-type]
        result[size, place, "device"] = value, gradients
    own = data(7)[0][number::world].requires_grad_()
    whole = gather(own)
    whole.sum().backward()
    with pytest.raises(ValueError, match=r"item i must be on process i modulo"):
        gather(data(7)[0][: 2 * number])
    result["whole"] = whole.detach(), gather(data(7)[2][number::world]), own.grad
    torch.save(result, folder / f"{number}.pt")
    dist.destroy_process_group()


def processes(world: int, folder: Path) -> None:
    """Fork ``world`` of them, in an interpreter that nothing else has run in."""
    crew = [multiprocessing.get_context("fork").Process(target=rank, args=(number, world, folder)) for number in range(world)]
    for process in crew:
        process.start()
    for process in crew:
        process.join(timeout=900)
    ended = [process.exitcode for process in crew]
    for process in crew:
        process.kill()
    assert ended == [0] * world


@pytest.mark.long
@pytest.mark.parametrize("world", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_processes_that_share_a_batch_have_the_loss_and_gradients_of_one_that_holds_it(world: int, tmp_path: Path) -> None:
    # Processes forked here would take over what other tests left.
    begun = "from pathlib import Path; from tests.models import test_contrastive as here"
    code = f"{begun}; here.processes({world}, Path({str(tmp_path)!r}))"
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    done = subprocess.run([sys.executable, "-c", code], cwd=PROJECT, capture_output=True, text=True, timeout=900, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    result = [torch.load(tmp_path / f"{number}.pt") for number in range(world)]
    for size, (place, settings) in itertools.product(BATCHES, enumerate(SETTINGS)):
        value, gradients = step(Towers(), data(size), settings)
        parts = [every[size, place, "global"] for every in result]
        torch.testing.assert_close(torch.stack([part[0] for part in parts]).mean(), value, rtol=1e-12, atol=1e-12)
        for part in parts:
            assert len(part[1]) == 4
            torch.testing.assert_close(part[1], gradients, rtol=1e-12, atol=1e-12)
        # For a device's own loss nothing is sent: each has that of its share alone.
        alone = [step(Towers(), tuple(x[number::world] for x in data(size)), settings) for number in range(world)]  # type: ignore[arg-type]
        for number, every in enumerate(result):
            torch.testing.assert_close(every[size, place, "device"][0], alone[number][0])
            for mine, others in zip(every[size, place, "device"][1], zip(*(one[1] for one in alone), strict=True), strict=True):
                torch.testing.assert_close(mine, torch.stack(others).mean(0))
    speech, _, group = data(7)
    for number, every in enumerate(result):
        gathered, identities, gradient = every["whole"]
        assert torch.equal(gathered, speech) and torch.equal(identities, group)
        assert gradient.shape == speech[number::world].shape and bool((gradient == 1).all())


@pytest.mark.parametrize("settings", SETTINGS)
def test_a_step_s_loss_is_that_of_the_scores_at_the_step_s_margin(settings: LossSettings) -> None:
    speech, images = Towers()(*data(7)[:2])
    group = data(7)[2]
    result = contrastive_loss(speech, images, group, settings, STEP, torch.Generator().manual_seed(2))
    scores, mask = speech @ images.T, positives_mask(group, group)
    if settings.loss == "triplet":
        wanted = triplet(scores, mask, 1.0, torch.Generator().manual_seed(2))
    else:
        wanted = masked_margin_softmax(scores, mask, margin_at(STEP, start=0.3))
    torch.testing.assert_close(result, wanted, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("settings", SETTINGS)
def test_under_autocast_a_tower_in_bfloat16_has_a_loss_in_single_precision_and_finite_gradients(settings: LossSettings) -> None:
    towers = Towers().float()
    inputs = [tensor.float() * 300 for tensor in data(7)[:2]]
    with torch.autocast("cpu", torch.bfloat16):
        speech, images = towers(*inputs)
        assert speech.dtype == torch.bfloat16
        value = contrastive_loss(speech, images, data(7)[2], settings, STEP, torch.Generator().manual_seed(2))
    exact = contrastive_loss(speech.double(), images.double(), data(7)[2], settings, STEP, torch.Generator().manual_seed(2))
    value.backward()
    assert value.dtype == torch.float32 and float(exact.detach()) > 1e3
    torch.testing.assert_close(value.double(), exact, rtol=1e-5, atol=1e-4)
    assert all(weight.grad is not None and bool(weight.grad.isfinite().all()) for weight in towers.parameters())


def test_the_defaults_are_published_or_most_probable_values() -> None:
    chosen = LossSettings()
    assert (chosen.loss, chosen.margin, chosen.margin_factor, chosen.margin_every) == (
        "masked_margin_softmax",
        0.001,
        1.002,
        1000,
    )
    assert chosen.margin_at(1_000_000) == margin_at(1_000_000)
    assert LossSettings(loss="triplet").margin_at(10**9) == 1.0


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        ({"loss": "infonce"}, "'infonce' is not a loss; choose one of masked_margin_softmax, triplet"),
        ({"scope": "node"}, "'node' is not a scope; choose one of global, device"),
        ({"margin": -0.1}, "margin is -0.1; it must be at least 0"),
        ({"margin": float("nan")}, "margin is nan"),
        ({"margin_every": 0}, "margin_every is 0; it must be at least 1"),
        ({"margin_factor": 0.0}, "margin_factor is 0.0; it must be greater than 0"),
    ],
)
def test_invalid_loss_settings_are_refused(chosen: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        LossSettings(**chosen)


def test_mismatched_tensor_shapes_are_refused() -> None:
    with pytest.raises(ValueError, match=r"shapes \(2, 3\), \(2, 4\), \(2,\); they must be n × D, n × D and n"):
        contrastive_loss(torch.zeros(2, 3), torch.zeros(2, 4), torch.zeros(2), LossSettings(), 0)
