"""An opt-out has the same effect, and the same row, wherever it is read: live pages, archives, tables and posts."""

from __future__ import annotations

import codecs
import json

import pytest

from tests.support import make_stage
from tests.support.crawl.counting_web import CountingWeb, Thing
from tests.support.crawl.crawls import crawled, fixture_params
from tests.support.crawl.fixture_web import drawn_image
from tests.support.web.archive_samples import dumped, envelope, record
from tests.support.web.archived import wacz

PAGES, IMAGES = "http://pages.sample", "http://images.sample"
JPEG = drawn_image(("red", "house", "on a green field"))
XRT = "X-Robots-Tag"
NAME, CONTENT = "name", "content"

PAGE_SIGNALS = {
    "nothing": ([], [], ""),
    "noai": ([], [("robots", "noai, noimageai")], "meta robots: noai"),
    "noimageai-alone": ([], [("Robots ", "index,NoImageAI")], "meta robots: noimageai"),
    "without-commas": ([], [("robots", "noindex nofollow")], "meta robots: noindex"),
    "own-name": ([], [("HearSight", "none")], "meta hearsight: none"),
    "other-name": ([], [("otherbot", "noai"), ("description", "noai")], ""),
    "tdm-meta": ([], [("tdm-reservation", "1")], "meta tdm-reservation: 1"),
    "tdm-meta-0": ([], [("tdm-reservation", "0")], ""),
    "header": ([(XRT, "noai")], [], "X-Robots-Tag: noai"),
    "header-case": ([("x-robots-tag", "NOIMAGEINDEX")], [], "X-Robots-Tag: noimageindex"),
    "header-other": ([(XRT, "googlebot: noindex, noai")], [], ""),
    "header-own": ([(XRT, "googlebot: nofollow, HEARSIGHT/2.0: noindex")], [], "X-Robots-Tag: noindex"),
    "headers": ([(XRT, "googlebot: noindex"), (XRT, "noimageai")], [], "X-Robots-Tag: noimageai"),
    "headers-other": ([(XRT, "all"), (XRT, "googlebot: noindex")], [], ""),
    "header-date": ([(XRT, "unavailable_after: Wed, 25 Jun 2036 15:00:00 GMT, noai")], [], "X-Robots-Tag: noai"),
    "tdm-header": ([("TDM-Reservation", "1")], [], "header tdm-reservation: 1"),
    "both": ([(XRT, "noindex")], [("robots", "noai")], "meta robots: noai"),
    "reserved": ([], [], 'tdmrep.json: {"location": "/reserved", "tdm-reservation": 1}'),
}
"""Name → headers, meta tags, and the statement that drops the page ('' for a page that is kept)."""
RESERVED = json.dumps([{"location": "/reserved", "tdm-reservation": 1}, {"location": "/", "tdm-reservation": 0}])
WELL_KNOWN = {f"{PAGES}/.well-known/tdmrep.json": Thing(codecs.BOM_UTF16_LE + RESERVED.encode("utf-16-le"), "application/json")}


@pytest.fixture
def crawl(tmp_path):
    """Crawls a web of things; returns the rows of pages and of images by address, and the addresses asked for."""

    def go(things, **changes):
        with CountingWeb(things) as web:
            values = {"web": "open", "proxy": web.proxy, "contact": "mail@example.org", "tdmrep": True, "snapshot": "s"}
            output = crawled(make_stage(tmp_path, "crawl", params=fixture_params(**(values | changes))))
        rows = output.ledger().to_pylist()
        pages = {row["key"]: (row["rule"], row["value"]) for row in rows if row["kind"] == "page"}
        images = {row["detail"].split(" ")[0]: (row["rule"], row["value"]) for row in rows if row["kind"] == "record"}
        return pages, images, {asked.url for asked in web.log}

    return go


def page_address(name):
    return f"{PAGES}/{name}"


def image_address(name):
    return f"{IMAGES}/{name}.jpg"


def html(name, metas=()):
    head = "".join(f'<meta name="{key}" content="{value}">' for key, value in metas)
    return f'<!doctype html><html lang=en><head>{head}</head><img src="{image_address(name)}" alt="A house of {name}">'.encode()


def write_source(kind, folder, agent="hearsight"):
    """Write an input with the pages of ``PAGE_SIGNALS``; return the settings of its crawl."""
    signals = {name: (heads, [(agent if key == "HearSight" else key, value) for key, value in metas], said)
               for name, (heads, metas, said) in PAGE_SIGNALS.items()}  # fmt: skip
    if kind == "site":
        return {"source": "site", "seeds": [page_address(name) for name in signals], "hosts": ["pages.sample"], "depth": 0}
    records = []
    for name, (headers, metas, _) in signals.items():
        if kind == "wat":
            links = [{"path": "IMG@/src", "url": image_address(name), "alt": f"A house of {name}"}]
            sent = {}
            for key, value in headers:
                sent[key] = [sent[key], value] if key in sent else value
            body = dumped(envelope(links, {"Metas": [{NAME: key, CONTENT: value} for key, value in metas]}, sent))
            records.append(record(page_address(name), body, kind="metadata", content_type="application/json"))
        else:
            status = ("200 OK", [("Content-Type", "text/html; charset=utf-8"), *headers])
            records.append(record(page_address(name), html(name, metas), status))
    data = b"".join(records)
    (folder / f"pages.{kind}").write_bytes(wacz({"a.warc.gz": data}) if kind == "wacz" else data)
    return {"source": "archives", "inputs": [f"pages.{kind}"]}


@pytest.mark.parametrize("kind", ["site", "warc", "wat", "wacz"])
def test_a_page_is_dropped_by_the_same_statement_in_every_source(kind, crawl, tmp_path):
    things = {page_address(name): Thing(html(name, metas), headers=heads) for name, (heads, metas, _) in PAGE_SIGNALS.items()}
    things |= WELL_KNOWN | {
        image_address(name): Thing(JPEG + b" " * number, "image/jpeg") for number, name in enumerate(PAGE_SIGNALS)
    }
    pages, images, asked = crawl(things, **write_source(kind, tmp_path))
    for name, (_, _, said) in PAGE_SIGNALS.items():
        rule = {"none": "noindex", "1": "tdm_reserved", "1}": "tdm_reserved", "": ""}.get(
            said.rpartition(" ")[2], said.rpartition(" ")[2]
        )
        assert pages[page_address(name)] == (rule, said), name
        assert images.get(image_address(name)) == (None if rule else ("", "")), name
        assert name == "reserved" or (image_address(name) in asked) == (not rule), name


@pytest.mark.parametrize("kind", ["site", "warc", "wat"])
def test_statements_are_read_for_the_agent_that_the_settings_name(kind, crawl, tmp_path):
    metas = [("MyBot", "none")]
    source = write_source(kind, tmp_path, "MyBot")
    things = {page_address(name): Thing(html(name, metas if name == "own-name" else ())) for name in PAGE_SIGNALS}
    pages, _, _ = crawl(things, user_agent="mybot", **source)
    assert pages[page_address("own-name")] == ("noindex", "meta mybot: none")


def test_consent_is_required_of_archived_pages_as_of_live_ones(crawl, tmp_path):
    things = {page_address(name): Thing(html(name, metas), headers=heads) for name, (heads, metas, _) in PAGE_SIGNALS.items()}
    things |= {image_address(name): Thing(JPEG, "image/jpeg", headers=[("TDM-Reservation", "0")]) for name in PAGE_SIGNALS}
    found = {}
    for kind in ("site", "warc", "wat"):
        found[kind] = crawl(things, consent="opt_in", snapshot=kind, **write_source(kind, tmp_path))[:2]
    assert found["site"] == found["warc"] == found["wat"]
    kept = {address for address, (rule, _) in found["site"][0].items() if not rule}
    assert kept == {page_address("tdm-meta-0")} and set(found["site"][1]) == {image_address("tdm-meta-0")}


IMAGE_SIGNALS = {
    "nothing": ([], ""),
    "noai": ([(XRT, "noai")], "noai"),
    "noimageai": ([(XRT, "otherbot: none"), (XRT, "hearsight: NoImageAI")], "noimageai"),
    "noindex": ([(XRT, "nofollow, noindex")], "noindex"),
    "other": ([(XRT, "otherbot: noindex, noai")], ""),
    "tdm": ([("tdm-reservation", "1")], "tdm_reserved"),
    "reserved": ([], "tdm_reserved"),
    "forbidden": ([], "robots"),
}
"""Name → headers of an image's answer, and the rule that drops it."""


@pytest.mark.parametrize("kind", ["site", "warc", "table", "posts"])
def test_an_image_is_dropped_by_its_own_answer_and_host_in_every_source(kind, crawl, tmp_path):
    things = {image_address(name): Thing(JPEG + b" " * number, "image/jpeg", headers=heads)
              for number, (name, (heads, _)) in enumerate(IMAGE_SIGNALS.items())}  # fmt: skip
    rules = codecs.BOM_UTF8 + b"User-agent: Other\nUser-agent: HearSight/1.0 # us\nDisallow: /forbidden\n"
    things |= {
        f"{IMAGES}/robots.txt": Thing(rules, "text/plain"),
        f"{IMAGES}/.well-known/tdmrep.json": Thing(codecs.BOM_UTF8 + RESERVED.encode(), "application/json"),
    }
    page = b"<html lang=en>" + b"".join(html(name).partition(b"</head>")[2] for name in IMAGE_SIGNALS)
    if kind == "site":
        things[page_address("all")] = Thing(page)
        source = {"source": "site", "seeds": [page_address("all")], "hosts": ["pages.sample"]}
    elif kind == "warc":
        (tmp_path / "a.warc").write_bytes(record(page_address("all"), page))
        source = {"source": "archives", "inputs": ["a.warc"]}
    elif kind == "table":
        (tmp_path / "a.tsv").write_text("".join(f"a house of {name}\t{image_address(name)}\n" for name in IMAGE_SIGNALS))
        source = {"source": "table", "layout": "cc3m", "language": "en", "inputs": ["a.tsv"]}
    else:
        post = {"id": "p1", "url": f"{PAGES}/p1", "owner": "museum", "posted": "2020-05-06T07:08:09Z", "caption": "#PraCegoVer x"}
        post |= {"collected": "2020-05-07T00:00:00Z", "images": [{"url": image_address(name)} for name in IMAGE_SIGNALS]}
        (tmp_path / "a.jsonl").write_text(json.dumps(post))
        source = {"source": "posts", "provider": "jsonl", "server": "", "inputs": ["a.jsonl"]}
    _, images, asked = crawl(things, **source)
    assert {name: images[image_address(name)][0] for name in IMAGE_SIGNALS} == {
        name: rule for name, (_, rule) in IMAGE_SIGNALS.items()
    }
    assert image_address("reserved") not in asked and image_address("forbidden") not in asked


def test_an_image_that_names_the_hosts_reservations_does_not_hide_them(crawl):
    images = [f"{IMAGES}/.well-known/tdmrep.json", image_address("reserved")]
    page = "<html lang=en>" + "".join(f'<img src="{url}" alt="A house {n}">' for n, url in enumerate(images))
    things = {
        page_address("all"): Thing(page.encode()),
        images[0]: Thing(RESERVED.encode(), "application/json"),
        images[1]: Thing(JPEG, "image/jpeg"),
    }
    _, rows, _ = crawl(things, seeds=[page_address("all")], hosts=["pages.sample"])
    assert (
        rows[images[1]] == ("tdm_reserved", 'tdmrep.json: {"location": "/reserved", "tdm-reservation": 1}') and rows[images[0]][0]
    )


FORBIDDEN = "User-agent: *\r\nDisallow: /\r\n"
ROBOTS = {
    "plain": (FORBIDDEN.encode(), False),
    "mark": (codecs.BOM_UTF8 + FORBIDDEN.encode(), False),
    "utf-16-le": (codecs.BOM_UTF16_LE + FORBIDDEN.encode("utf-16-le"), False),
    "utf-16-be": (codecs.BOM_UTF16_BE + FORBIDDEN.encode("utf-16-be"), False),
    "two-marks": (codecs.BOM_UTF8 * 2 + FORBIDDEN.encode(), False),
    "mark-own": (codecs.BOM_UTF8 + b"User-agent: hearsight\nDisallow: /\n", False),
    "version": (b"User-agent: HearSight/1.0\nDisallow: /\n\nUser-agent: *\nAllow: /\n", False),
    "version-allowed": (b"User-agent: hearsight/2.1 (bot)\nAllow: /\n\nUser-agent: *\nDisallow: /\n", True),
    "comment": (b"user-AGENT: HEARSIGHT# that one\nDisallow: / # all\n", False),
    "group": (b"User-agent: a\nUser-agent: Hearsight/1.0\n\nUser-agent: b/3\nDisallow: /\n", False),
    "other-version": (b"User-agent: otherbot/1.0\nDisallow: /\n", True),
    "longer-name": (b"User-agent: hearsight-images/1.0\nDisallow: /\n", True),
    "shorter-name": (b"User-agent: hear\nAllow: /\n\nUser-agent: *\nDisallow: /\n", False),
    "carriage-returns": (b"User-agent: hearsight/1\rDisallow: /\r", False),
}
"""Name of a host → its robots.txt, and whether it allows us."""


def test_robots_are_read_with_marks_in_utf_16_and_with_versions_of_products(crawl):
    things = {}
    for number, (name, (text, _)) in enumerate(ROBOTS.items()):
        things[f"http://{name}.sample/robots.txt"] = Thing(text, "text/plain")
        things[f"http://{name}.sample/p"] = Thing(f'<html lang=en><img src="/i.jpg" alt="A house {number}">'.encode())
        things[f"http://{name}.sample/i.jpg"] = Thing(JPEG + b" " * number, "image/jpeg")
    seeds = [f"http://{name}.sample/p" for name in ROBOTS]
    pages, images, asked = crawl(things, seeds=seeds, hosts=[f"{name}.sample" for name in ROBOTS])
    for name, (_, allowed) in ROBOTS.items():
        assert pages[f"http://{name}.sample/p"][0] == ("" if allowed else "robots"), name
        assert (f"http://{name}.sample/p" in asked) == (f"http://{name}.sample/i.jpg" in images) == allowed, name
