"""Who says no is not taken, who is asked for a yes must give it, and each no has a row that says where it was said."""

from __future__ import annotations

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.web.consent.policy import Policy
from components.web.consent.reservations import Reservations
from components.web.consent.statements import parse_header_statements, parse_meta_statements
from tests.support import make_stage
from tests.support.crawl.counting_web import CountingWeb, Thing
from tests.support.crawl.crawls import crawled, fixture_params
from tests.support.web.consent import JPEG, A, jpeg

M = "http://media.sample"


POLICY = Policy()


def header_refusal(robots: str, tdm: str = "") -> tuple[str, str] | None:
    return POLICY.find_refusal(parse_header_statements(robots, tdm))


@pytest.mark.parametrize(
    ("robots", "rule"),
    [
        ("noindex, nofollow", "noindex"),
        ("none", "noindex"),
        ("noindex, noai", "noai"),
        ("all", None),
        ("nofollow", None),
        ("googlebot: noindex", None),
        ("googlebot: nofollow, hearsight: noai", "noai"),
        ("googlebot: none\nnoai", "noai"),
        ("max-image-preview: large, noindex", "noindex"),
        ("unavailable_after: 25 Jun 2030 15:00:00 PST, noai", "noai"),
        ("unavailable_after: Friday, 25-Jun-30 15:00:00 PST, noai", "noai"),
        ("max-image-preview: none", None),
        ("googlebot: max-image-preview: none, hearsight: noai", "noai"),
        ("*: noai", "noai"),
        ("", None),
    ],
)
def test_x_robots_tag_is_read_for_this_robot(robots, rule):
    result = header_refusal(robots)
    assert (result[0] if result else None) == rule
    assert not result or result[1].startswith("X-Robots-Tag: ")


@pytest.mark.parametrize(
    ("metas", "rule"),
    [
        ([("ROBOTS", "NOIMAGEINDEX")], "noimageindex"),
        ([("googlebot", "noindex")], None),
        ([("tdm-reservation", "yes")], "tdm_reserved"),
        ([("robots", "index, follow")], None),
        ([("robots", "index, NOAI")], "noai"),
        ([("robots", "max-image-preview:none, max-snippet : none")], None),
    ],
)
def test_meta_tags_are_read_for_this_robot(metas, rule):
    result = POLICY.find_refusal(parse_meta_statements(metas, "hearsight"))
    assert (result[0] if result else None) == rule


def test_consent_must_be_explicit():
    assert POLICY.gives_consent(parse_header_statements("", "0")) and POLICY.gives_consent(
        parse_header_statements("hearsight: all", "")
    )
    assert POLICY.gives_consent(parse_meta_statements([("hearsight", "index")], "hearsight"))
    assert not POLICY.gives_consent(parse_header_statements("all", "")) and not POLICY.gives_consent(
        parse_meta_statements([("robots", "index")], "hearsight")
    )


@pytest.mark.parametrize(
    ("rules", "reserved"),
    [
        ([("/", 1)], True),
        ([("/images/", 1)], True),
        ([("/images/", 1), ("/images/free/", 0)], False),
        ([("/images/free/", 0), ("/images/", 1)], False),
        ([("/images/free/a.jpg$", 1)], True),
        ([("images", 1)], True),
        ([("/other/", 1)], None),
        ([("/", 0), ("/", 1)], True),
        ([], None),
    ],
)
def test_tdmrep_rules_match_like_robots_rules(rules, reserved):
    body = json.dumps([{"location": where, "tdm-reservation": value} for where, value in rules]).encode()
    assert Reservations.of(body).stated("http://a.sample/images/free/a.jpg")[0] is reserved


def test_a_tdmrep_file_that_cannot_be_read_as_a_whole_reserves():
    rules = [{"location": f"/{number}/", "tdm-reservation": 0} for number in range(1000)]
    assert Reservations.of(json.dumps(rules).encode()).stated("http://a.sample/x")[0] is None
    last = json.dumps([*rules, {"location": "/x", "tdm-reservation": 1}]).encode()
    assert Reservations.of(last).stated("http://a.sample/x")[0] is True
    assert Reservations.of(last[:-20]).stated("http://a.sample/x")[0] is True, "cut, as a file that is too long"
    assert Reservations.of(b"<html>tdm-reservation").stated("http://a.sample/x")[0] is None


@pytest.mark.parametrize("where", ["/café/", "/caf%C3%A9/", "/caf%c3%a9/*.jpg$"])
def test_a_tdmrep_rule_matches_every_spelling_of_an_address(where):
    for encoding in ("utf-8", "utf-8-sig", "utf-16"):
        rules = Reservations.of(json.dumps([{"location": where, "tdm-reservation": 1}], ensure_ascii=False).encode(encoding))
        assert rules.stated("http://a.sample/caf%C3%A9/a.jpg")[0] and rules.stated("http://a.sample/café/a.jpg")[0]
        assert rules.stated("http://a.sample/cafe/a.jpg")[0] is None


@given(st.lists(st.sampled_from(["/", "a", "b", "*", "$", ".jpg"]), max_size=12), st.text("ab/.jpg", max_size=20))
def test_patterns_match_like_the_equivalent_regular_expression(pieces, path):
    import re

    pattern = "/" + "".join(pieces)
    core = pattern.removesuffix("$")
    expression = ".*".join(re.escape(part) for part in core.split("*")) + ("$" if pattern.endswith("$") else "")
    result = Reservations(((pattern, True, ""),)).stated(f"http://a.sample/{path}")[0]
    assert (result is True) == bool(re.match(expression.removesuffix("$") + (r"\Z" if pattern.endswith("$") else ""), f"/{path}"))


def test_a_hostile_pattern_matches_quickly():
    start = time.process_time()
    Reservations((("/" + "*a" * 2000 + "$", True, ""),)).stated("http://a.sample/" + "a" * 4000 + "b")
    # Tried out in every way it would take longer than the universe has.
    assert time.process_time() - start < 60.0


# -- through the stage ---------------------------------------------------------------------------------------------


def html(*images: str, head: str = "") -> bytes:
    tags = "".join(f'<img src="{url}" alt="A picture at {url}">' for url in images)
    links = "".join(f'<a href="/p{n}.html">x</a>' for n in range(8))
    return f"<!doctype html><html lang=en><head>{head}</head><body>{tags}{links}".encode()


@pytest.fixture
def crawl(tmp_path):
    def go(things: dict[str, Thing], **changes):
        with CountingWeb(things) as web:
            values = {
                "web": "open",
                "proxy": web.proxy,
                "contact": "mail@example.org",
                "seeds": [f"{A}/p0.html"],
                "hosts": ["a.sample"],
            }
            job = make_stage(tmp_path, "crawl", params=fixture_params(**(values | {"snapshot": "s"} | changes)))
            output = crawled(job)
        rows = output.ledger().to_pylist()
        by_page = {
            row["key"]: (row["rule"], row["value"]) for row in rows if row["kind"] == "page" and row["rule"] != "http_status"
        }
        by_image = {
            row["detail"].split(" ")[0]: (row["rule"], row["value"], row["threshold"]) for row in rows if row["kind"] == "record"
        }
        return by_page, by_image, [asked.url for asked in web.log]

    return go


def test_a_redirected_image_is_refused_by_the_last_answer(crawl):
    far = Thing(b"", status=302, headers=[("Location", "a.jpg")], validator="none")
    things = {f"{M}/far.jpg": far, f"{M}/a.jpg": jpeg(("X-Robots-Tag", "noai"))}
    _, images, _ = crawl({f"{A}/p0.html": Thing(html(f"{M}/far.jpg")), **things})
    assert images == {f"{M}/far.jpg": ("noai", "X-Robots-Tag: noai", f"{M}/a.jpg")}


def test_reserved_paths_are_not_requested(crawl):
    reserved = json.dumps([{"location": "/", "tdm-reservation": 1}, {"location": "/free/", "tdm-reservation": 0}]).encode()
    things = {
        f"{M}/.well-known/tdmrep.json": Thing(reserved, "application/json"),
        f"{M}/x.jpg": jpeg(),
        f"{M}/free/x.jpg": jpeg(),
        f"{A}/p0.html": Thing(html(f"{M}/x.jpg", f"{M}/free/x.jpg")),
    }
    _, images, asked = crawl(things, tdmrep=True)
    assert images[f"{M}/x.jpg"] == (
        "tdm_reserved",
        'tdmrep.json: {"location": "/", "tdm-reservation": 1}',
        f"{M}/.well-known/tdmrep.json",
    )
    assert images[f"{M}/free/x.jpg"][0] == "" and f"{M}/x.jpg" not in asked
    assert asked.count(f"{M}/.well-known/tdmrep.json") == asked.count(f"{A}/.well-known/tdmrep.json") == 1
    _, _, asked = crawl(things, snapshot="without")
    assert not [url for url in asked if "tdmrep" in url]


LOST = [Thing(b"", status=503), Thing(b"", status=429), Thing(b"<script>window._cf_chl_opt={}</script>", "text/html"),
        Thing(b"", status=302, headers=[("Location", "/.well-known/tdmrep.json")], validator="none")]  # fmt: skip


@pytest.mark.parametrize("lost", LOST, ids=["503", "429", "challenge", "redirects"])
def test_a_reservation_that_cannot_be_read_reserves_and_a_missing_one_does_not(crawl, lost):
    things = {f"{A}/p0.html": Thing(html(f"{M}/x.jpg", f"{A}/x.jpg")), f"{M}/x.jpg": jpeg(), f"{A}/x.jpg": jpeg()}
    _, images, asked = crawl({**things, f"{M}/.well-known/tdmrep.json": lost}, tdmrep=True, retries=0)
    assert images[f"{M}/x.jpg"][0] == "tdm_reserved" and f"{M}/x.jpg" not in asked
    assert images[f"{A}/x.jpg"][0] == ""


@pytest.mark.parametrize("status", [401, 403, 404, 410])
def test_storage_that_shows_no_tdmrep_json_reserves_nothing(crawl, status):
    things = {f"{A}/p0.html": Thing(html(f"{M}/x.jpg")), f"{M}/x.jpg": jpeg()}
    _, images, _ = crawl({**things, f"{M}/.well-known/tdmrep.json": Thing(b"", status=status)}, tdmrep=True, retries=0)
    assert images[f"{M}/x.jpg"][0] == ""


def test_opt_in_keeps_only_items_with_consent(crawl):
    things = {
        f"{A}/robots.txt": Thing(b"User-agent: *\nAllow: /\n", "text/plain"),
        f"{A}/p0.html": Thing(html(f"{A}/0.jpg")),
        f"{A}/p1.html": Thing(html(f"{A}/1.jpg", f"{M}/1.jpg", f"{M}/yes.jpg", head='<meta name="tdm-reservation" content="0">')),
        f"{A}/p2.html": Thing(html(f"{A}/2.jpg"), headers=[("X-Robots-Tag", "hearsight: all")]),
        f"{A}/p3.html": Thing(html(f"{A}/3.jpg", head='<meta name="robots" content="index,follow">')),
        **{f"{A}/{n}.jpg": Thing(JPEG + b" " * n, "image/jpeg") for n in range(4)},
        f"{M}/1.jpg": jpeg(),
        f"{M}/yes.jpg": jpeg(("TDM-Reservation", "0")),
    }
    pages, images, _ = crawl(things, consent="opt_in")
    assert {url: result[0] for url, result in pages.items()} == {
        f"{A}/p0.html": "no_consent", f"{A}/p1.html": "", f"{A}/p2.html": "", f"{A}/p3.html": "no_consent",
    }  # fmt: skip
    assert {url: result[0] for url, result in images.items()} == {
        f"{A}/1.jpg": "", f"{M}/1.jpg": "no_consent", f"{M}/yes.jpg": "", f"{A}/2.jpg": "",
    }  # fmt: skip
    pages, images, _ = crawl(things, consent="opt_in", consenting=["A.sample"], snapshot="listed")
    assert (
        {result[0] for result in pages.values()} == {""}
        and images[f"{A}/0.jpg"][0] == ""
        and images[f"{M}/1.jpg"][0] == "no_consent"
    )
    things[f"{A}/robots.txt"] = Thing(b"User-agent: Hearsight\nAllow: /\nDisallow: /p3\n", "text/plain")
    things[f"{M}/.well-known/tdmrep.json"] = Thing(b'[{"location": "/", "tdm-reservation": 0}]', "application/json")
    pages, images, _ = crawl(things, consent="opt_in", tdmrep=True, snapshot="by-files")
    assert {url: result[0] for url, result in pages.items()} == {
        f"{A}/p0.html": "", f"{A}/p1.html": "", f"{A}/p2.html": "", f"{A}/p3.html": "robots",
    }  # fmt: skip
    assert {result[0] for result in images.values()} == {""}


def test_a_later_refusal_applies_to_an_unchanged_body(crawl):
    things = {f"{A}/p0.html": Thing(html(f"{A}/0.jpg")), f"{A}/0.jpg": jpeg()}
    assert crawl(things)[1][f"{A}/0.jpg"][0] == ""
    things[f"{A}/0.jpg"] = jpeg(("X-Robots-Tag", "noai"))
    _, images, _ = crawl(things, snapshot="t", base="s")
    assert images[f"{A}/0.jpg"][0] == "noai"


def test_an_image_redirected_to_a_private_network_has_a_ledger_row(crawl):
    away = Thing(b"", status=302, headers=[("Location", "http://[64:ff9b::a00:1]/admin")], validator="none")
    _, images, asked = crawl({f"{A}/p0.html": Thing(html(f"{M}/x.jpg")), f"{M}/x.jpg": away})
    assert images[f"{M}/x.jpg"][0] == "private_address" and not any("ff9b" in url for url in asked)


def test_a_host_that_refuses_a_use_in_its_robots_txt_is_still_crawled_for_pages(crawl):
    """Cloudflare's default: pages and sitemaps are read for their links, and no image is requested."""
    signal = Thing(f"User-agent: *\nContent-Signal: search=yes, ai-train=no\nSitemap: {A}/s.xml\n".encode(), "text/plain")
    listed = f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"><url><loc>{A}/q.html</loc></url></urlset>'
    things = {
        f"{A}/robots.txt": signal,
        f"{A}/s.xml": Thing(listed.encode(), "application/xml"),
        f"{A}/p0.html": Thing(html(f"{A}/1.jpg", f"{M}/2.jpg")),
        f"{A}/q.html": Thing(html(f"{M}/3.jpg")),
        f"{A}/1.jpg": jpeg(1),
        f"{M}/2.jpg": jpeg(2),
        f"{M}/3.jpg": jpeg(3),
    }
    pages, _, asked = crawl(things, sitemaps=True)
    assert {url: rule for url, (rule, _) in pages.items()} == dict.fromkeys((f"{A}/p0.html", f"{A}/q.html"), "content_signal")
    assert {f"{A}/s.xml", f"{A}/p0.html", f"{A}/q.html"} <= set(asked) and not any(url.endswith(".jpg") for url in asked)
