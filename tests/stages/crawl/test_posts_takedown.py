"""A taken-down owner is not requested, and content of that owner alone is erased from the snapshots."""

from __future__ import annotations

from components.tools.takedown.caches import find_files
from components.tools.takedown.file_search import FileSearch, Matcher
from components.tools.takedown.listing import add
from components.web.store import FetchStore
from components.web.takedown_list import NAME, RULE, read_takedown
from tests.support.crawl.social import MEDIA, SERVER, Social, read_all_bytes, rows, rules


def populate(web: Social) -> None:
    for name, number in (("ana", 1), ("bia", 2)):
        web.person(name)
        web.post(name, number)
        web.post(name, number + 10)


def test_a_taken_down_owner_is_never_requested(social, collect, tmp_path):
    populate(social)
    add(tmp_path, "owner", "bia@social.sample")
    output = collect(social.proxy)
    assert {row["owner"] for row in rows(output)} == {"ana@social.sample"} and RULE in rules(output).values()
    assert not social.asked(lambda url: "/101" in url or f"{MEDIA}/00000002" in url)
    assert not any("bia" in str(row) for row in output.ledger().to_pylist())


def test_content_of_a_taken_down_owner_leaves_every_snapshot_and_other_content_stays(social, collect, tmp_path):
    populate(social)
    collect(social.proxy)
    social.post("ana", 30)
    social.post("bia", 31)
    collect(social.proxy, "day-2", "day-1")
    add(tmp_path, "owner", "bia@social.sample")
    search = FileSearch(Matcher(read_takedown(tmp_path / NAME)))
    assert [path for path, _ in find_files(tmp_path, search) if path.parent.name == "crawl.posts"]  # a purge finds it
    asked = len(social.log)
    output = collect("http://127.0.0.1:1", "day-2", "day-1")
    assert len(social.log) == asked and {row["owner"] for row in rows(output)} == {"ana@social.sample"} and len(rows(output)) == 3
    for day in ("day-1", "day-2"):
        with FetchStore(tmp_path / "data/store" / day) as store:
            assert store.verified_digest()
            urls = {entry.url for entry in store}
        assert not {url for url in urls if "accounts/101" in url or url in (f"{MEDIA}/00000002-0.jpg", f"{MEDIA}/00000012-0.jpg")}
        assert f"{MEDIA}/00000001-0.jpg" in urls
    left = read_all_bytes(tmp_path / "data/store")
    assert all(
        f"de número {number}<".encode() not in left and f"\\u00famero {number}<".encode() not in left for number in (2, 12, 31)
    )
    assert b"\\u00famero 30<" in left and b"\\u00famero 1<" in left
    again = collect("http://127.0.0.1:1", "day-2", "day-1")
    assert rows(again) == rows(output)
    assert SERVER.encode() in read_all_bytes(tmp_path / "data/store")
