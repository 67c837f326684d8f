"""Models of a hub as image encoders: their vectors are transformers', their keys hold the digest, and wrong ones are refused."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from components.core.errors import HearsightError
from components.hub.model import find_model
from components.vision.features import flatten
from components.vision.hub_encoders import hub_kind
from components.vision.image_encoders import EncodedImage, ViewSpec, _loaded
from components.vision.named_encoders import PostEncoder, recorded_encoder
from tests.support.hub import make_clip
from tests.support.hub.encoders import IMAGE_ENCODERS, make_convnext, make_dinov2, make_vit
from tests.support.search_index.world import drawn_image

DATA = drawn_image(1)
PAYLOAD = (DATA, "", 0)


def by_transformers(folder: Path, side: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Return the image's vector and the cells' as transformers' own classes and image processor make them."""
    processor, model = (getattr(transformers, name).from_pretrained(folder) for name in ("AutoImageProcessor", "AutoModel"))
    image = flatten(DATA).resize((side, side), 3)
    pixels = processor(image, do_resize=False, do_center_crop=False, return_tensors="pt")["pixel_values"]
    with torch.inference_mode():
        made = (model.vision_model if hasattr(model, "vision_model") else model).eval()(pixel_values=pixels)
    states, name = made.last_hidden_state[0], folder.name
    if name == "convnext":
        return states.mean((1, 2)).numpy(), states.flatten(1).T.numpy()
    whole = made.pooler_output[0] if name in ("clip", "siglip") else states[0]
    return whole.numpy(), states[{"clip": 1, "vit": 1, "dinov2": 5, "siglip": 0}[name] :].numpy()


@pytest.mark.parametrize("name", IMAGE_ENCODERS)
def test_the_pooled_vector_and_the_grid_are_those_of_transformers(tmp_path: Path, name: str) -> None:
    found = find_model(tmp_path, IMAGE_ENCODERS[name](tmp_path / name).name)
    encoder = EncodedImage("hub", found)
    assert (encoder.side, encoder.grid, encoder.width) == ((64, (2, 2), 32) if name == "convnext" else (32, (4, 4), 32))
    whole, cells = by_transformers(found.folder, encoder.side)
    vectors = encoder.compute(PAYLOAD)
    assert vectors.dtype == np.float16 and vectors.shape == (1 + len(cells), 32) and len(cells) == encoder.grid[0] ** 2
    np.testing.assert_allclose(vectors, np.concatenate([whole[None], cells]), atol=4e-3, rtol=2e-3)
    assert np.abs(vectors[0] - vectors[1:].mean(0)).max() > 0.01 or name == "convnext"
    alone = EncodedImage("hub", found, view_spec=ViewSpec(grid=False)).compute(PAYLOAD)
    assert np.array_equal(alone, vectors[:1])


def test_another_side_has_its_own_grid_and_key_and_an_impossible_one_is_refused_before_weights_are_read(tmp_path: Path) -> None:
    for make in (make_clip, make_vit, make_dinov2):
        found = find_model(tmp_path, make(tmp_path / make.__name__).name)
        own, wide = EncodedImage("hub", found), EncodedImage("hub", found, 48)
        assert wide.grid == (6, 6) and wide.compute(PAYLOAD).shape == (37, 32) and wide.model != own.model
    (found.folder / "model.safetensors").write_bytes(b"damaged")
    assert EncodedImage("hub", found, 40).grid == (5, 5)
    with pytest.raises(HearsightError, match=r"make_dinov2: reads no images of 4 px \(.*\) — give side 32"):
        EncodedImage("hub", found, 4)
    with pytest.raises(HearsightError, match="0 last blocks"):
        EncodedImage("hub", found, without=1)


def test_keys_hold_the_digest_of_all_files_and_changed_weights_are_refused(tmp_path: Path) -> None:
    folder = make_vit(tmp_path / "vit")
    first = find_model(tmp_path, "vit")
    encoder = EncodedImage("hub", first)
    assert encoder.model == f"hub-32-{first.digest[:16]}" and EncodedImage("hub", first, device="gpu").model.endswith("-gpu-fp32")
    encoder.compute(PAYLOAD)
    make_vit(folder, seed=1)
    second = find_model(tmp_path, "vit")
    assert EncodedImage("hub", second).model != encoder.model
    with pytest.raises(HearsightError, match="vit: the weights have changed during the run"):
        EncodedImage("hub", second, digest=first.digest).compute(PAYLOAD)
    about = {"name": "hub", "side": 32, "weights_sha256": first.digest, "model": str(folder)}
    with pytest.raises(HearsightError, match="reads features of hub with other weights"):
        recorded_encoder(about)
    assert recorded_encoder(about | {"weights_sha256": second.digest}).model == EncodedImage("hub", second).model


def test_pixels_are_normalised_by_the_models_own_settings(tmp_path: Path) -> None:
    settings = make_convnext(tmp_path / "plain") / "preprocessor_config.json"
    kind, *_ = hub_kind(find_model(tmp_path, "plain"))
    # ImageNet's mean and deviation, of 0..255.
    assert kind.mean == pytest.approx((123.675, 116.28, 103.53)) and kind.scale == pytest.approx((58.395, 57.12, 57.375))
    settings.write_text(json.dumps(json.loads(settings.read_text()) | {"do_normalize": False}))
    kind, *_ = hub_kind(find_model(tmp_path, "plain"))
    assert kind.mean == (0.0,) and kind.scale == pytest.approx((255.0,))


def test_what_is_no_encoder_of_images_or_wants_its_own_code_is_refused_in_one_line(tmp_path: Path) -> None:
    pickled = make_vit(tmp_path / "pickled")
    (pickled / "model.safetensors").rename(pickled / "pytorch_model.bin")
    with pytest.raises(HearsightError, match="pickled: holds no weights in safetensors"):
        find_model(tmp_path, "pickled")
    own = make_vit(tmp_path / "own")
    config = json.loads((own / "config.json").read_text())
    code = {"model_type": "ours", "auto_map": {"AutoConfig": "code.Config", "AutoModel": "code.Model"}}
    (own / "config.json").write_text(json.dumps(config | code))
    (own / "code.py").write_text("raise SystemExit('executed')")
    with pytest.raises(HearsightError, match=r"own: cannot be loaded as AutoConfig \(.*contains custom code") as refused:
        EncodedImage("hub", find_model(tmp_path, "own"))
    assert "\n" not in str(refused.value)
    damaged = make_vit(tmp_path / "damaged")
    (damaged / "model.safetensors").write_bytes(b"damaged")
    with pytest.raises(HearsightError, match="damaged: cannot be loaded as AutoModel"):
        EncodedImage("hub", find_model(tmp_path, "damaged")).compute(PAYLOAD)
    text = tmp_path / "text"
    transformers.BertModel(
        transformers.BertConfig(hidden_size=8, num_hidden_layers=1, num_attention_heads=1, intermediate_size=8, vocab_size=9)
    ).save_pretrained(text)
    with pytest.raises(HearsightError, match="text: cannot be loaded as AutoImageProcessor"):
        EncodedImage("hub", find_model(tmp_path, "text"))


def test_only_the_image_tower_of_two_is_loaded(tmp_path: Path) -> None:
    found = find_model(tmp_path, make_clip(tmp_path / "clip").name)
    loaded = _loaded("hub", found, 32, found.digest, torch.device("cpu"))
    names = {name.split(".")[0] for name, _ in loaded.network.named_parameters()}
    assert names and not any("text" in name for name in names) and not any(p.requires_grad for p in loaded.network.parameters())


def test_posts_are_compared_by_a_hubs_model_if_it_is_named(tmp_path: Path) -> None:
    make_dinov2(tmp_path / "dinov2")
    encoder = PostEncoder.of(tmp_path, "", "dinov2")
    stored: Any = list(encoder)
    annotator = PostEncoder(*stored).annotator(tmp_path)
    assert annotator.width == 32 and annotator.compute(PAYLOAD).shape == (1, 32) and encoder.digest[:16] in annotator.model
    assert PostEncoder.of(tmp_path, "", "dinov2", "gpu").resources.gpus == 1
    with pytest.raises(HearsightError, match="are two encoders"):
        PostEncoder.of(tmp_path, "mobilenet.pth", "dinov2")
