"""A trained dual encoder's folder comes back as it was, or says in one line what is wrong; towers are handed on whole."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors.torch import load_file, save_file

from components.models.dual_encoder import DualEncoder, DualEncoderConfig
from components.models.dual_encoder_files import (
    CONFIG,
    WEIGHTS,
    LoadedDualEncoder,
    load_dual_encoder,
    save_dual_encoder,
    warm_start,
)
from components.models.encoders import ImageEncoder
from tests.support.models.dual_encoders import TINY, Flat, tiny


def saved(folder: Path, model: DualEncoder) -> DualEncoder:
    folder.mkdir(exist_ok=True)
    save_dual_encoder(folder, model.state_dict(), {"network": model.config.plain(), "seed": 3})
    return model


def same(one: torch.nn.Module, other: torch.nn.Module) -> bool:
    pairs = zip(one.state_dict().items(), other.state_dict().items(), strict=True)
    return all(a == b and torch.equal(x, y) for (a, x), (b, y) in pairs)


def test_a_saved_dual_encoder_loads_unchanged(tmp_path: Path) -> None:
    for name, model in {"features": tiny(), "seen": tiny(image="convolutions", side=16, scale=16.0)}.items():
        model.speech.mean.fill_(2.0)
        loaded = load_dual_encoder(tmp_path / name) if saved(tmp_path / name, model) else None
        assert loaded is not None and same(loaded.model, model) and not loaded.model.training
        assert loaded.model.config == model.config and loaded.config["seed"] == 3


def test_an_external_encoder_is_passed_or_built_from_the_configuration(tmp_path: Path) -> None:
    config = DualEncoderConfig(**TINY, image="efficientnet_lite0", side=64)
    model = saved(tmp_path, DualEncoder(config, ImageEncoder("efficientnet_lite0", Flat(), 64)))
    with pytest.raises(ValueError, match="efficientnet_lite0, is not built in: pass an image encoder"):
        load_dual_encoder(tmp_path)
    given = load_dual_encoder(tmp_path, ImageEncoder("efficientnet_lite0", Flat(), 64))
    made = load_dual_encoder(tmp_path, lambda result: ImageEncoder(result.image, Flat(), result.image_side))
    assert same(given.model, model) and same(made.model, model)


def change(folder: Path, **values: Any) -> None:
    config = json.loads((folder / CONFIG).read_text())
    (folder / CONFIG).write_text(json.dumps(config | values))


def refused(folder: Path, said: str) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        load_dual_encoder(folder)
    assert "\n" not in str(caught.value) and str(caught.value).startswith(str(folder))


def test_folders_of_other_kinds_or_versions_are_refused(tmp_path: Path) -> None:
    refused(tmp_path, r"config\.json: is missing: this folder holds no trained dual encoder")
    network = saved(tmp_path, tiny()).config.plain()
    for changed, result in (
        ({"network": network | {"embedding": 5}}, r"another size than its config\.json says: speech.project"),
        ({"network": network | {"layers": 3}}, r"another network than its config\.json says: 4 weights are missing"),
        ({"network": network | {"heads": 3}}, "network settings of another version: heads"),
        ({"network": {name: value for name, value in network.items() if name != "speech"}}, "of another version: speech"),
        ({"network": network | {"embedding": "4"}}, "embedding is '4'; it must be of type int"),
        ({"network": network | {"image": "vgg"}}, "'vgg' is not an image network"),
        ({"network": [1]}, "lacks the settings of its network"),
        ({"kind": "captioner"}, "does not describe a dual encoder"),
    ):
        saved(tmp_path, tiny())
        change(tmp_path, **changed)
        refused(tmp_path, result)
    for text, result in (
        ("{", "is not complete JSON"),
        ("[]", "does not describe"),
        ('{"kind": "dual_encoder"}', "lacks network"),
    ):
        (tmp_path / CONFIG).write_text(text)
        refused(tmp_path, result)
    (tmp_path / CONFIG).write_bytes(b"\xff\xfe\x00")
    refused(tmp_path, "is not complete JSON")
    with pytest.raises(ValueError, match="another version: embedding"):
        save_dual_encoder(tmp_path, {}, {"network": {name: value for name, value in network.items() if name != "embedding"}})


def test_missing_and_foreign_weights_are_named(tmp_path: Path) -> None:
    saved(tmp_path, tiny())
    weights = load_file(tmp_path / WEIGHTS)
    save_file({**weights, "more": torch.zeros(1)}, tmp_path / WEIGHTS)
    refused(tmp_path, "0 weights are missing and 1 unexpected, e.g. more")
    (tmp_path / WEIGHTS).unlink()
    refused(tmp_path, r"weights\.safetensors: is missing")
    (tmp_path / WEIGHTS).mkdir()
    refused(tmp_path, "not a whole safetensors file")


@given(st.integers(0, 2000))
@settings(max_examples=20, deadline=None)
def test_truncated_weights_are_refused(tmp_path_factory: pytest.TempPathFactory, length: int) -> None:
    folder = tmp_path_factory.mktemp("cut")
    saved(folder, tiny())
    data = (folder / WEIGHTS).read_bytes()
    (folder / WEIGHTS).write_bytes(data[: min(length, len(data) - 1)])
    refused(folder, r"weights\.safetensors: is not a whole safetensors file")


def trained(**changed: Any) -> LoadedDualEncoder:
    """An encoder that differs from :func:`tiny` in every tensor."""
    model = tiny(**changed)
    with torch.no_grad():
        for tensor in model.state_dict().values():
            tensor.add_(1)
    return LoadedDualEncoder(model, {})


@pytest.mark.parametrize("towers", [set(), {"speech"}, {"image"}, {"speech", "image"}])
def test_towers_are_copied_completely_and_others_are_unchanged(towers: set[str]) -> None:
    network, source = tiny(), trained(scale=16.0, dropout=0.5)
    before = {name: tensor.clone() for name, tensor in network.state_dict().items()}
    places = {name: parameter.data_ptr() for name, parameter in network.named_parameters()}
    copied = warm_start(network, source, towers)
    assert copied == sorted(name for name in before if name.split(".")[0] in towers)
    for name, tensor in network.state_dict().items():
        assert torch.equal(tensor, source.model.state_dict()[name] if name in copied else before[name]), name
    # In place, so an optimiser that was made before still holds them; and copies, so the source does not learn along.
    assert places == {name: parameter.data_ptr() for name, parameter in network.named_parameters()}
    kept = {tensor.data_ptr() for tensor in source.model.state_dict().values()}
    assert not kept & {tensor.data_ptr() for tensor in network.state_dict().values()}
    assert ("speech.mean" in copied) == ("speech.deviation" in copied) == ("speech" in towers)
    assert all(parameter.requires_grad for parameter in network.parameters())


@pytest.mark.parametrize(
    ("changed", "towers", "message"),
    [
        ({}, {"text"}, "'text' is not a tower; choose of speech and image"),
        ({"image": "convolutions"}, {"image"}, "the image tower is features, and the one to start from is convolutions"),
        ({"layers": 3}, {"speech"}, "the speech tower and the one to start from differ"),
        ({"coefficients": 7}, {"speech"}, r"another size: speech.convolutions.0.weight is \(10, 6, 5\), .* \(10, 7, 5\)"),
        ({"embedding": 5}, {"image", "speech"}, r"the image tower is of another size"),
    ],
)
def test_towers_of_another_network_or_size_are_refused_and_nothing_is_copied(
    changed: dict[str, Any], towers: set[str], message: str
) -> None:
    network, source = tiny(), trained(**changed)
    with pytest.raises(ValueError, match=message) as caught:
        warm_start(network, source, towers)
    assert "\n" not in str(caught.value) and same(network, tiny())


def test_one_tower_may_come_from_an_encoder_with_another_second_tower() -> None:
    network = tiny()
    assert warm_start(network, trained(image="convolutions"), {"speech"})
    assert same(network.speech, trained(image="convolutions").model.speech) and same(network.image, tiny().image)
