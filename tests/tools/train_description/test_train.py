"""Training: equal examples give equal bytes, the file says what it was trained on and holds no text, and the score separates."""

from __future__ import annotations

import json
from itertools import product
from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.language.parser import EnglishParser
from components.language.word_features import word_key
from components.stages.filter.description import read_model
from components.tools.train_description.examples import Example, draw, read_examples, vary
from components.tools.train_description.train import WordRatios, fold_of, group_ratios, train
from components.web.html.context import Context
from tests.support.command import hearsight
from tests.support.knowledge.dictionary import EXTRACT

WHO, DOES = ("dog", "man", "woman", "horse", "child", "bird"), ("sits on a chair", "runs on the beach", "stands in the water")
CAPTIONS = [f"A {who} {does}" for who, does in product(WHO, DOES)]
HEADLINES = [f"How {who}s Won the {what}" for who, what in product(WHO, ("Race", "Election", "Cup"))]


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HEARSIGHT_WORDNET", str(EXTRACT))
    (tmp_path / "captions.txt").write_text("\n".join(CAPTIONS))
    (tmp_path / "page.html").write_text("<title>Read our news</title>" + "".join(f"<h2>{text}</h2>" for text in HEADLINES))
    context = {"heading": "A dog on a lead", "heading_kind": "h1"}
    rows = [{"text": f"A dog on a lead, {n}", "verdict": "drop", "site": f"s{n}.test", "context": context} for n in range(5)]
    rows += [{"text": f"A horse on a lead, {n}", "verdict": "keep", "site": f"t{n}.test", "context": {}} for n in range(5)]
    (tmp_path / "labelled.jsonl").write_text("\n".join(map(json.dumps, rows)))
    return tmp_path


def trained(files: Path, name: str) -> Path:
    out = files / name
    pages, labelled = [str(files / "page.html")], [files / "labelled.jsonl"]
    train([files / "captions.txt"], [], pages, labelled, out, date="2020-01-01", command="hearsight train-description")
    return out


def test_equal_examples_give_equal_bytes_that_hold_no_text_and_the_score_separates(files: Path) -> None:
    first, second = trained(files, "first.json"), trained(files, "second.json")
    assert first.read_bytes() == second.read_bytes()
    content = json.loads(first.read_text())
    assert content["trained"]["examples"]["captions"] == len(CAPTIONS)
    assert content["trained"]["examples"]["labelled keep"] == 5
    assert {"with_page", "without_page"} <= set(content["trained"]["cross_validation"])
    assert not any(word in first.read_text() for word in ("horse", "beach", "Election", ".test"))
    model = read_model(first)
    for caption, headline in zip(CAPTIONS, HEADLINES, strict=True):
        described, headed = EnglishParser().compute_many([caption, headline])
        assert model.score(model.features(described, None)) > model.score(model.features(headed, None))
    (parse,) = EnglishParser().compute_many(["A child on a lead"])
    assert model.score(model.features(parse, Context(heading="x", heading_kind="h1"))) < model.score(
        model.features(parse, Context())
    )


def test_the_command_prints_what_it_wrote(files: Path) -> None:
    page, out = files / "page.html", files / "out.json"
    sources = ("--captions", str(files / "captions.txt"), "--pages", str(page))
    done = hearsight("train-description", *sources, "--out", str(out), "--date", "2020-01-01", HEARSIGHT_WORDNET=str(EXTRACT))
    assert done.returncode == 0, done.stderr
    assert json.loads(out.read_text())["trained"]["examples"] == json.loads(done.stdout)["examples"]


def test_examples_of_one_verdict_are_refused(files: Path) -> None:
    with pytest.raises(HearsightError, match="one verdict"):
        train([files / "captions.txt"], [], [], [], files / "out.json", date="", command="")


def test_texts_of_a_page_are_read_once_each_and_labelled_texts_are_neither_varied_nor_drawn(files: Path) -> None:
    found = read_examples([files / "captions.txt"], [], [str(files / "page.html")], [files / "labelled.jsonl"])
    assert len({example.text for example in found}) == len(found)
    assert {example.kind for example in found if not example.positive} == {"labelled", "title", "heading"}
    assert [example.text for example in found if example.kind == "labelled"] == [
        *(f"A dog on a lead, {n}" for n in range(5)),
        *(f"A horse on a lead, {n}" for n in range(5)),
    ]
    assert all(vary(example) == example for example in found if example.kind == "labelled")


def test_a_published_caption_sometimes_gets_a_name_for_its_word_and_always_the_same() -> None:
    captions = [Example(f"Person {n} walks in the city", True, "published", "") for n in range(40)]
    varied = [vary(example).text for example in captions]
    assert varied == [vary(example).text for example in captions]
    assert 0 < sum("person" not in text.lower() for text in varied) < 40


def test_ratios_judge_a_group_without_having_read_it_and_have_only_words_of_the_dictionary(files: Path) -> None:
    told = [Example(f"A dog and Zanthor {n}", True, "captions", f"site{n}") for n in range(90)]
    told += [Example(f"A horse of Zanthor {n}", False, "link", f"site{n}") for n in range(30)]
    ratios = WordRatios([*told, Example("A bird " * 90, True, "labelled", "")])
    whole = ratios.without(None)
    assert whole[word_key("dog")] > 0 > whole[word_key("horse")]
    assert not {word_key(word) for word in ("zanthor", "bird", "7")} & whole.keys()
    fold = fold_of("site0")
    rest = [example for example in told if fold_of(example.group) != fold]
    assert len(rest) < len(told) and ratios.without(fold) == WordRatios(rest).without(None)
    grouped = group_ratios(whole)
    assert {int(key, 16): float(ratio) for ratio, keys in grouped.items() for key in keys.split()} == {
        key: ratio for key, ratio in whole.items() if ratio
    }


def test_of_each_kind_but_the_labelled_a_number_is_drawn_that_does_not_depend_on_their_order(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("components.tools.train_description.examples.MOST", 5)
    examples = [Example(f"{kind} {n}", kind != "link", kind, "") for kind in ("labelled", "captions", "link") for n in range(9)]
    drawn = draw(examples)
    assert [sum(example.kind == kind for example in drawn) for kind in ("labelled", "captions", "link")] == [9, 5, 5]
    assert {example.text for example in draw(examples[::-1])} == {example.text for example in drawn}
