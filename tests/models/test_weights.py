"""Weights from files that users name: what is taken over, and what is refused with nothing changed."""

from __future__ import annotations

import copy
import io
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import save, save_file
from torch import Tensor, nn

from components.models.weights import load_weights


def network(seed: int = 0, outputs: int = 4) -> nn.Sequential:
    torch.manual_seed(seed)
    return nn.Sequential(nn.Conv2d(3, 4, 1), nn.BatchNorm2d(4), nn.Linear(4, outputs))


def same(one: nn.Module, state: dict[str, Tensor]) -> bool:
    return all(torch.equal(value, state[name]) for name, value in one.state_dict().items())


def pickled(value: Any) -> bytes:
    out = io.BytesIO()
    torch.save(value, out)
    return out.getvalue()


STATE = network(1).state_dict()
SAFE, PICKLED = save(STATE), pickled(STATE)


def refused(path: Path) -> str:
    """The error's line; the network must be as it was."""
    target = network()
    before = copy.deepcopy(target.state_dict())
    with pytest.raises(ValueError) as caught:
        load_weights(target, path)
    assert same(target, before)
    line = str(caught.value)
    assert line.startswith(f"{path}: ") and "\n" not in line
    return line


@pytest.mark.parametrize(
    "content",
    [
        SAFE,
        PICKLED,
        pickled({"state_dict": STATE, "epoch": 3}),
        pickled({"state_dict": network(2).state_dict(), "state_dict_ema": STATE}),
        pickled({f"module.{name}": value for name, value in STATE.items()}),
        pickled({name: value for name, value in STATE.items() if "num_batches" not in name}),
    ],
    ids=["safetensors", "pth", "wrapped", "averaged", "of several devices", "without counts"],
)
def test_every_common_format_fills_the_network_whatever_the_file_is_called(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "weights"
    path.write_bytes(content)
    assert same(load_weights(network(), path), STATE)


def test_half_precision_weights_are_loaded_in_the_networks_precision(tmp_path: Path) -> None:
    path = tmp_path / "half.safetensors"
    save_file({name: value.half() if value.is_floating_point() else value for name, value in STATE.items()}, path)
    result = load_weights(network(), path)
    assert result[0].weight.dtype == torch.float32
    assert torch.equal(result[0].weight, STATE["0.weight"].half().float())


def test_an_unused_classifier_may_have_any_shape_or_be_absent(tmp_path: Path) -> None:
    for number, state in enumerate((network(1, outputs=9).state_dict(), {k: v for k, v in STATE.items() if k[0] != "2"})):
        path = tmp_path / f"{number}.safetensors"
        save_file(state, path)
        target = network()
        kept = target[2].weight.clone()
        load_weights(target, path, ignore=("2.",))
        assert torch.equal(target[0].weight, STATE["0.weight"]) and torch.equal(target[2].weight, kept)


def test_weights_of_another_network_are_refused_with_missing_and_surplus_names(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    state = {f"{'stem' if name.startswith('0') else name[0]}{name[1:]}": value for name, value in STATE.items()}
    save_file(state, path)
    line = refused(path)
    assert "lacks 0.weight, 0.bias" in line and "has besides" in line and "stem.weight" in line


def test_a_weight_of_another_shape_is_refused_with_both_shapes(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    save_file({**STATE, "0.weight": torch.zeros(4, 1, 1, 1)}, path)
    assert "0.weight has the shape 4 × 1 × 1 × 1, where the network has 4 × 3 × 1 × 1" in refused(path)


def test_values_that_are_not_finite_are_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "w.pth"
    torch.save({**STATE, "2.bias": torch.tensor([0.0, float("nan"), 0.0, 0.0])}, path)
    assert "2.bias holds values that are not finite" in refused(path)


@pytest.mark.parametrize(
    "value", [network(), {"0.weight": "a word"}, {}, [STATE["0.weight"]], 7, {"state_dict": {"a": 1}}, {"made": Path("/")}]
)
def test_a_file_with_other_objects_than_tensors_is_refused(tmp_path: Path, value: Any) -> None:
    path = tmp_path / "w.pth"
    torch.save(value, path)
    assert "weights" in (line := refused(path)) or "not a checkpoint" in line


def test_reading_a_pickle_runs_no_code(tmp_path: Path) -> None:
    class Trap:
        def __reduce__(self) -> Any:
            return (Path.touch, (tmp_path / "ran",))

    path = tmp_path / "w.pth"
    torch.save({"0.weight": Trap()}, path)
    refused(path)
    assert not (tmp_path / "ran").exists()


@settings(max_examples=60, deadline=None)
@given(data=st.data(), whole=st.sampled_from([SAFE, PICKLED]))
def test_truncated_files_are_refused(tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, whole: bytes) -> None:
    path = tmp_path_factory.mktemp("cut") / "w"
    path.write_bytes(whole[: data.draw(st.integers(0, len(whole) - 1))])
    refused(path)


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200) | st.binary(max_size=60).map(lambda tail: b"\x10" + b"\0" * 7 + b"{" + tail))
def test_any_other_bytes_are_refused(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("noise") / "w"
    path.write_bytes(content)
    refused(path)


def test_a_file_that_cannot_be_opened_is_an_os_error(tmp_path: Path) -> None:
    for path in (tmp_path / "none.pth", tmp_path):
        with pytest.raises(OSError):
            load_weights(network(), path)
