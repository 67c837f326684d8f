"""A table of captions and local images: valid rows become features, others ledger rows, a wrong file is a one-line error."""

from __future__ import annotations

from importlib import import_module

import pytest

from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.stage_output import StageOutput
from components.stages import extract_features, split
from components.stages import filter as filtering
from components.stages.crawl.sources.layouts import LAYOUTS, layout_named
from components.stages.crawl.sources.layouts.tsv import CaptionedFiles
from components.tracking.explain import explain
from tests.support import make_stage
from tests.support.crawl.fixture_web import drawn_image
from tests.support.crawl.tables import CAPTIONS, SCENES, captions, crawled, pets, rules
from tests.support.features import ENCODER
from tests.support.filter.subjects import PAPER
from tests.support.knowledge.dictionary import EXTRACT
from tests.support.settings_files import copy_settings

__all__ = ["crawled"]


@pytest.mark.long
@pytest.mark.parametrize("ends", ["\n", "\r\n"])
@pytest.mark.parametrize("header", ["", "caption\tpath", "\ufeffCaption\tPath"])
def test_rows_are_kept_with_or_without_a_header_and_with_either_line_end(crawled, tmp_path, ends, header):
    pets(tmp_path / "pets", ends, header)
    output = crawled("pets/captions.tsv")
    assert captions(output) == CAPTIONS and rules(output) == []
    row = output.table().to_pylist()[0]
    assert row["image_url"] == "file:images/0%20%C3%BC.jpg" and (row["language"], row["host"]) == ("en", "")
    assert output.read_media(row["media"]) == (tmp_path / "pets/images/0 ü.jpg").read_bytes()


def test_an_unusable_row_is_a_ledger_row(crawled, tmp_path):
    more = "\n".join(
        [
            "\timages/0 ü.jpg",
            "a lost image\timages/lost.jpg",
            "no tab here",
            "no path\t",
            "a picture of another folder\t../secret.jpg",
            "a picture of the web\thttps://example.org/a.jpg",
            "images/0 ü.jpg\tthe wrong way round",
            "one\ttwo\tthree",
            "",
        ]
    )
    pets(tmp_path / "pets", more=more)
    (tmp_path / "secret.jpg").write_bytes(drawn_image(SCENES[0]))
    output = crawled("pets/captions.tsv")
    assert captions(output) == CAPTIONS
    assert rules(output) == [
        "empty_alt", "missing_file", "missing_field", "missing_field", "outside_folder", "bad_row", "bad_row", "missing_field",
    ]  # fmt: skip


def test_paths_are_relative_to_the_image_folder_if_set(crawled, tmp_path):
    table = pets(tmp_path / "pets")
    table.rename(tmp_path / "captions.tsv")
    assert captions(crawled("captions.tsv", image_folder="pets")) == CAPTIONS


def test_tables_in_several_folders_name_images_relative_to_themselves(crawled, tmp_path):
    pets(tmp_path / "mine" / "a")
    pets(tmp_path / "mine" / "b")
    output = crawled("mine/*/captions.tsv")
    assert captions(output) == CAPTIONS * 2
    assert {row["image_url"].split("/")[0] for row in output.table().to_pylist()} == {"file:a", "file:b"}


def test_an_absolute_table_path_does_not_appear_in_image_addresses(crawled, tmp_path):
    table = pets(tmp_path / "pets")
    output = crawled(str(table))
    assert captions(output) == CAPTIONS
    assert output.table()["image_url"][0].as_py() == "file:images/0%20%C3%BC.jpg"
    pets(tmp_path / "more")
    with pytest.raises(HearsightError, match="some files by relative and others by absolute paths"):
        crawled(str(table), "more/captions.tsv", snapshot="mixed")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", r"captions\.tsv: holds no rows"),
        (b"caption\tpath\n", r"captions\.tsv: holds no rows"),
        (b"A kite\nA car\n", r"captions\.tsv: line 1: is not of the layout 'tsv': 1 field.* a line is caption<TAB>path"),
        (b"A kite,images/0.jpg\n", r"line 1: is not of the layout 'tsv': 1 field"),
        ("caption\tpath\nA kite\timages/0.jpg".encode("utf-16")[:-1], r"line 2: is not UTF-8 text: part of a character"),
        ("Un caf\u00e9\timages/0.jpg\n".encode("latin-1"), r"line 1: is not UTF-8 text: byte 0xe9"),
        (b"A kite\thttps://example.org/0.jpg\n", r"is a web address \(layout: cc3m\)"),
        (b"images/0.jpg\tA kite\n", r"'images/0\.jpg' is where the caption belongs"),
        (
            b"A kite\timage/0.jpg\n",
            r"has none of the 1 images that the table names, the first being 'image/0\.jpg' .* relative",
        ),
    ],
)
def test_an_invalid_table_is_a_one_line_error_with_location_and_hint(crawled, tmp_path, content, message):
    (tmp_path / "pets").mkdir()
    (tmp_path / "pets" / "captions.tsv").write_bytes(content)
    with pytest.raises(HearsightError, match=message) as caught:
        crawled("pets/captions.tsv")
    assert "\n" not in str(caught.value) and " — " in str(caught.value)


def test_a_corrected_table_can_be_read_into_the_same_snapshot(crawled, tmp_path):
    table = pets(tmp_path / "pets")
    right = table.read_text(encoding="utf-8")
    table.write_text(right.replace("images/", "image/"), encoding="utf-8")
    with pytest.raises(HearsightError, match="has none of the 6 images"):
        crawled("pets/captions.tsv")
    table.write_text(right, encoding="utf-8")
    assert captions(crawled("pets/captions.tsv")) == CAPTIONS


def test_every_registered_name_is_that_of_its_class():
    assert {name: layout_named(name).name for name in LAYOUTS} == {name: name for name in LAYOUTS}
    assert isinstance(layout_named("tsv"), CaptionedFiles)


def test_explain_accepts_the_file_and_the_address_of_an_image(crawled, tmp_path):
    pets(tmp_path / "pets")
    key = crawled("pets/captions.tsv").table()["key"][0].as_py()
    copy_settings(tmp_path)
    graph = load_graph(tmp_path)
    # The dataset of these tests is none of params.yaml's.
    graph.params["chain"]["crawl"]["pets"] = {}
    for what in (str(tmp_path / "pets/images/0 ü.jpg"), "images/0 ü.jpg", "file:images/0%20%C3%BC.jpg"):
        (history,) = explain(graph, what)
        assert history.key == key and history.events[0].detail.endswith("in pets/captions.tsv at 2")


@pytest.mark.long
def test_a_table_passes_the_filter_and_becomes_features(crawled, tmp_path, monkeypatch):
    monkeypatch.setenv("HEARSIGHT_WORDNET", str(EXTRACT))
    pets(tmp_path / "pets")
    records = crawled("pets/captions.tsv")

    def run(module, name: str, params, **inputs: StageOutput) -> StageOutput:
        stage = make_stage(tmp_path, name, "pets", params, inputs)
        import_module(f"{module.__name__}.run").run(stage)
        stage.finish()
        return StageOutput(stage.out)

    filtered = run(filtering, "filter", PAPER.model_copy(update={"sides_over": 99, "require": []}), input=records)
    assert filtered.ledger().num_rows == len(CAPTIONS)
    parted = run(split, "split", split.ByText(seed=1, validation=0.2, test=0.2), input=records)
    settings = {"wording": "caption", "encoder": ENCODER, "views": 0, "crops": "square", "least_area": 0.5, "centre": False}
    settings |= {"grid": False, "thumbnail": 32, "thumbnails": "all"}
    features = run(
        extract_features, "extract_features", extract_features.Params.model_validate(settings), input=parted, media=records
    )
    assert sorted(features.table()["key"].to_pylist()) == sorted(records.table()["key"].to_pylist())
    assert all(features.read_media(media) for media in features.table()["media"].to_pylist())
