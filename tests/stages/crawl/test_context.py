"""The context of an image survives the file of its page, and loses addresses that are taken down."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from components.stages.crawl.sources.source_pages import SourcePage, read_pages, redact_page, write_pages
from components.web.html.page import read_page
from components.web.takedown_list import Entry, Takedown, hash_value

IMAGES = "<a href=http://gone.sample/x><img src=/a.jpg alt='A storm at sea' width=300></a><img src=/b.jpg alt=''>"
HTML = f"<h1>A storm at sea</h1>{IMAGES}"


def test_pages_are_read_from_their_file_with_their_context(tmp_path: Path) -> None:
    page = SourcePage(None, read_page(HTML, "http://a.sample/").candidates, "http://a.sample/", "en")
    write_pages(tmp_path / "pages", [page])
    assert list(read_pages(tmp_path / "pages")) == [page]
    assert [candidate.context is None for candidate in page.candidates] == [False, True]


def test_a_listed_address_does_not_remain_in_the_context_of_another_pages_image() -> None:
    taken = Takedown([Entry("host", "salt", hash_value("salt", "host", "gone.sample"), "")])
    page = SourcePage(None, read_page(HTML, "http://a.sample/").candidates, "http://a.sample/", "en")
    before, after = page.candidates[0].context, redact_page(page, taken).candidates[0].context
    assert before is not None and after is not None and before.link_url == "http://gone.sample/x"
    assert after.link_url is not None and "gone.sample" not in after.link_url
    assert replace(after, link_url=before.link_url) == before
