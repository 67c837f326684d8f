"""Exported posts: every field of a line reaches the record; any bytes at all: ``tests/fuzz``."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.stages.crawl.posts.exported import read_export
from tests.support import make_stage
from tests.support.crawl.crawls import crawled, posts_params
from tests.support.crawl.exported import TEXT, line
from tests.support.crawl.fixture_web import drawn_image
from tests.support.crawl.social import MEDIA, rows, rules


def write(path: Path, *lines) -> Path:
    path.write_bytes(b"".join((one if isinstance(one, bytes) else json.dumps(one).encode()) + b"\n" for one in lines))
    return path


def test_every_field_of_a_line_is_recorded(social, collect, tmp_path):
    write(tmp_path / "posts.jsonl", line(1), line(2, images=[{"url": f"{MEDIA}/00000002-0.jpg"}, {"url": "x", "type": "video"}]))
    output = collect(social.proxy, provider="jsonl", server="", inputs=["posts.jsonl"])
    first, second, third = rows(output)
    assert first["alt"] == TEXT and first["owner"] == "museu" and (first["position"], second["position"]) == (0, 1)
    assert (first["posted"], first["collected"]) == ("2020-05-06T10:08:09Z", "2020-05-07T00:00:00Z")
    assert (first["post"], first["language"], first["figcaption"]) == ("p1", "pt", "alt 0")
    assert (first["archive"], first["archive_offset"], third["archive_offset"]) == ("posts.jsonl", 1, 2)
    assert list(rules(output).values()) == ["video"] and first["width"] > 100
    again = collect("http://127.0.0.1:1", provider="jsonl", server="", inputs=["posts.jsonl"])
    assert rows(again) == [first, second, third]


def test_every_invalid_line_has_a_row_with_its_line_number(tmp_path):
    lacking = [
        {key: value for key, value in line(9).items() if key != name} for name in ("id", "url", "owner", "posted", "collected")
    ]
    wrong = [line(9) | {name: 5.5} for name in ("id", "url", "owner", "posted", "collected", "caption", "images", "visibility")]
    others = [b"{", b"\xff\xfe", b"[]", b"[" * 50_000, b'"x"', b"1" * 1_000_001]
    path = write(tmp_path / "x.jsonl", line(1), *lacking, *wrong, *others)
    result = list(read_export(path, "x.jsonl", ["pracegover"]))
    dropped_lines = [(page.offset, page.row["rule"]) for page in result if page.row]
    assert [number for number, _ in dropped_lines] == list(range(1, 1 + 1 + len(lacking) + len(wrong) + len(others)))
    names = [rule for _, rule in dropped_lines][1:]
    assert names == ["missing_field"] * 5 + ["wrong_type"] * 8 + [
        "not_json", "bad_encoding", "wrong_type", "not_json", "wrong_type", "row_too_long"
    ]  # fmt: skip


def test_unsuitable_posts_are_dropped_by_their_rules(tmp_path):
    changes = {
        "empty_caption": {"caption": " "},
        "no_hashtag": {"caption": "nada"},
        "hashtag_inside_word": {"caption": "x#pracegover"},
        "no_image": {"images": []},
        "video_post": {"images": [{"url": "v", "type": "video"}]},
        "not_public": {"visibility": "private"},
        "unusable_url": {"url": "ftp://x"},
    }
    path = write(tmp_path / "x.jsonl", *(line(number, **change) for number, change in enumerate(changes.values())))
    assert [page.row["rule"] for page in read_export(path, "x.jsonl", ["pracegover"])] == list(changes)


def test_a_repeated_post_is_recorded_once(social, collect, tmp_path):
    write(tmp_path / "a.jsonl", line(1), line(1))
    write(tmp_path / "b.jsonl", line(1))
    output = collect(social.proxy, provider="jsonl", server="", inputs=["*.jsonl"])
    assert len(rows(output)) == 2 and list(rules(output).values()) == ["duplicate_post"] * 2


def test_a_file_of_another_format_is_a_one_line_error(tmp_path):
    for content in (b"", b"\n\n", b"a,b\n" * 50, b"\x1f\x8bnot gzip"):
        path = tmp_path / "x.jsonl"
        path.write_bytes(content)
        with pytest.raises(HearsightError):
            list(read_export(path, "x.jsonl", ["pracegover"]))


def export(tmp_path: Path, folder: str, *images: dict, **changes):
    """Crawl a file of one post for each image, in ``folder`` with a readable image in ``fotos``, without any server."""
    (tmp_path / folder / "fotos").mkdir(parents=True, exist_ok=True)
    (tmp_path / folder / "fotos" / "um barco.jpg").write_bytes(drawn_image(("red", "kite", "on the blue sea")))
    write(tmp_path / folder / "posts.jsonl", *(line(number, images=[image]) for number, image in enumerate(images)))
    values = {"provider": "jsonl", "server": "", "inputs": [f"{folder}/posts.jsonl"], "web": "open", "contact": ""}
    return crawled(make_stage(tmp_path, "crawl", params=posts_params("", **(values | changes))))


def test_images_beside_the_posts_are_records_without_a_request_or_a_contact(tmp_path):
    output = export(tmp_path, "meu", {"file": "fotos/um barco.jpg", "alt": "Um barco", "url": f"{MEDIA}/lost.jpg"})
    (record,) = rows(output)
    assert (record["image_url"], record["figcaption"], record["owner"]) == ("file:fotos/um%20barco.jpg", "Um barco", "museu")
    assert record["page_url"] == "https://www.instagram.com/p/0/" and record["width"] > 100
    assert output.read_media(record["media"]) == (tmp_path / "meu" / "fotos" / "um barco.jpg").read_bytes()
    again = export(tmp_path, "meu", {"file": "fotos/um barco.jpg", "alt": "Um barco", "url": f"{MEDIA}/lost.jpg"})
    assert rows(again) == [record]


def test_posts_name_images_of_another_folder_that_is_set(tmp_path):
    export(tmp_path, "imagens", {"file": "fotos/um barco.jpg"})
    (tmp_path / "data").rename(tmp_path / "first")
    (record,) = rows(export(tmp_path, "meu", {"file": "um barco.jpg"}, image_folder="imagens/fotos"))
    assert record["image_url"] == "file:um%20barco.jpg"


def test_files_outside_the_folder_are_never_read(tmp_path):
    (tmp_path / "secret.jpg").write_bytes(drawn_image(("red", "kite", "on the blue sea")))
    (tmp_path / "meu" / "fotos").mkdir(parents=True)
    (tmp_path / "meu" / "fotos" / "link.jpg").symlink_to(tmp_path / "secret.jpg")
    names = ["fotos/um barco.jpg", "../secret.jpg", str(tmp_path / "secret.jpg"), "fotos/link.jpg", "fotos", "fotos/lost.jpg"]
    output = export(tmp_path, "meu", *({"file": name} for name in names), {"url": "file:///etc/passwd"}, {"url": "file:fotos/a"})
    assert [record["post"] for record in rows(output)] == ["p0"]
    assert sorted(row["rule"] for row in output.ledger().to_pylist() if row["rule"]) == [
        "missing_file", "missing_file", "outside_folder", "outside_folder", "outside_folder", "unusable_url", "unusable_url",
    ]  # fmt: skip


@given(st.text(max_size=30))
def test_any_name_of_a_file_gives_an_address_below_the_folder_or_none(tmp_path_factory, name):
    path = write(tmp_path_factory.mktemp("posts") / "x.jsonl", line(1, images=[{"file": name}]))
    pages = list(read_export(path, "meu/x.jsonl", ["pracegover"], "meu"))
    assert len(pages) == 1
    for candidate in pages[0].candidates:
        assert candidate.image_url is None or candidate.image_url.startswith("file:")
        assert not candidate.data_uri


def test_an_image_on_the_web_needs_a_contact_and_a_wrong_folder_is_named(tmp_path):
    with pytest.raises(HearsightError, match="contact: is empty"):
        export(tmp_path, "meu", {"file": "fotos/um barco.jpg"}, {"url": "https://example.org/a.jpg"})
    with pytest.raises(HearsightError, match=r"has none of the 1 images that the posts names, the first being 'a\.jpg'"):
        export(tmp_path, "other", {"file": "a.jpg"}, snapshot="day-2")
