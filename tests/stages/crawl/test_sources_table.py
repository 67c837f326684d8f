"""Existing sets: each published layout becomes records, rows that do not fit become ledger rows."""

from __future__ import annotations

import gzip

import pytest

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.tracking.explain import explain
from tests.support.crawl import sets
from tests.support.crawl.sets import dropped, records
from tests.support.settings_files import copy_settings


def test_conceptual_captions_rows_are_fetched_and_kept_with_their_row_number(table, tmp_path):
    sets.cc3m(tmp_path / "train.tsv")
    output = table("cc3m", "train.tsv")
    assert records(output) == [
        ("a red kite flies over the water", f"{sets.WEB}/0000.jpg", 1),
        ("the car is parked in the sand", f"{sets.WEB}/0002.jpg", 2),
    ]
    for row in output.table().to_pylist():
        assert (row["page_url"], row["host"], row["archive"], row["language"]) == ("", "meadow.sample", "train.tsv", "en")
        assert sha256_bytes(output.read_media(row["media"])) == row["image_sha256"]


def test_invalid_rows_become_ledger_rows(table, tmp_path):
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


def test_cc12m_is_read_gzipped_and_by_glob(table, tmp_path):
    sets.cc12m(tmp_path / "b.tsv")
    packed = tmp_path / "a.tsv.gz"
    packed.write_bytes(gzip.compress((tmp_path / "b.tsv").read_bytes().replace(b"kite", b"balloon")))
    output = table("cc12m", "?.tsv*")
    assert [row["archive"] for row in output.table().to_pylist()] == ["a.tsv.gz"] * 2 + ["b.tsv"]
    assert dropped(output) == {2: "duplicate_pair"}
    packed.write_bytes(packed.read_bytes()[:-9])
    with pytest.raises(HearsightError, match=r"a\.tsv\.gz: is not a complete gzip file"):
        table("cc12m", "a.tsv.gz", snapshot="cut")


def test_coco_images_come_from_the_web_or_a_folder(table, tmp_path):
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


def test_a_missing_file_of_flickr8k_is_a_ledger_row(table, tmp_path):
    sets.images(tmp_path / "Flicker8k_Dataset")
    sets.flickr8k(tmp_path / "Flickr8k.token.txt")
    output = table("flickr8k", "Flickr8k.token.txt", image_folder="Flicker8k_Dataset")
    assert output.table().num_rows == 3 and dropped(output) == {4: "missing_file"}
    assert "(caption 1)" in output.ledger()["detail"].to_pylist()[1]


def test_both_file_formats_of_flickr30k_are_read(table, tmp_path):
    sets.images(tmp_path / "images")
    sets.flickr8k(tmp_path / "results_20130124.token")
    sets.flickr30k_csv(tmp_path / "results.csv")
    token = table("flickr30k", "results_20130124.token", image_folder="images")
    assert token.table().num_rows == 3
    csv = table("flickr30k", "results.csv", image_folder="images", snapshot="csv")
    assert dropped(csv) == {4: "missing_field"}
    assert [alt for alt, _, _ in records(csv)] == ["A red kite flies over blue water .", "A blue car , parked | in the desert ."]


def test_the_karpathy_split_is_in_the_ledger(table, tmp_path):
    sets.images(tmp_path / "images")
    sets.karpathy(tmp_path / "dataset_flickr8k.json")
    output = table("karpathy", "dataset_flickr8k.json", image_folder="images")
    assert [detail.rpartition(" (")[2] for detail in output.ledger()["detail"].to_pylist()] == [
        "split train)",
        "split train)",
        "split test)",
    ]


@pytest.mark.long
@pytest.mark.parametrize("form", ["list", "object", "splits"])
def test_pracegover_is_read_with_cleaned_and_raw_captions(table, tmp_path, form):
    sets.images(tmp_path / "images")
    sets.pracegover(tmp_path / "dataset.json", form)
    kept = table("pracegover", "dataset.json", image_folder="images", language="pt")
    assert dropped(kept) == {3: "missing_field"}
    assert [alt for alt, _, _ in records(kept)] == ["Na foto, uma pipa vermelha voa sobre o mar.", "Um carro azul no deserto."]
    raw = table("pracegover_raw", "dataset.json", image_folder="images", language="pt", snapshot="raw")
    assert records(raw)[0][0].startswith("Bom dia! ☀️ #PraCegoVer Na foto")


def test_explain_shows_table_and_row(table, tmp_path):
    sets.cc3m(tmp_path / "train.tsv")
    key = table("cc3m", "train.tsv").table()["key"][1].as_py()
    copy_settings(tmp_path)
    (history,) = explain(load_graph(tmp_path), key)
    assert history.events[0].detail == f"{sets.WEB}/0002.jpg in train.tsv at 2"
