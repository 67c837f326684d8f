"""Cosines and labels by models of a hub are those that transformers computes itself, and unusable models are one line."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
import transformers

from components.core.digests import digest_value
from components.core.errors import HearsightError
from components.hub.chosen import ChosenModel, choose_model
from components.hub.model import HubModel
from components.vision.image_text import ImageTextScore
from components.vision.zero_shot import Vocabulary, ZeroShotLabels, best_labels, read_labels
from components.web.images.opening import read_image
from tests.support.hub import LINES, make_clip
from tests.support.hub.two_towers import drawn, make_siglip, make_vit

IMAGES = [drawn(200, 30, 30), drawn(20, 120, 40), drawn(10, 10, 200)]
PADDING = {make_clip: True, make_siglip: "max_length"}


def chosen(root: Path, make: Callable[[Path], Path], **how: Any) -> ChosenModel:
    if not (root / "model").exists():
        make(root / "model")
    found = choose_model(root, HubModel(model="model", **how))
    assert found is not None
    return found


def vocabulary(root: Path, file: str, prompt: str, kept: int) -> Vocabulary:
    return Vocabulary(file, digest_value(read_labels(root, file)), prompt, kept)


def direct(root: Path, texts: list[str], padding: Any) -> Any:
    """The network's own answer for all pairs."""
    network = transformers.AutoModel.from_pretrained(root / "model").eval()
    processor = transformers.AutoProcessor.from_pretrained(root / "model")
    images = [read_image(data).pixels for data in IMAGES]
    given = processor(text=texts, images=images, padding=padding, return_tensors="pt")
    with torch.inference_mode():
        return network(**given)


@pytest.mark.parametrize("make", [make_clip, make_siglip])
def test_the_score_is_the_cosine_of_the_networks_own_embeddings(tmp_path: Path, make: Any) -> None:
    score = ImageTextScore(tmp_path, chosen(tmp_path, make))
    texts = LINES[:3]
    found = score.compute_many(list(zip(IMAGES, texts, strict=True)))
    output = direct(tmp_path, texts, PADDING[make])
    assert found == pytest.approx((output.image_embeds * output.text_embeds).sum(-1).tolist(), abs=1.1e-4)
    assert len(set(found)) == 3 and score.compute((IMAGES[1], texts[1])) == found[1]


@pytest.mark.parametrize("make", [make_clip, make_siglip])
def test_labels_have_the_models_own_probabilities_the_best_first(tmp_path: Path, make: Any) -> None:
    model = chosen(tmp_path, make)
    names = ["red car", "grass", "people", "cat"]
    (tmp_path / "labels.txt").write_text("\n".join(["red  car ", "", "grass", "people", "cat", "cat"]), encoding="utf-8")
    annotator = ZeroShotLabels(tmp_path, model, vocabulary(tmp_path, "labels.txt", "a photo of a {}.", 3))
    logits = direct(tmp_path, [f"a photo of a {name}." for name in names], PADDING[make]).logits_per_image
    expected = logits.sigmoid() if make is make_siglip else logits.softmax(-1)
    for found, row in zip(annotator.compute_many(IMAGES), expected.tolist(), strict=True):
        best = sorted(zip(names, row, strict=True), key=lambda pair: -pair[1])[:3]
        assert [name for name, _ in found] == [name for name, _ in best]
        assert [probability for _, probability in found] == pytest.approx([share for _, share in best], abs=1e-5)


def test_the_vocabulary_is_encoded_once_for_model_prompt_and_labels(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model = chosen(tmp_path, make_clip)
    (tmp_path / "labels.txt").write_text("\n".join(f"label {number}" for number in range(70)), encoding="utf-8")
    folder = tmp_path / ".hearsight" / "vocabularies"

    def annotate(prompt: str, kept: int) -> list[Any]:
        return ZeroShotLabels(tmp_path, model, vocabulary(tmp_path, "labels.txt", prompt, kept)).compute(IMAGES[0])

    assert annotate("a {}", 2) == annotate("a {}", 5)[:2]
    assert capsys.readouterr().err.count("70 labels are encoded once") == 1 and len(list(folder.glob("*.npy"))) == 1
    vectors = np.load(next(folder.glob("*.npy")))
    assert vectors.shape == (70, 16) and np.linalg.norm(vectors, axis=1) == pytest.approx(1, abs=1e-5)
    annotate("the {}", 2)
    assert len(list(folder.glob("*.npy"))) == 2


def test_files_device_batch_prompt_and_vocabulary_are_in_the_identity(tmp_path: Path) -> None:
    model = chosen(tmp_path, make_clip)
    (tmp_path / "labels.txt").write_text("cat\ndog\n", encoding="utf-8")
    other = model._replace(digest="0" * 64)
    models = [model, other, model._replace(device="gpu"), model._replace(batch=4)]
    assert len({ImageTextScore(tmp_path, each).model for each in models}) == 4
    given = [vocabulary(tmp_path, "labels.txt", prompt, kept) for prompt in ("a {}", "the {}") for kept in (1, 2)]
    (tmp_path / "more.txt").write_text("cat\ndog\nbird\n", encoding="utf-8")
    given.append(vocabulary(tmp_path, "more.txt", "a {}", 1))
    assert len({ZeroShotLabels(tmp_path, model, each).model for each in given}) == 5
    with pytest.raises(HearsightError, match="files have changed during the run"):
        ImageTextScore(tmp_path, other).compute((IMAGES[0], "a cat"))


def test_batches_change_cosines_by_rounding_alone(tmp_path: Path) -> None:
    pairs = [(image, text) for image in IMAGES for text in LINES]
    one = ImageTextScore(tmp_path, chosen(tmp_path, make_clip)).compute_many(pairs)
    five = ImageTextScore(tmp_path, chosen(tmp_path, make_clip, batch=5)).compute_many(pairs)
    assert len(one) == len(pairs) and five == pytest.approx(one, abs=1.1e-4)


def test_a_text_longer_than_the_model_reads_is_cut(tmp_path: Path) -> None:
    score = ImageTextScore(tmp_path, chosen(tmp_path, make_clip))
    assert -1 <= score.compute((IMAGES[0], "a dog runs on the grass " * 50)) <= 1


@pytest.mark.parametrize(("make", "said"), [(make_vit, "compares no images with texts"), (None, "is no folder")])
def test_a_model_without_text_tower_or_folder_is_one_line(tmp_path: Path, make: Any, said: str) -> None:
    with pytest.raises(HearsightError, match=said) as caught:
        ImageTextScore(tmp_path, chosen(tmp_path, make or (lambda _: _))).compute((IMAGES[0], "a cat"))
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"\n  \n", "has no label"), ("Bär".encode("latin-1"), "is not UTF-8"), (None, "cannot be read")],
)
def test_an_unusable_vocabulary_is_one_line(tmp_path: Path, content: bytes | None, said: str) -> None:
    if content is not None:
        (tmp_path / "labels.txt").write_bytes(content)
    with pytest.raises(HearsightError, match=said):
        read_labels(tmp_path, "labels.txt")


def test_the_number_of_labels_is_bounded_and_their_confidence_beyond_the_least() -> None:
    stored = [["People", 0.5], ["dog", 0.2], ["cat", 0.04], ["car", 0.03]]
    found = best_labels(stored, least=1, most=3, min_confidence=0.05)
    assert [(label.names, label.confidence) for label in found] == [(("people",), 0.5), (("dog",), 0.2)]
    assert len(best_labels(stored, least=4, most=3, min_confidence=0.05)) == 3
