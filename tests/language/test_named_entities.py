"""Names of a token-classification model: characters, kinds and the words that belong to them, however the model splits words."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.hub.chosen import ChosenModel, choose_model
from components.hub.model import HubModel
from components.language.named_entities import NamedEntities
from tests.support.hub.two_towers import make_recogniser, make_vit

SAID = {"Zqx": "B-PER", "##wv": "B-ORG", "Lee": "I-PER", "Vision": "B-ORG", "Pro": "I-ORG", "Bax": "B-ORG", "##a": "O"}


def chosen(root: Path, **how: int) -> ChosenModel:
    found = choose_model(root, HubModel(model="model", **how))
    assert found is not None
    return found


def test_a_word_has_the_label_of_its_first_piece_and_neighbours_of_a_kind_are_one_name(tmp_path: Path) -> None:
    make_recogniser(tmp_path / "model", SAID)
    text = "The Zqxwv Lee, beside Vision Pro Bax and Zqx Zqx"
    found = NamedEntities(tmp_path, chosen(tmp_path)).compute(text)
    names = [(text[start:end], kind) for start, end, kind, _ in found]
    assert names == [("Zqxwv Lee", "PER"), ("Vision Pro", "ORG"), ("Bax", "ORG"), ("Zqx", "PER"), ("Zqx", "PER")]
    assert all(0.5 < score <= 1 for *_, score in found)


def test_the_score_is_the_softmax_of_the_network_and_batches_change_it_by_rounding_alone(tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForTokenClassification, AutoTokenizer

    make_recogniser(tmp_path / "model", SAID)
    texts = ["Zqxwv", "a man and a Vision", "", "Bax Bax " * 100]
    found = NamedEntities(tmp_path, chosen(tmp_path)).compute_many(texts)
    network = AutoModelForTokenClassification.from_pretrained(tmp_path / "model").eval()
    with torch.inference_mode():
        given = AutoTokenizer.from_pretrained(tmp_path / "model")(texts[0], return_tensors="pt")
        expected = float(network(**given).logits[0, 1].softmax(-1).max())
    assert found[0] == [(0, 5, "PER", pytest.approx(expected, abs=1e-4))]
    assert found[2] == [] and 0 < len(found[3]) < 100  # cut at what the model reads
    together = NamedEntities(tmp_path, chosen(tmp_path, batch=4)).compute_many(texts)
    assert [[each[:3] for each in names] for names in together] == [[each[:3] for each in names] for names in found]


def test_labels_without_a_prefix_join(tmp_path: Path) -> None:
    make_recogniser(tmp_path / "model", {"New": "GPE", "York": "GPE"})
    assert [each[:3] for each in NamedEntities(tmp_path, chosen(tmp_path)).compute("in New York, New")] == [
        (3, 11, "GPE"), (13, 16, "GPE"),
    ]  # fmt: skip


def test_a_model_that_knows_no_kind_of_name_is_one_line(tmp_path: Path) -> None:
    make_recogniser(tmp_path / "model", {"Zqx": "LABEL_1"}, ("LABEL_0", "LABEL_1"))
    with pytest.raises(HearsightError, match="knows no kind of name, only LABEL_0, LABEL_1"):
        NamedEntities(tmp_path, chosen(tmp_path)).compute("Zqx")
    make_vit(tmp_path / "images")
    with pytest.raises(HearsightError, match="cannot be loaded as AutoModelForTokenClassification"):
        model = choose_model(tmp_path, HubModel(model="images"))
        assert model is not None
        NamedEntities(tmp_path, model).compute("Zqx")
