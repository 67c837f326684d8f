"""Feedback says in plain words which rules an alt-text passes, what it lacks, and what is not checked."""

from __future__ import annotations

import io
import json
from collections.abc import Iterator

import pytest
from PIL import Image

from components.core.errors import HearsightError
from components.stages.filter.cascade import GROUPS, TEXT_GROUPS
from components.tools.feedback.feedback import feedback, load_rules
from components.tools.feedback.guidelines import CHECKS, Remark, load_guidelines
from tests.support import PROJECT
from tests.support.command import hearsight
from tests.support.knowledge.dictionary import EXTRACT

GOOD = {
    "en": "Photo of a black dog that runs on the beach beside a red ball.",
    "pt": "Foto de um cachorro preto sentado à esquerda de uma bola vermelha na praia.",
}


@pytest.fixture(autouse=True, scope="module")
def dictionary() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEARSIGHT_WORDNET", str(EXTRACT))
        yield


def remarks(text: str, language: str = "en", interface: str = "en") -> dict[str, Remark]:
    return {remark.name: remark for remark in feedback(text, language, root=PROJECT, interface=interface)}


@pytest.mark.parametrize("language", GOOD)
def test_a_full_description_passes_everything_that_is_checked(language: str) -> None:
    found = remarks(GOOD[language], language)
    assert [name for name, remark in found.items() if remark.passed is False] == []
    assert {remark.kind for remark in found.values()} == {"rule", "guideline", "unchecked"}
    assert all(remark.passed is None for remark in found.values() if remark.kind == "unchecked")


@pytest.mark.parametrize(
    ("language", "text", "missed", "detail"),
    [
        ("en", "A black dog runs on the beach beside a red ball.", "kind", ""),
        ("en", "Photo of a dog in a park at noon on a day", "action", ""),
        ("en", "Photo of a dog that runs on the wide beach.", "attributes", ""),
        ("en", "Photo of a black dog that eats red meat and barks.", "place", ""),
        ("en", "Photo of a beautiful black dog that runs on the beach.", "opinion", "beautiful"),
        ("en", "Photo of a dog.", "length", "4"),
        ("en", "Photo of a black dog that runs on the beach #dogs @me", "marks", "#dogs, @me"),
        ("en", "Photo of a a black dog that runs on the beach.", "repetition", "a"),
        ("en", "Photo of a dog, " + "and a cat, " * 12 + "on the beach.", "sentences", "43"),
        ("pt", "Um cachorro preto sentado à esquerda de uma bola vermelha.", "kind", ""),
        ("pt", "Foto de um cachorro à esquerda de uma bola vermelha na praia.", "action", ""),
        ("pt", "Foto de um lindo cachorro preto correndo na praia cheia.", "opinion", "lindo"),
        ("pt", "Foto de um cachorro correndo na praia ao lado de uma bola.", "attributes", ""),
    ],
)
def test_a_missed_guideline_is_named_with_what_decided(language: str, text: str, missed: str, detail: str) -> None:
    remark = remarks(text, language)[missed]
    assert remark.passed is False and remark.detail == detail and remark.source


def test_every_rule_of_the_filter_on_texts_is_reported_in_plain_words() -> None:
    found = remarks("IMG_0042.jpg")
    rules = {rule.name for group in TEXT_GROUPS for rule in GROUPS[group]} - {"page_language"}
    rules -= {"needs_determiner", "needs_preposition"}  # the paper's settings ask for at least 0
    assert {name for name, remark in found.items() if remark.kind == "rule"} == rules
    assert found["unknown_token"].passed is False and "IMG_0042.jpg" in found["unknown_token"].detail
    assert found["max_words"].passed and found["max_words"].detail.startswith("3; allowed: at most")


def test_every_rule_and_guideline_has_texts_in_both_languages_of_the_interface() -> None:
    used = {rule.name for name, group in GROUPS.items() for rule in group if name != "image"}
    assert set(load_rules()) == used and set(CHECKS) | {"unchecked"} == set(load_guidelines())
    assert all(set(texts) == {"en", "pt"} for texts in load_rules().values())
    english, portuguese = remarks(GOOD["en"]), remarks(GOOD["en"], interface="pt")
    assert list(english) == list(portuguese)
    assert all(english[name].text != portuguese[name].text for name in english)


def test_an_image_adds_its_rules_and_what_was_recognised() -> None:
    target = io.BytesIO()
    Image.new("RGB", (900, 300), "navy").save(target, "PNG")
    found = {each.name: each for each in feedback("Photo of a dog.", root=PROJECT, image=target.getvalue())}
    assert [found[name].passed for name in ("image_format", "image_side", "aspect_ratio")] == [False, False, False]
    assert found["label_overlap"].passed is False and "dog" in found["label_overlap"].detail


@pytest.mark.parametrize(
    ("text", "options", "message"),
    [
        (" ", {}, "is empty"),
        ("a" * 10_001, {}, "more than 10,000"),
        ("un chat", {"language": "fr"}, "'fr' is not a language here"),
        ("um gato", {"language": "pt", "image": b"x"}, "English texts only"),
        ("a cat", {"image": b"x"}, "is not an image"),
    ],
)
def test_unusable_input_is_one_line(text: str, options: dict[str, object], message: str) -> None:
    with pytest.raises(HearsightError, match=message):
        feedback(text, root=PROJECT, **options)  # type: ignore[arg-type]


def test_the_command_prints_a_json_line_for_each_remark() -> None:
    done = hearsight("feedback", "-", stdin=b"Photo of a dog.\n", HEARSIGHT_WORDNET=str(EXTRACT))
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and {"kind", "name", "passed", "text", "detail", "source"} == set(lines[0])
    assert {line["name"] for line in lines if line["passed"] is False} == {"action", "attributes", "place", "length"}
