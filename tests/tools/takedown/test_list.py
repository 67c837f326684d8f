"""The takedown list: what it covers, what it says, what it refuses."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.tools.takedown.file_search import Matcher
from components.tools.takedown.listing import add, find_listed_settings
from components.web.takedown_list import EMPTY_LIST, NAME, Takedown, hash_value, read_takedown

HOST = st.from_regex(r"[a-z]([a-z0-9-]{0,8}[a-z0-9])?(\.[a-z]([a-z0-9-]{0,8}[a-z0-9])?){1,3}", fullmatch=True)


def listed(root, **what: str) -> Takedown:
    for kind, value in what.items():
        add(root, kind, value)
    return read_takedown(root / NAME)


def test_a_missing_and_an_empty_list_contain_no_item(tmp_path):
    assert not read_takedown(tmp_path / NAME)
    (tmp_path / NAME).write_text("")
    assert not read_takedown(tmp_path / NAME) and not EMPTY_LIST.url("http://a.sample/")


def test_a_host_matches_its_pages_ports_and_subdomains_and_no_other_host(tmp_path):
    taken = listed(tmp_path, host="Gimp.Sample.")
    for url in ("http://gimp.sample/", "https://GIMP.sample:8080/a?b", "http://www.deep.gimp.sample/x", "//gimp.sample/a"):
        assert taken.url(url), url
    for url in (
        "http://sample/",
        "http://notgimp.sample/",
        "http://gimp.sample.org/",
        "http://a.b/?u=http://gimp.sample/",
        "gimp",
    ):
        assert not taken.url(url), url


def test_a_top_level_domain_matches_no_host_below_it(tmp_path):
    entry, _ = add(tmp_path, "host", "gimp.sample")
    taken = Takedown([replace(entry, sha256=hash_value(entry.salt, "host", "sample"))])  # as older lists may have it
    assert taken.url("http://sample/a") and not taken.url("http://gimp.sample/")


def test_a_url_matches_its_spellings_and_no_other_page(tmp_path):
    taken = listed(tmp_path, url="http://A.sample/ü b/../c?x=1#top")
    assert taken.url("https://a.sample/c?x=1") and taken.url("http://a.sample:80/c?x=1#else")
    assert not taken.url("http://a.sample/c") and not taken.url("http://a.sample/c?x=1&y") and not taken.owner("c")


def test_an_owner_matches_in_any_case_with_or_without_an_at_sign(tmp_path):
    taken = listed(tmp_path, owner="@Some.Body")
    assert taken.owner("some.body ") and not taken.owner("somebody") and not taken.url("http://some.body/")


def test_the_list_stores_hashes_and_each_item_once(tmp_path):
    first, new = add(tmp_path, "host", "gimp.sample", "asked by mail")
    again, second = add(tmp_path, "host", "GIMP.sample")
    assert new and not second and again == first
    add(tmp_path, "owner", "ann")
    text = (tmp_path / NAME).read_text()
    assert len(text.splitlines()) == 2 and "gimp" not in text and "ann" not in text
    assert len({entry.salt for entry in read_takedown(tmp_path / NAME).entries}) == 1


@pytest.mark.parametrize(
    ("kind", "value"),
    [
        ("host", "http://a.b/"),
        ("host", "a b"),
        ("host", ""),
        ("host", "sample"),
        ("host", "*.SAMPLE."),
        ("url", "gimp.sample"),
        ("url", "ftp://a/b"),
        ("owner", " @ "),
    ],
)
def test_an_invalid_item_gives_a_one_line_error_and_writes_no_file(tmp_path, kind, value):
    with pytest.raises(HearsightError, match=f"is no {kind}"):
        add(tmp_path, kind, value)
    assert not (tmp_path / NAME).exists()


@pytest.mark.parametrize("host", ["localhost", "localhost:8080", "127.1", "[::1]", "::1", "a.b"])
def test_a_host_of_this_machine_and_addresses_of_numbers_can_be_listed(tmp_path, host):
    assert add(tmp_path, "host", host)[1] and read_takedown(tmp_path / NAME).url(f"http://{'[::1]' if host == '::1' else host}/")


@pytest.mark.parametrize("line", ["{", "[]", "{}", '{"kind": "page", "salt": "", "sha256": "", "date": ""}'])
def test_a_damaged_list_is_an_error_that_names_the_line(tmp_path, line):
    (tmp_path / NAME).write_text("\n" + line + "\n")
    with pytest.raises(HearsightError, match="line 2 is not a takedown entry"):
        read_takedown(tmp_path / NAME)


@given(host=HOST, other=st.text(max_size=40))
def test_a_name_of_any_text_can_be_requested(tmp_path_factory, host, other):
    taken = listed(tmp_path_factory.mktemp("list"), host=host)
    assert taken.url(f"http://{host}/{other}")
    for url in (other, f"http://{other}", f"//{other}/", f"http://x{other}.{host}"):
        assert isinstance(taken.url(url), str)
    assert taken.mask(f"http://{host}/{other}").startswith("takedown:")


def test_parameters_with_a_listed_item_are_reported(tmp_path):
    taken = listed(tmp_path, host="a.sample", owner="english@b.sample")
    params = {"english": {"crawl": {"source": {"seeds": ["http://a.sample/", "http://b.sample/"], "depth": 3}}}}
    assert list(find_listed_settings(params, taken)) == ["english.crawl.source.seeds"]
    assert list(find_listed_settings({"accounts": ["https://b.sample/@English"]}, taken)) == ["accounts"]


def test_an_image_of_a_folder_is_listed_as_records_name_it(tmp_path):
    taken = listed(tmp_path, url="file:animals/a yak.png")
    assert taken.url("file:animals/a%20yak.png") and not taken.url("file:animals/a%20yak.png.bak")
    assert Matcher(taken).find_in_bytes(b'{"image_url":"file:animals/a%20yak.png"}') == {"file:animals/a%20yak.png"}
    for other in ("file:///animals/yak.png", "file:", "http://file/animals/a%20yak.png"):
        assert not taken.url(other)


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_list_that_an_editor_saved_again_contains_the_same_items(tmp_path, encoding):
    before = listed(tmp_path, host="gimp.sample")
    path = tmp_path / NAME
    path.write_bytes(path.read_text().replace("\n", "\r\n").encode(encoding))
    assert read_takedown(path).entries == before.entries
    assert len(listed(tmp_path, host="other.sample").entries) == 2 and path.read_bytes().startswith(b"{")
