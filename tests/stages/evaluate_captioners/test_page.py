"""The page is self-contained, accessible by keyboard and screen reader, and agrees with the records."""

from __future__ import annotations

import itertools
from collections import Counter
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.stages.evaluate_captioners import page
from components.stages.evaluate_captioners.results import ModelCaption
from components.stages.evaluate_captioners.scoring import ObjectMentions
from tests.stages.evaluate_captioners.running import compared
from tests.stages.evaluate_captioners.world import PARAMS, cell, prepared, squares


class Page(HTMLParser):
    """What a page is made of, and whether every tag is closed."""

    VOID = frozenset({"meta", "img", "br", "link", "input", "hr", "line", "rect", "path"})

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict]] = []
        self.text = ""
        self.feed(text)
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in self.VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.text += data

    def all(self, *names):
        return [attrs for tag, attrs in self.tags if tag in names]


@pytest.fixture(scope="module")
def parsed(evaluated):
    return Page(evaluated[2][0].file("compare.html").read_text())


@pytest.mark.long
def test_the_page_needs_no_other_file_no_network_and_no_script(parsed):
    assert not parsed.all("script", "link", "iframe", "object")
    assert parsed.all("img") and all(image["src"].startswith("data:image/jpeg;base64,") for image in parsed.all("img"))
    assert all(anchor["href"].startswith("#") for anchor in parsed.all("a"))
    assert not any(name.startswith("on") for _, attrs in parsed.tags for name in attrs)


def test_every_link_has_a_target_and_every_id_is_unique(parsed):
    ids = Counter(attrs["id"] for _, attrs in parsed.tags if "id" in attrs)
    assert max(ids.values()) == 1
    assert {anchor["href"][1:] for anchor in parsed.all("a")} <= set(ids)
    result = [
        word
        for _, attrs in parsed.tags
        for name in ("aria-labelledby", "aria-describedby")
        for word in (attrs.get(name) or "").split()
    ]
    assert set(result) <= set(ids)


def test_images_tables_and_regions_have_names(parsed):
    assert all(image["alt"].startswith("Image with the reference: ") for image in parsed.all("img"))
    assert all("scope" in head for head in parsed.all("th")) and parsed.all("html")[0]["lang"] == "en"
    wide = [attrs for attrs in parsed.all("div") if attrs.get("class") == "wide"]
    assert wide and all(attrs["tabindex"] == "0" and attrs["role"] == "region" and attrs["aria-label"] for attrs in wide)
    levels = [int(tag[1]) for tag, _ in parsed.tags if tag in ("h1", "h2", "h3", "h4")]
    assert levels[0] == 1 and all(after <= before + 1 for before, after in itertools.pairwise(levels))


def test_captions_are_marked_with_their_language(parsed):
    assert {attrs.get("lang") for attrs in parsed.all("dd", "span")} >= {"en", "pt"}


def test_sets_of_the_same_images_share_their_examples(parsed):
    # Three of each set; those of english and cleaned are the same.
    assert parsed.text.count("From english and cleaned") == 3 and parsed.text.count("From portuguese") == 3


def test_captions_and_references_are_text_and_never_markup(tmp_path, networks):
    evil = "<script>alert(1)</script> & \"'"
    inputs = {"input": prepared(tmp_path, "english", [*squares()[:5], [evil]])}
    inputs["english-small1x1"] = cell(tmp_path, "english", "small1x1", {0: dict.fromkeys(range(8), evil)})
    result = Page(compared(tmp_path, inputs)[0].file("compare.html").read_text())
    assert not result.all("script") and result.text.count(evil) >= 2


@pytest.mark.long
def test_without_examples_no_image_is_shown(evaluated, tmp_path):
    output, _, _ = compared(tmp_path, evaluated[1], PARAMS.model_copy(update={"examples": 0}))
    result = Page(output.file("compare.html").read_text())
    assert not result.all("img") and "evaluate_captioners.examples" in result.text


PLACES = st.lists(st.tuples(st.integers(-2, 30), st.integers(-2, 30)), max_size=5)


@given(st.text(max_size=25), PLACES)
def test_marking_never_changes_a_caption(caption, places):
    result = page.split_caption(ModelCaption(caption, ObjectMentions(1, [], places)))
    assert "".join(piece.text for piece in result) == caption and all(piece.text for piece in result)


def test_a_hallucinated_object_is_marked_in_its_caption():
    result = ModelCaption("a dog and a cake", ObjectMentions(2, ["cake"], [(12, 16)]))
    assert page.split_caption(result) == [("a dog and a ", False), ("cake", True)]


def test_the_table_shows_lengths_and_hallucinated_objects(parsed):
    assert parsed.text.count("captions with any") == 3 and "john 4" in parsed.text
