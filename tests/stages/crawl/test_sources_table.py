"""Existing sets: each published layout becomes records, misfits become ledger rows, another layout is one clear line."""

from __future__ import annotations

import gzip
import json
import os
import shutil
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.stage_output import StageOutput
from components.stages.crawl.sources.layouts import layout_named
from components.stages.crawl.sources.table import row_to_page
from components.tracking.explain import explain
from tests.stages.crawl import sets
from tests.stages.crawl.conftest import crawled
from tests.support import PROJECT


@pytest.fixture
def table(stage):
    """Crawls one set in a folder of the test's own."""

    def crawl(layout: str, *names: str, **changes) -> StageOutput:
        values = {"source": "table", "seeds": [], "hosts": [], "layout": layout, "inputs": list(names), "language": "en"}
        return crawled(stage(**(values | changes)))

    return crawl


def dropped(output: StageOutput) -> dict[int, str]:
    """Row → rule, of the rows that were dropped."""
    rows = [row for row in output.ledger().to_pylist() if row["verdict"] == "dropped"]
    return {int(row["detail"].rpartition(" at ")[2].split()[0]): row["rule"] for row in rows}


def records(output: StageOutput) -> list[tuple[str, str, int]]:
    return [(row["alt"], row["image_url"], row["archive_offset"]) for row in output.table().to_pylist()]


def test_conceptual_captions_rows_are_fetched_and_kept_with_their_place(table, tmp_path):
    sets.cc3m(tmp_path / "train.tsv")
    output = table("cc3m", "train.tsv")
    assert records(output) == [
        ("a red kite flies over the water", f"{sets.WEB}/0000.jpg", 1),
        ("the car is parked in the sand", f"{sets.WEB}/0002.jpg", 2),
    ]
    for row in output.table().to_pylist():
        assert (row["page_url"], row["host"], row["archive"], row["language"]) == ("", "meadow.sample", "train.tsv", "en")
        assert sha256_bytes(output.read_media(row["media"])) == row["image_sha256"]


def test_rows_that_do_not_fit_are_ledger_rows(table, tmp_path):
    web = sets.WEB
    extra = b"\n".join(
        [
            b"no address",
            b"caf\xe9 au lait\t" + f"{web}/0006.jpg".encode(),
            f"three fields\t{web}/0006.jpg\tof them".encode(),
            b"an address that is none\tftp://meadow.sample/x.jpg",
            b"",
            b"\t" + f"{web}/0006.jpg".encode(),
            b"a red kite flies over the water\t" + f"{web}/0000.jpg".encode(),
            b"x" * 1_100_000 + b"\t" + f"{web}/0006.jpg".encode(),
            "a cup \u2014 \U0001f375 &amp; saucer\u200b\t".encode() + f"{web}/0006.jpg".encode() + b"\r",
            b"a host that is none\thttp://[::1/x.jpg",
        ]
    )
    sets.cc3m(tmp_path / "train.tsv", extra)
    output = table("cc3m", "train.tsv")
    assert dropped(output) == {
        3: "missing_field",
        4: "bad_encoding",
        5: "missing_field",
        6: "unusable_url",
        7: "missing_field",
        8: "empty_alt",
        9: "duplicate_pair",
        10: "row_too_long",
        12: "unusable_url",
    }
    assert records(output)[2:] == [("a cup \u2014 \U0001f375 & saucer", f"{web}/0006.jpg", 11)]
    rows = output.ledger().to_pylist()
    assert len({row["key"] for row in rows}) == len(rows) == 12
    assert next(row["value"] for row in rows if row["rule"] == "bad_encoding") == "byte 0xe9 at 3"


def test_a_label_row_of_unequal_lengths_is_dropped(table, tmp_path):
    sets.cc3m_labels(tmp_path / "labels.tsv")
    output = table("cc3m_labels", "labels.tsv")
    assert dropped(output) == {2: "unequal_labels", 3: "bad_row"} and output.table().num_rows == 1


def test_cc12m_gzipped_and_a_glob_over_both(table, tmp_path):
    sets.cc12m(tmp_path / "b.tsv")
    packed = tmp_path / "a.tsv.gz"
    packed.write_bytes(gzip.compress((tmp_path / "b.tsv").read_bytes().replace(b"kite", b"balloon")))
    output = table("cc12m", "?.tsv*")
    assert [row["archive"] for row in output.table().to_pylist()] == ["a.tsv.gz"] * 2 + ["b.tsv"]
    assert dropped(output) == {2: "duplicate_pair"}
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(HearsightError, match=r"a\.tsv\.gz: is not a complete gzip file"):
        table("cc12m", "a.tsv.gz", snapshot="cut")


def test_coco_over_the_web_and_from_a_folder(table, tmp_path):
    sets.coco(tmp_path / "captions_val2017.json")
    over_web = table("coco", "captions_val2017.json")
    assert records(over_web) == [
        ("A red kite above the sea.", f"{sets.WEB}/0000.jpg", 1),
        ("A car stands in the desert.", f"{sets.WEB}/0002.jpg", 2),
        ("Somebody is flying a kite.", f"{sets.WEB}/0000.jpg", 3),
    ]
    assert dropped(over_web) == {4: "unknown_image"}
    folder = sets.images(tmp_path / "val2017", ("000000397133.jpg",))
    local = table("coco", "captions_val2017.json", image_folder="val2017", snapshot="local")
    assert dropped(local) == {2: "missing_file", 4: "unknown_image"}
    assert [url for _, url, _ in records(local)] == ["file:000000397133.jpg"] * 2
    row = local.table().to_pylist()[0]
    assert local.read_media(row["media"]) == (folder / "000000397133.jpg").read_bytes() and row["host"] == ""


def test_flickr8k_and_its_missing_file(table, tmp_path):
    sets.images(tmp_path / "Flicker8k_Dataset")
    sets.flickr8k(tmp_path / "Flickr8k.token.txt")
    output = table("flickr8k", "Flickr8k.token.txt", image_folder="Flicker8k_Dataset")
    assert output.table().num_rows == 3 and dropped(output) == {4: "missing_file"}
    assert "(caption 1)" in output.ledger()["detail"].to_pylist()[1]


def test_flickr30k_in_both_spellings(table, tmp_path):
    sets.images(tmp_path / "images")
    sets.flickr8k(tmp_path / "results_20130124.token")
    sets.flickr30k_csv(tmp_path / "results.csv")
    token = table("flickr30k", "results_20130124.token", image_folder="images")
    assert token.table().num_rows == 3
    csv = table("flickr30k", "results.csv", image_folder="images", snapshot="csv")
    assert dropped(csv) == {4: "missing_field"}
    assert [alt for alt, _, _ in records(csv)] == ["A red kite flies over blue water .", "A blue car , parked | in the desert ."]


def test_karpathy_keeps_the_split_in_the_ledger(table, tmp_path):
    sets.images(tmp_path / "images")
    sets.karpathy(tmp_path / "dataset_flickr8k.json")
    output = table("karpathy", "dataset_flickr8k.json", image_folder="images")
    assert [detail.rpartition(" (")[2] for detail in output.ledger()["detail"].to_pylist()] == [
        "split train)",
        "split train)",
        "split test)",
    ]


@pytest.mark.parametrize("as_object", [False, True])
def test_pracegover_cleaned_and_raw(table, tmp_path, as_object):
    sets.images(tmp_path / "images")
    sets.pracegover(tmp_path / "dataset.json", as_object=as_object)
    kept = table("pracegover", "dataset.json", image_folder="images", language="pt")
    assert dropped(kept) == {3: "missing_field"}
    assert [alt for alt, _, _ in records(kept)] == ["Na foto, uma pipa vermelha voa sobre o mar.", "Um carro azul no deserto."]
    raw = table("pracegover_raw", "dataset.json", image_folder="images", language="pt", snapshot="raw")
    assert records(raw)[0][0].startswith("Bom dia! ☀️ #PraCegoVer Na foto")


def test_nothing_outside_the_image_folder_is_read(table, tmp_path):
    folder = sets.images(tmp_path / "set" / "images")
    secret = tmp_path / "set" / "secret.jpg"
    shutil.copy(folder / sets.NAMES[0], secret)
    (folder / "way-out.jpg").symlink_to(secret)
    (folder / "deep").symlink_to(tmp_path / "set")
    (folder / "loop.jpg").symlink_to("loop.jpg")
    (folder / "inside.jpg").symlink_to(sets.NAMES[1])
    os.mkfifo(folder / "pipe.jpg")
    (folder / "large.jpg").write_bytes(b"\xff" * 2_000_000)
    names = [
        "../secret.jpg",
        str(secret),
        "way-out.jpg",
        "deep/secret.jpg",
        "loop.jpg",
        "pipe.jpg",
        "large.jpg",
        "..",
        "x\0.jpg",
        "%2e%2e/secret.jpg",
        "inside.jpg",
        "x" * 300 + ".jpg",
    ]
    posts = [{"user": "u", "filename": name, "caption": f"Caption {at}.", "date": ""} for at, name in enumerate(names)]
    (tmp_path / "dataset.json").write_text(json.dumps(posts))
    output = table("pracegover", "dataset.json", image_folder="set/images", language="pt")
    assert [url for _, url, _ in records(output)] == ["file:inside.jpg"]
    rules = dropped(output)
    assert [rules[number] for number in (1, 2, 3, 4, 8, 9)] == ["outside_folder"] * 6
    assert [rules[number] for number in (5, 6, 10, 12)] == ["missing_file"] * 4 and rules[7] == "image_too_large"


def test_a_second_run_reads_neither_the_table_nor_the_images(table, tmp_path):
    sets.images(tmp_path / "images")
    sets.flickr8k(tmp_path / "tokens.txt")
    first = table("flickr8k", "tokens.txt", image_folder="images").digest
    shutil.rmtree(tmp_path / "images")
    (tmp_path / "tokens.txt").unlink()
    assert table("flickr8k", "tokens.txt", image_folder="images").digest == first


def test_a_changed_table_makes_no_other_records_of_a_complete_snapshot(table, tmp_path):
    sets.cc3m(tmp_path / "train.tsv")
    first = table("cc3m", "train.tsv").digest
    sets.cc3m(tmp_path / "train.tsv", f"a cup\t{sets.WEB}/0006.jpg\n".encode())
    assert table("cc3m", "train.tsv").digest == first
    with pytest.raises(HearsightError, match=r"made of other inputs or settings .* new name"):
        table("cc3m", "train.tsv", language="de")
    assert table("cc3m", "train.tsv", snapshot="next").table().num_rows == 3


@pytest.mark.parametrize(
    ("layout", "content", "message"),
    [
        (
            "cc12m",
            b"caption\thttp://meadow.sample/a.jpg\n",
            r"set\.x: line 1: is not of the layout 'cc12m': 'caption' is",
        ),
        (
            "cc3m",
            b"http://meadow.sample/a.jpg\tcaption\n" * 30,
            r"line 1: .*none of its first 20 lines fits — a line is caption",
        ),
        ("cc3m", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "byte 0x89 at 0"),
        ("cc3m_labels", b"caption\thttp://meadow.sample/a.jpg\n", "2 fields"),
        ("flickr8k", b"a.jpg,caption\n", "is not of the layout 'flickr8k': 1 field"),
        ("coco", b'{"images": [],\n "annotations": [}', r"set\.x: line 2: is not JSON"),
        ("coco", b'{"images": []}', "it has no list 'annotations'"),
        ("coco", b"[" * 100_000, "is not JSON|nests too deeply"),
        ("karpathy", b'{"images": [{"file_name": "a.jpg"}]}', "element 1: no 'filename'"),
        ("pracegover", b'"posts"', "it holds no posts"),
        ("pracegover", b'{"images": [], "annotations": []}', "element 1: list"),
        ("pracegover", b'\n["\xff"]', "line 2: is not JSON: it is not UTF-8"),
    ],
)
def test_a_file_of_another_layout_is_one_line_that_names_the_place(table, tmp_path, layout, content, message):
    (tmp_path / "set.x").write_bytes(content)
    (tmp_path / "images").mkdir()
    folder = "images" if layout_named(layout).has_files else ""
    with pytest.raises(HearsightError, match=message) as caught:
        table(layout, "set.x", image_folder=folder)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layout": "cc4m"}, "'cc4m' is no layout"),
        ({"inputs": []}, "inputs: is empty"),
        ({"inputs": ["no.tsv"]}, r"no\.tsv: is no file"),
        ({"inputs": ["no-*.tsv"]}, "no file matches"),
        ({"sample": 2}, "asks for 2 of 1 inputs"),
        ({"sample": -1}, "must not be negative"),
        ({"language": ""}, "is no language"),
        ({"seeds": ["http://meadow.sample/"]}, "source: table does not read it"),
        ({"image_folder": "web"}, "names images by address"),
        ({"layout": "flickr8k"}, "names images by file"),
        ({"layout": "flickr8k", "image_folder": "nowhere"}, "is not of the layout"),
        ({"source": "site"}, "seeds: is empty"),
        ({"source": "archives"}, "layout: is set, but source: archives does not read it"),
    ],
)
def test_settings_that_make_no_sense_are_one_line(table, tmp_path, changes, message):
    sets.cc3m(tmp_path / "train.tsv")
    values = {"layout": "cc3m", "inputs": ["train.tsv"]} | changes
    with pytest.raises(HearsightError, match=message) as caught:
        table(values.pop("layout"), *values.pop("inputs"), **values)
    assert "\n" not in str(caught.value)


def test_explain_tells_table_and_row(table, tmp_path):
    sets.cc3m(tmp_path / "train.tsv")
    key = table("cc3m", "train.tsv").table()["key"][1].as_py()
    for name in ("dvc.yaml", "params.yaml"):
        shutil.copy(PROJECT / name, tmp_path / name)
    (life,) = explain(load_graph(tmp_path), key)
    assert life.events[0].detail == f"{sets.WEB}/0002.jpg in train.tsv at 2"


LINE_LAYOUTS = ["cc3m", "cc3m_labels", "cc12m", "flickr8k", "flickr30k"]


@settings(max_examples=150, deadline=None)
@given(layout=st.sampled_from(LINE_LAYOUTS), lines=st.lists(st.binary(max_size=80) | st.text(alphabet="ab\t|#0 ", max_size=30)))
def test_any_lines_become_rows_or_one_clear_error(tmp_path_factory, layout, lines):
    path = tmp_path_factory.mktemp("lines") / "set"
    content = b"\n".join(line if isinstance(line, bytes) else line.encode() for line in lines)
    path.write_bytes(content)
    try:
        rows = list(layout_named(layout).rows(path, "set"))
    except HearsightError as error:
        assert str(error).startswith("set")
        return
    numbers = [row.number for row in rows]
    assert numbers == sorted(set(numbers)) and len(rows) in (content.count(b"\n"), content.count(b"\n") + 1)


@settings(max_examples=150, deadline=None)
@given(
    layout=st.sampled_from(["coco", "karpathy", "pracegover"]),
    content=st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["images", "annotations", "id", "image_id", "caption", "filename", "sentences", "raw", "user"]),
                inner,
            )
        ),
        max_leaves=20,
    ),
)
def test_any_json_becomes_rows_or_one_clear_error(tmp_path_factory, layout, content):
    path = tmp_path_factory.mktemp("json") / "set"
    path.write_text(json.dumps(content))
    try:
        rows = list(layout_named(layout).rows(path, "set"))
    except HearsightError as error:
        assert str(error).startswith("set: line 1")
        return
    pages = [row_to_page(row, "set", local=layout != "coco", language="en") for row in rows]
    assert Counter(page.offset for page in pages) == Counter(range(1, len(rows) + 1))


def test_a_million_bytes_on_one_line_take_no_more_memory_than_the_limit(tmp_path):
    path = tmp_path / "set.tsv"
    with path.open("wb") as handle:
        handle.truncate(300_000_000)
        handle.seek(0, 2)
        handle.write(f"\na kite\t{sets.WEB}/0000.jpg\n".encode())
    import tracemalloc

    tracemalloc.start()
    rows = list(layout_named("cc3m").rows(path, "set.tsv"))
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert [row.rule for row in rows] == ["row_too_long", ""] and peak < 10_000_000
