"""Inference in batches: settings in cache keys, order and device of batches, errors."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.core.params import parse_settings
from components.training.inference import GPU_BATCH, batch_size, batches, computing, explain_memory, place
from components.training.settings import PLAIN_INFERENCE, Inference

CPU, META = torch.device("cpu"), torch.device("meta")


def test_a_cache_key_holds_the_settings_that_change_bits_and_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    assert PLAIN_INFERENCE.plain() == Inference(accelerator="auto", workers=3).plain() == {}
    assert Inference(batch=8, precision="bf16", workers=3).plain() == {"batch": 8, "precision": "bf16"}
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    assert Inference(accelerator="auto").plain() == Inference(accelerator="gpu").plain() == {"device": "gpu"}
    assert PLAIN_INFERENCE.plain() == {}


def test_settings_that_cannot_be_used_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("batch", "workers"):
        with pytest.raises(HearsightError, match=rf"hardware\.{name}: -1 is too small"):
            parse_settings(Inference, {name: -1}, "params.yaml: english.evaluate_captioners.hardware")
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 0)
    with pytest.raises(HearsightError, match="no GPU that torch can use"):
        place(torch.nn.Linear(1, 1), Inference(accelerator="gpu"))


@pytest.fixture
def tf32() -> Iterator[tuple[Any, ...]]:
    """The switches of TF32, on for the test."""
    switches = (torch.backends.cudnn, torch.backends.cuda.matmul)
    before = [switch.allow_tf32 for switch in switches]
    for switch in switches:
        switch.allow_tf32 = True  # type: ignore[attr-defined]
    yield switches
    for switch, value in zip(switches, before, strict=True):
        switch.allow_tf32 = value  # type: ignore[attr-defined]


def test_a_network_goes_to_the_gpu_without_tf32(monkeypatch: pytest.MonkeyPatch, tf32: tuple[Any, ...]) -> None:
    moved: list[Any] = []
    network = torch.nn.Linear(1, 1)
    monkeypatch.setattr(network, "to", moved.append)
    place(network, PLAIN_INFERENCE)
    assert not moved and all(switch.allow_tf32 for switch in tf32)
    monkeypatch.setattr(torch.cuda, "device_count", lambda: 1)
    place(network, Inference(accelerator="gpu"))
    assert moved == ["cuda"] and not any(switch.allow_tf32 for switch in tf32)


def test_the_size_is_the_setting_or_the_devices_own() -> None:
    assert batch_size(Inference(batch=7), CPU, 3) == batch_size(Inference(batch=7), META, 3) == 7
    assert batch_size(PLAIN_INFERENCE, CPU, 3) == 3 and batch_size(PLAIN_INFERENCE, META, 3) == GPU_BATCH


@given(order=st.permutations(range(9)), size=st.integers(1, 12))
def test_every_item_is_read_once_in_order_in_batches_of_the_size(order: list[int], size: int) -> None:
    result = list(batches(lambda numbers: torch.tensor(numbers) * 2, order, size, CPU, PLAIN_INFERENCE))
    assert [number for numbers, _ in result for number in numbers] == order
    assert all(inputs.tolist() == [2 * number for number in numbers] for numbers, inputs in result)
    assert [len(numbers) for numbers, _ in result[:-1]] == [size] * (len(result) - 1) and len(result[-1][0]) <= size


def test_every_tensor_of_a_batch_is_on_the_networks_device() -> None:
    def read(numbers: list[int]) -> tuple[torch.Tensor, tuple[torch.Tensor, ...]]:
        return torch.zeros(len(numbers), 3), (torch.tensor(numbers),)

    for _, (first, (second,)) in batches(read, range(5), 2, META, PLAIN_INFERENCE):
        assert first.device == second.device == META


@pytest.mark.parametrize("workers", [0, 2])
def test_reading_processes_change_neither_batches_nor_errors(workers: int) -> None:
    def read(numbers: list[int]) -> torch.Tensor:
        if 5 in numbers:
            raise HearsightError("is damaged", where="item 5", hint="make it again")
        if 9 in numbers:
            raise ValueError("item 9 is odd")
        return torch.tensor(numbers)

    hardware = Inference(workers=workers)
    assert [inputs.tolist() for _, inputs in batches(read, range(5), 2, CPU, hardware)] == [[0, 1], [2, 3], [4]]
    with pytest.raises(HearsightError) as caught:
        list(batches(read, range(8), 2, CPU, hardware))
    assert str(caught.value) == "item 5: is damaged — make it again"
    with pytest.raises(ValueError, match=r"^item 9 is odd$"):
        list(batches(read, [9], 2, CPU, hardware))


def test_insufficient_memory_is_one_line_that_names_what_to_lower() -> None:
    for error in (torch.cuda.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB"), MemoryError()):
        with pytest.raises(HearsightError) as caught, explain_memory(64, "evaluate_captioners, t2t8x8-0"):
            raise error
        assert str(caught.value).startswith("evaluate_captioners, t2t8x8-0: too little memory for a batch of 64 (")
        assert "lower hardware.batch" in str(caught.value) and "\n" not in str(caught.value)
    with pytest.raises(RuntimeError, match="another"), explain_memory(64, "x"):
        raise RuntimeError("another error")


def test_precision_is_bfloat16_only_if_set() -> None:
    layer, inputs = torch.nn.Linear(4, 4), torch.randn(2, 4)
    for precision, kind in (("32", torch.float32), ("bf16", torch.bfloat16)):
        with computing(Inference.model_validate({"precision": precision}), CPU):
            assert layer(inputs).dtype == kind
