"""Every case of the public table is decided as it says, through a store of answers, as a crawl decides."""

from __future__ import annotations

import json
from importlib.resources import files
from urllib.parse import urlsplit

import pytest

from components.tools.consent import explain
from components.web.answers import Answers
from components.web.consent.policy import Policy
from components.web.settings import FetchSettings
from components.web.store import FetchStore
from components.web.warc import Entry, index_headers, select_headers
from tests.support.web.consent_files import drawn, manifest_store, write_image

CASES = [json.loads(line) for line in files("components.web").joinpath("data/consent_cases.jsonl").read_text().splitlines()]
COLUMNS = {
    "id", "url", "headers", "meta", "html", "robots", "status", "tdmrep", "tdmrep_status", "documents", "xmp", "c2pa", "agent",
    "uses", "decision", "rule", "source", "note",
}  # fmt: skip
KINDS = ("jpeg", "png", "webp")
DRAWN = {kind: drawn(kind) for kind in KINDS}


def decide(folder, case, kind="jpeg"):
    """Return the explained decision of a case, whose answers are stored in ``folder``."""
    agent = case.get("agent", "hearsight")
    policy = Policy(agent, tdmrep="tdmrep" in case, **({"uses": frozenset(case["uses"])} if "uses" in case else {}))
    origin = "{0.scheme}://{0.netloc}".format(urlsplit(case["url"]))
    with FetchStore(folder, writer=True) as store:

        def add(url, body, status=200, headers=()):
            store.add(Entry(url, status, **select_headers(index_headers(headers))), body)

        status = case.get("status", 200 if "robots" in case else 404)
        add(f"{origin}/robots.txt", case.get("robots", "").encode(), status, [("Content-Type", "text/plain")])
        if "tdmrep" in case:
            add(f"{origin}/.well-known/tdmrep.json", case["tdmrep"].encode(), case.get("tdmrep_status", 200))
        for address, text in case.get("documents", {}).items():
            add(address, text.encode(), headers=[("Content-Type", "application/rsl+xml")])
        headers = [(name, value) for name, values in case.get("headers", {}).items() for value in as_list(values)]
        if "xmp" in case or "c2pa" in case:
            c2pa = case.get("c2pa")
            stored = manifest_store(c2pa["label"], c2pa["entries"]) if c2pa else b""
            body = write_image(DRAWN[kind], kind, xmp=case.get("xmp", ""), store=stored)
            add(case["url"], body, headers=[*headers, ("Content-Type", f"image/{kind}")])
        else:
            metas = "".join(f'<meta name="{name}" content="{content}">' for name, content in case.get("meta", []))
            body = f"<html lang=en><head>{metas}{case.get('html', '')}</head><body><img src=a.jpg alt=a></body></html>"
            add(case["url"], body.encode(), headers=[*headers, ("Content-Type", "text/html")])
        return explain(Answers(store, FetchSettings(user_agent=agent), consent=policy), case["url"])


def as_list(values):
    return values if isinstance(values, list) else [values]


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_a_statement_gives_the_decision_that_the_table_states(tmp_path, case):
    found = decide(tmp_path, case)
    assert (found["decision"], found["rule"]) == (case["decision"], case["rule"]), (case, found)


@pytest.mark.parametrize("kind", KINDS)
def test_statements_in_files_are_read_in_each_format(tmp_path, kind):
    for case in CASES:
        if "xmp" in case or "c2pa" in case:
            found = decide(tmp_path / case["id"], case, kind)
            assert (found["decision"], found["rule"]) == (case["decision"], case["rule"]), (kind, case, found)


ADDRESS, ROBOTS, TDMREP = (f"https://example.org/{path}" for path in ("p.html", "robots.txt", ".well-known/tdmrep.json"))
NOWHERE = "http://10.0.0.1/"


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ([Entry(ADDRESS, 404)], ("not_read", "http_status", "404")),
        ([Entry(ADDRESS, 0, "timeout", "30 s")], ("not_read", "timeout", "30 s")),
        ([Entry(ADDRESS, 200, "not_a_page", "application/pdf")], ("not_read", "not_a_page", "application/pdf")),
        ([Entry(ADDRESS, 302, location=ADDRESS)], ("not_read", "redirect", "6 hops")),
        ([Entry(ADDRESS, 302, location=NOWHERE)], ("not_read", "private_address", "10.0.0.1")),
        ([Entry(ROBOTS, 503)], ("refused", "robots", f"{ROBOTS} cannot be read (503)")),
        ([Entry(ROBOTS, 429)], ("refused", "robots", f"{ROBOTS} cannot be read (429)")),
        (
            [Entry(ROBOTS, 301, location="/r"), Entry(f"{ADDRESS[:-6]}r", 500)],
            ("refused", "robots", f"{ROBOTS} cannot be read (500)"),
        ),
    ],
)
def test_an_address_that_cannot_be_read_is_refused_by_nobody(tmp_path, entries, said):
    with FetchStore(tmp_path, writer=True) as store:
        for entry in (Entry(ROBOTS, 404), Entry(TDMREP, 404), *entries):
            headers = [("Location", entry.location)] if entry.location else []
            store.add(entry, headers=headers)
        found = explain(Answers(store, FetchSettings(), consent=Policy(tdmrep=True)), ADDRESS)
    assert (found["decision"], found["rule"], found["statement"]) == said


def test_an_address_that_robots_txt_forbids_is_explained_without_its_tdmrep_json(tmp_path):
    with FetchStore(tmp_path, writer=True) as store:
        store.add(Entry(ROBOTS, 200), b"User-agent: *\nDisallow: /p")
        found = explain(Answers(store, FetchSettings(), consent=Policy(tdmrep=True)), ADDRESS)
    assert (found["decision"], found["statement"]) == ("refused", f"{ROBOTS} (200): /p.html")


def test_the_table_is_whole_and_each_case_is_once():
    assert len(CASES) >= 200 and [case["id"] for case in CASES] == [f"{number:03d}" for number in range(1, len(CASES) + 1)]
    assert all(set(case) <= COLUMNS and case["source"].startswith("https://") for case in CASES)
    contents = [json.dumps({name: case[name] for name in case if name not in ("id", "note", "source")}) for case in CASES]
    assert len(set(contents)) == len(contents)
    assert {case["decision"] for case in CASES} == {"refused", "permitted", "unstated"}


@pytest.mark.parametrize(
    ("tdmrep", "text", "says"),
    [
        (' [{"location": "/art/", "tdm-reservation": "reserved"}]', '{"location": "/art/", "tdm-reservation": "reserved"}', "no"),
        ('{"Location": "/", "tdm-reservation": 1}', '{"Location": "/", "tdm-reservation": 1}', "no"),
        ('[{"location": "/", "tdm-reservation": 0}]', '{"location": "/", "tdm-reservation": 0}', "yes"),
        ('[{"location": "/", "tdm-reserv', None, None),
        ('[{"location": "/", "tdm-reservation": 1', "cannot be read (no JSON)", "no"),
    ],
)
def test_the_rule_of_tdmrep_json_that_decides_is_stated_as_it_was_written(tmp_path, tdmrep, text, says):
    found = decide(tmp_path, {"url": "https://example.org/art/a.html", "tdmrep": tdmrep})
    stated = [(each["place"], each["text"], list(each["says"])) for each in found["statements"]]
    assert stated == ([("tdmrep.json", text, [says])] if text else [])
    assert found["statement"] == (f"tdmrep.json: {text}" if says == "no" else "")


def test_it_is_stated_why_a_tdmrep_json_cannot_be_read(tmp_path):
    found = decide(tmp_path, {"url": "https://example.org/art/a.html", "tdmrep": "", "tdmrep_status": 503})
    assert found["statement"] == "tdmrep.json: cannot be read (503)"
