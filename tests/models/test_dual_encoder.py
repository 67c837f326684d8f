"""Properties of the dual encoder and of its light towers, with tiny untrained models."""

from __future__ import annotations

import itertools
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from components.models.dual_encoder import DualEncoder, DualEncoderConfig
from components.models.encoders import ImageEncoder
from components.models.inception_resnet_v2 import InceptionResnetV2
from tests.support.models.dual_encoders import TINY, Flat, size, tiny


@given(st.integers(1, 40), st.integers(1, 30), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_values_after_a_clips_end_do_not_affect_its_embedding(frames: int, behind: int, layers: int) -> None:
    model = tiny(layers=layers)
    clip = torch.randn(1, 6, frames, generator=torch.Generator().manual_seed(frames))
    alone = model.embed_speech(clip, torch.tensor([frames]))
    for rest in (torch.randn(1, 6, behind) * 100, torch.full((1, 6, behind), float("nan"))):
        padded = torch.cat([clip, rest], dim=2)
        torch.testing.assert_close(model.embed_speech(padded, torch.tensor([frames])), alone)


def test_a_clips_embedding_is_the_same_alone_and_in_a_batch() -> None:
    model, clips, lengths = tiny(), torch.randn(4, 6, 21), torch.tensor([21, 3, 1, 14])
    together = model.embed_speech(clips, lengths)
    for row, frames in enumerate(lengths.tolist()):
        alone = model.embed_speech(clips[row : row + 1, :, :frames], lengths[row : row + 1])
        torch.testing.assert_close(together[row : row + 1], alone)


def test_similarity_is_the_dot_product_raw_or_bounded_by_the_scale() -> None:
    clips, lengths, shown = torch.randn(3, 6, 9), torch.tensor([9, 5, 2]), torch.randn(4, 8)
    raw, scaled = tiny(), tiny(scale=16.0)
    for model in (raw, scaled):
        speech, images = model.embed_speech(clips, lengths), model.embed_images(shown)
        assert torch.allclose((speech @ images.T)[1, 2], (speech[1] * images[2]).sum(), atol=1e-5)
    assert torch.equal(raw.embed_images(shown), raw.image(shown))
    cosine = torch.nn.functional.cosine_similarity(raw.embed_images(shown), raw.embed_images(shown).flip(0))
    stretched = scaled.embed_images(shown)
    torch.testing.assert_close((stretched * stretched.flip(0)).sum(1), 16.0 * cosine)


def test_coefficients_are_normalised_and_padding_is_zero() -> None:
    model, lengths = tiny(), torch.tensor([5, 2])
    clips = torch.randn(2, 6, 5) * 3 + 7
    model.speech.mean.fill_(7.0)
    model.speech.deviation.fill_(3.0)
    normal = model.speech.normalise(clips, lengths)
    torch.testing.assert_close(normal[0], (clips[0] - 7) / 3)
    assert torch.equal(normal[1, :, 2:], torch.zeros(6, 3)) and not torch.equal(normal[1, :, :2], torch.zeros(6, 2))


def test_a_clip_without_a_frame_and_silence_have_finite_embeddings() -> None:
    model = tiny(scale=16.0)
    assert torch.isfinite(model.embed_speech(torch.full((1, 6, 3), float("nan")), torch.tensor([0]))).all()
    assert torch.isfinite(model.embed_speech(torch.zeros(1, 6, 50), torch.tensor([50]))).all()


@pytest.mark.parametrize(("layers", "channels", "embedding"), [(1, 3, 5), (2, 10, 4), (3, 8, 16)])
def test_the_light_towers_sizes_are_those_of_their_formulas(layers: int, channels: int, embedding: int) -> None:
    c, e = channels, embedding
    model = tiny(layers=layers, channels=c, embedding=e, image="convolutions")
    assert size(model.speech) == (5 * 6 * c + 3 * c) + (layers - 1) * (5 * c * c + 3 * c) + c + (2 * c * e + e)
    widths = [3, *(c >> (layers - 1 - layer) for layer in range(layers))]
    convolutions = sum(9 * a * b + 3 * b for a, b in itertools.pairwise(widths))
    assert size(model.image) == convolutions + (2 * c * e + e)
    assert size(tiny(layers=layers, channels=c, embedding=e).image) == 2 * 8 + (8 * 2 * e + 2 * e) + (2 * e * e + e)


@pytest.mark.parametrize("image", ["features", "convolutions", "efficientnet_lite0"])
def test_a_gradient_reaches_every_parameter_and_the_towers_share_none(image: str) -> None:
    encoder = ImageEncoder(image, Flat(), 32) if image == "efficientnet_lite0" else None
    model = DualEncoder(DualEncoderConfig(**TINY, image=image, side=0 if image == "features" else 32), encoder)
    shown = torch.randn(3, 8) if image == "features" else torch.randint(256, (3, 3, 32, 32), dtype=torch.uint8)
    scores = model.embed_speech(torch.randn(3, 6, 40), torch.tensor([40, 17, 9])) @ model.embed_images(shown).T
    assert scores.shape == (3, 3)
    scores.square().sum().backward()
    assert [name for name, parameter in model.named_parameters() if parameter.grad is None or not parameter.grad.any()] == []
    kept = [{tensor.data_ptr() for tensor in tower.state_dict().values()} for tower in (model.speech, model.image)]
    assert not kept[0] & kept[1]


def test_efficientnet_lite0_needs_an_encoder_of_its_name_and_side() -> None:
    config = DualEncoderConfig(**TINY, image="efficientnet_lite0", side=64)
    assert DualEncoder(config, ImageEncoder("efficientnet_lite0", Flat(), 64)).image.project.in_features == 1280
    with pytest.raises(ValueError, match="has no built-in network: pass one"):
        DualEncoder(config)
    with pytest.raises(ValueError, match="efficientnet_lite0 of 32 px is given for efficientnet_lite0 of 64 px"):
        DualEncoder(config, ImageEncoder("efficientnet_lite0", Flat(), 32))
    with pytest.raises(ValueError, match="takes no encoder"):
        DualEncoder(DualEncoderConfig(**TINY), ImageEncoder("efficientnet_lite0", Flat(), 32))


def test_unsuitable_tower_inputs_are_refused_with_one_line() -> None:
    model, seen = tiny(), tiny(image="convolutions", side=16)
    for clips, lengths, result in (
        (torch.zeros(2, 5, 9), torch.ones(2), r"speech of shape \(2, 5, 9\); this tower reads clips × 6 coefficients × length"),
        (torch.zeros(2, 6), torch.ones(2), "speech of shape"),
        (torch.zeros(2, 6, 0), torch.ones(2), "speech of shape"),
        (torch.zeros(2, 6, 9), torch.ones(3), "one a clip"),
    ):
        for method in (model.embed_speech, model.speech):
            with pytest.raises(ValueError, match=result):
                method(clips, lengths)
    for reader, shown, result in (
        (model, torch.zeros(2, 9), "this tower reads B × 8 features"),
        (model, torch.zeros(2, 8, dtype=torch.uint8), "torch.uint8"),
        (seen, torch.zeros(2, 3, 17, 16), "this tower reads batch × 3 × 16 × 16"),
    ):
        with pytest.raises(ValueError, match=result) as caught:
            reader.embed_images(shown)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"speech": "features"}, "'features' is not a speech network"),
        ({"image": "vgg"}, "'vgg' is not an image network"),
        ({"embedding": 0}, "embedding must be 1 or more"),
        ({"embedding": 4.0}, "embedding is 4.0; it must be of type int"),
        ({"layers": True}, "layers is True"),
        ({"pool_padding": 1}, "pool_padding is 1; it must be of type bool"),
        ({"scale": -1.0}, "scale must be 0 or more"),
        ({"scale": float("nan")}, "scale must be 0 or more"),
        ({"dropout": 1.0}, "dropout must be"),
        ({"norm_momentum": 0.0}, "norm_momentum must be"),
        ({"speech": "inception_resnet_v2", "coefficients": 40}, "needs at least 75 coefficients, not 40"),
        ({"image": "inception_resnet_v2", "side": 60}, "needs at least 75 px"),
        ({"image": "efficientnet_lite0", "side": 100}, "multiples of 32 px"),
        ({"side": 64}, "reads no images"),
        ({"channels": 0, "image_features": 0}, "channels and layers must be 1 or more; image_features must be 1 or more"),
    ],
)
def test_invalid_configurations_are_refused_with_one_line(changed: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message) as caught:
        DualEncoderConfig(**changed)
    assert "\n" not in str(caught.value)


def test_a_configuration_round_trips_with_its_image_size() -> None:
    config = DualEncoderConfig(image="efficientnet_lite0", pool_padding=False, scale=16)
    assert DualEncoderConfig.of(config.plain()) == config
    sides = {DualEncoderConfig(image=name).image_side for name in ("features", "convolutions", "inception_resnet_v2")}
    assert sides == {0, 64, 299} and config.image_side == 256
    with pytest.raises(ValueError, match="of another version: heads, layers"):
        DualEncoderConfig.of({name: value for name, value in config.plain().items() if name != "layers"} | {"heads": 8})


@pytest.mark.slow
def test_both_towers_compile_whole_and_run_under_bf16_with_channels_last() -> None:
    model = tiny(image="convolutions", side=32, scale=16.0).to(memory_format=torch.channels_last)
    clips, lengths = torch.randn(2, 6, 40), torch.tensor([40, 11])
    shown = torch.randint(256, (2, 3, 32, 32), dtype=torch.uint8)
    whole = {"backend": "aot_eager", "fullgraph": True}
    torch.testing.assert_close(torch.compile(model.speech, **whole)(clips, lengths), model.speech(clips, lengths))
    torch.testing.assert_close(torch.compile(model.image, **whole)(shown), model.image(shown))
    with torch.autocast("cpu", torch.bfloat16):
        speech, images = model.embed_speech(clips, lengths), model.embed_images(shown)
    assert speech.dtype == images.dtype == torch.float32
    assert torch.allclose(speech, model.embed_speech(clips, lengths), atol=0.1)
    assert torch.allclose(images, model.embed_images(shown), atol=0.1)


def test_inception_resnet_v2_comes_from_the_caller_where_it_has_weights() -> None:
    with torch.device("meta"):
        encoder = ImageEncoder("inception_resnet_v2", InceptionResnetV2(classes=0), 299)
        model = DualEncoder(DualEncoderConfig(**TINY, image="inception_resnet_v2"), encoder)
        assert model.image.encoder is encoder
