"""The context of an image survives the file of its page, loses addresses that are taken down, and counts texts by site."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from components.stages.crawl.sources.source_pages import SourcePage, read_pages, redact_page, write_pages
from components.web.html.page import read_page
from components.web.takedown_list import Entry, Takedown, hash_value
from tests.support.web.archived import archive_web, write_warc

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


def test_a_text_is_counted_over_all_pages_of_its_site_and_of_no_other(crawl, web, tmp_path):
    kept = crawl(archive_web(web, tmp_path, 1)[0].name, snapshot="whole").table().to_pylist()
    images = sorted({row["image_url"] for row in kept})
    texts = {
        "http://a.sample/1": ["A red kite", "An owl"],
        "http://a.sample/2": ["a RED kite!"],
        "http://b.sample/": ["A Red Kite"],
    }
    pages = {
        url: "".join(f"<img src={image} alt='{alt}'>" for image, alt in zip(images, alts, strict=False))
        for url, alts in texts.items()
    }
    write_warc(tmp_path / "sites.warc.gz", [(url, page.encode()) for url, page in pages.items()])
    rows = crawl("sites.warc.gz", snapshot="sites").table().to_pylist()
    assert {(row["page_url"], row["alt"]): row["context"]["site_count"] for row in rows} == {
        ("http://a.sample/1", "A red kite"): 2,
        ("http://a.sample/1", "An owl"): 1,
        ("http://a.sample/2", "a RED kite!"): 2,
        ("http://b.sample/", "A Red Kite"): 1,
    }
