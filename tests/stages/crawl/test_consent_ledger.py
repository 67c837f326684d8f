"""A crawl keeps every statement with its decision; a changed policy is applied without a request, and as a rerun applies it."""

from __future__ import annotations

import json
import shutil

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from components.core.digests import sha256_bytes
from components.core.params import read_params_file
from components.stages.crawl.consent_ledger import SCHEMA, ledger_path
from components.stages.crawl.snapshot_builder import make_answers, make_policy
from components.tools.consent import decide_again, explain
from components.tools.snapshots import retry_snapshot
from components.tools.takedown.listing import add
from components.web.settings import FetchSettings
from components.web.store import FetchStore
from components.web.takedown_list import Takedown
from components.web.warc import Entry
from tests.support import PROJECT, make_stage
from tests.support.command import hearsight
from tests.support.crawl.counting_web import CountingWeb, Thing
from tests.support.crawl.crawls import OF_ARCHIVES, crawled, fixture_params
from tests.support.settings_files import write_settings
from tests.support.web.archived import write_warc
from tests.support.web.consent import JPEG, A
from tests.support.web.consent_files import manifest_store, write_image

B, C, D, E = (f"http://{name}.sample" for name in "bcde")
VOCABULARY = "http://ns.useplus.org/ldf/vocab/"
RSL = '<rsl xmlns="https://rslstandard.org/rsl"><content url="/"><license>{}</license></content></rsl>'
FORBIDDEN, PERMITTED = (RSL.format(f'<{tag} type="usage">all</{tag}>') for tag in ("prohibits", "permits"))
CHALLENGE = b"<html><body><script>window._cf_chl_opt={}</script></body></html>"


def html(*images: str, head: str = "") -> bytes:
    tags = "".join(f'<img src="{url}" alt="A picture at {url}">' for url in images)
    return f"<!doctype html><html lang=en><head>{head}</head><body>{tags}".encode()


def jpeg(number: int, *headers: tuple[str, str], xmp: str = "", c2pa: dict | None = None) -> Thing:
    described = f'<rdf:Description plus:DataMining="{VOCABULARY}{xmp}"/>' if xmp else ""
    store = manifest_store("cawg.training-mining", c2pa) if c2pa else b""
    return Thing(write_image(JPEG, "jpeg", xmp=described, store=store) + bytes(number), "image/jpeg", headers=list(headers))


def site() -> tuple[dict[str, Thing], dict[str, str]]:
    """Return a page whose images are on hosts with all kinds of statements, and the rule that drops each image."""
    images = {
        f"{A}/plain.jpg": ("", jpeg(1)),
        f"{A}/usage.jpg": ("content_usage", jpeg(2, ("Content-Usage", "train-ai=n"))),
        f"{A}/search.jpg": ("noindex", jpeg(3, ("X-Robots-Tag", "noindex"))),
        f"{A}/plus.jpg": ("data_mining", jpeg(4, xmp="DMI-PROHIBITED-GENAIMLTRAINING")),
        f"{A}/cawg.jpg": ("training_mining", jpeg(5, c2pa={"cawg.ai_training": {"use": "notAllowed"}})),
        f"{A}/other.jpg": ("", jpeg(6, ("X-Robots-Tag", "gptbot: noai"))),
        f"{B}/signal.jpg": ("content_signal", jpeg(7)),
        f"{C}/licence.jpg": ("rsl", jpeg(8)),
        f"{D}/licence.jpg": ("", jpeg(9)),
    }
    return {
        f"{A}/p0.html": Thing(html(*images)),
        f"{B}/robots.txt": Thing(b"User-agent: *\nContent-Signal: ai-train=no, search=yes\n", "text/plain"),
        f"{C}/robots.txt": Thing(f"License: {C}/l.xml\nUser-agent: *\nAllow: /\n".encode(), "text/plain"),
        f"{C}/l.xml": Thing(FORBIDDEN.encode(), "application/rsl+xml"),
        f"{D}/robots.txt": Thing(f"License: {D}/l.xml\nUser-agent: *\nAllow: /\n".encode(), "text/plain"),
        f"{D}/l.xml": Thing(PERMITTED.encode(), "application/xml"),
        **{url: thing for url, (_, thing) in images.items()},
    }, {url: rule for url, (rule, _) in images.items()}


def settings(web, **changes):
    values = {"web": "open", "proxy": web.proxy, "contact": "mail@example.org", "seeds": [f"{A}/p0.html"], "hosts": ["a.sample"]}
    return fixture_params(**(values | {"snapshot": "s"} | changes))


def rules(output) -> dict[str, str]:
    return {row["detail"].split(" ")[0]: row["rule"] for row in output.ledger().to_pylist() if row["kind"] == "record"}


def decisions(path, policy) -> dict[str, tuple[str, str]]:
    return {change["address"]: (change["old"], change["new"]) for change in decide_again(path, policy, FetchSettings())}


def test_every_signal_drops_its_image_and_the_ledger_tells_the_statement_its_place_digest_and_time(tmp_path):
    things, expected = site()
    with CountingWeb(things) as web:
        output = crawled(make_stage(tmp_path, "crawl", params=settings(web)))
        asked = [each.url for each in web.log]
    assert rules(output) == expected
    # Where a host refuses the use, its image is not requested; its licence is, once.
    assert f"{B}/signal.jpg" not in asked and f"{C}/licence.jpg" not in asked and asked.count(f"{C}/l.xml") == 1
    path = ledger_path(tmp_path / "data/store/s", "english")
    table = pq.read_table(path)
    assert table.schema.equals(SCHEMA)
    rows = table.to_pylist()
    by_address = {row["address"]: row for row in rows if row["kind"] == "image"}
    assert {url: row["rule"] for url, row in by_address.items()} == expected
    usage = by_address[f"{A}/usage.jpg"]
    assert (usage["signal"], usage["place"], usage["statement"]) == ("content-usage", "header content-usage", "train-ai=n")
    assert usage["digest"] == sha256_bytes(b"train-ai=n") and usage["time"].startswith("20")
    assert by_address[f"{A}/other.jpg"]["statement"] == "gptbot: noai"  # kept, though it decides nothing
    files = {row["address"]: (row["place"], row["statement"]) for row in rows if row["kind"] == "host"}
    assert files[f"{C}/l.xml"] == ("200", FORBIDDEN) and files[f"{A}/robots.txt"] == ("404", "")
    assert [row["rule"] for row in rows if row["kind"] == "page"] == [""]


def test_a_rerun_writes_equal_bytes_without_a_request_and_another_clock_changes_no_output(tmp_path):
    things, _ = site()
    with CountingWeb(things) as web:
        job = make_stage(tmp_path, "crawl", params=settings(web))
        first, path = crawled(job).digest, ledger_path(tmp_path / "data/store/s", "english")
        data, asked = path.read_bytes(), len(web.log)
        path.unlink()
        assert crawled(job).digest == first and path.read_bytes() == data and len(web.log) == asked
        shutil.rmtree(tmp_path / "data/store/s")
        assert crawled(job).digest == first and path.read_bytes() != data  # the times


def test_an_image_that_is_dropped_for_its_size_has_no_decision(tmp_path):
    things, expected = site()
    with CountingWeb(things) as web:
        crawled(make_stage(tmp_path, "crawl", params=settings(web)))
        rerun = rules(crawled(make_stage(tmp_path, "crawl", params=settings(web, min_side=5000))))
        again = decisions(ledger_path(tmp_path / "data/store/s", "english"), make_policy(settings(web)))
    assert rerun[f"{A}/plus.jpg"] == rerun[f"{A}/plain.jpg"] == "image_side"
    refused = {url: (rule, rule) for url, rule in rerun.items() if rule != "image_side"}
    assert again == refused | {f"{A}/p0.html": ("", "")} and refused.keys() < expected.keys()


@pytest.mark.parametrize(
    "changed", [{"uses": ["train", "generate"]}, {"uses": ["input"]}, {"uses": ["train"]}, {"consent": "opt_in"}]
)
def test_a_changed_policy_decides_the_ledger_as_a_rerun_decides_the_snapshot(tmp_path, changed):
    things, _ = site()
    things |= {f"{E}/plain.jpg": jpeg(10), f"{A}/extra.jpg": jpeg(11)}
    images = [url for url in things if url.endswith(".jpg")]
    things[f"{A}/p0.html"] = Thing(html(*images), headers=[("X-Robots-Tag", "hearsight: all")])
    with CountingWeb(things) as web:
        strict = {"uses": ["train", "generate", "input", "search"]}
        crawled(make_stage(tmp_path, "crawl", params=settings(web, uses=["input"], snapshot="all")))  # asks for the most
        shutil.copytree(tmp_path / "data/store/all", tmp_path / "data/store/s")
        crawled(make_stage(tmp_path, "crawl", params=settings(web, **strict)))
        path = ledger_path(tmp_path / "data/store/s", "english")
        again = decisions(path, make_policy(settings(web, **changed)))
        asked = len(web.log)
        rerun = rules(crawled(make_stage(tmp_path, "crawl", params=settings(web, **changed))))
        assert {url: new for url, (_, new) in again.items() if url.endswith(".jpg")} == rerun and len(web.log) == asked
        assert any(old != new for old, new in again.values())


SIGNAL = Thing(b"User-agent: *\nContent-Signal: ai-input=no\n", "text/plain")
RESERVED = Thing(b'[{"location": "/", "tdm-reservation": 1}]', "application/json")
TRAIN, BOTH = {"uses": ["train"]}, {"uses": ["train", "input"]}


def moved(to: str) -> Thing:
    return Thing(b"", status=302, headers=[("Location", to)])


def page(*headers: tuple[str, str], images: tuple[str, ...] = (f"{A}/1.jpg",), links: str = "") -> Thing:
    return Thing(html(*images) + "".join(f'<a href="/{name}.html">{name}</a>' for name in links).encode(), headers=list(headers))


@pytest.mark.parametrize(
    ("things", "first", "changed"),
    [
        pytest.param(
            {"/p0.html": page(("Content-Usage", "train-ai=y"), images=(f"{A}/1.jpg", f"{B}/1.jpg"))},
            {"uses": ["train"], "consent": "opt_in"},
            {"uses": ["train", "input"], "consent": "opt_in"},
            id="a page's yes is too little",
        ),
        pytest.param(
            {"/p0.html": page(("Content-Usage", "train-ai=y"), images=(f"{A}/1.jpg", f"{B}/1.jpg"))},
            {"uses": ["train"]},
            {"uses": ["train"], "consent": "opt_in"},
            id="a page's yes is needed, and counts for its host",
        ),
        pytest.param(
            {
                "/p0.html": page(images=(f"{A}/2.jpg",), links="xy"),
                "/x.html": page(("Content-Usage", "ai-use=n"), images=(f"{A}/1.jpg", f"{A}/2.jpg")),
                "/y.html": page(("X-Robots-Tag", "noai")),
            },
            TRAIN,
            BOTH,
            id="a page refuses newly, and another that shows one of its images does not",
        ),
        pytest.param(
            {"/p0.html": page(images=(f"{B}/1.jpg",)), f"{B}/1.jpg": moved(f"{C}/1.jpg"), f"{C}/1.jpg": moved(f"{D}/1.jpg")}
            | {f"{D}/1.jpg": jpeg(1), f"{C}/robots.txt": SIGNAL},
            TRAIN,
            BOTH,
            id="a host in the middle of redirects refuses newly",
        ),
        pytest.param(
            {"/p0.html": page(("Content-Usage", "train-ai=n"), links="x"), "/x.html": page(), "/robots.txt": SIGNAL},
            {"uses": ["search"]},
            BOTH,
            id="a page's statement comes before its host's",
        ),
        pytest.param(
            {"/p0.html": page(("Content-Usage", "train-ai=n")), "/.well-known/tdmrep.json": RESERVED},
            {"tdmrep": True, **TRAIN},
            {"tdmrep": True, **TRAIN},
            id="a reservation is a reason not to ask for a page",
        ),
        pytest.param(
            {
                "/p0.html": page(images=(f"{A}/1.jpg", f"{B}/1.jpg", f"{C}/1.jpg")),
                f"{B}/.well-known/tdmrep.json": Thing(b"", status=503),
                f"{C}/.well-known/tdmrep.json": Thing(CHALLENGE),
                f"{C}/1.jpg": jpeg(4),
            },
            {"tdmrep": True, **TRAIN},
            {"tdmrep": True, **TRAIN},
            id="a reservation that cannot be read",
        ),
        pytest.param(
            {
                "/p0.html": page(images=(f"{A}/1.jpg", f"{B}/1.jpg")),
                f"{A}/1.jpg": jpeg(1, xmp="DMI-PROHIBITED"),
                f"{B}/1.jpg": jpeg(2, ("Content-Usage", "train-ai=y"), xmp="DMI-PROHIBITED"),
                "/robots.txt": Thing(b"User-agent: hearsight\nDisallow: /9\nContent-Signal: ai-train=no\n", "text/plain"),
            },
            {"uses": ["search"]},
            {"uses": ["train"], "consent": "opt_in"},
            id="a file comes after what its host and its answer state",
        ),
        pytest.param(
            {
                "/p0.html": page(images=(f"{A}/1.jpg", f"{B}/1.jpg", f"{C}/1.jpg")),
                f"{B}/robots.txt": Thing(b"User-agent: x\n" + b"Disallow: /a\n" * 25_000 + SIGNAL.body, "text/plain"),
                f"{C}/.well-known/tdmrep.json": Thing(b" " * 300_000 + RESERVED.body, "application/json"),
                f"{C}/1.jpg": jpeg(4),
            },
            {"tdmrep": True, **TRAIN},
            {"tdmrep": True, **BOTH},
            id="files of hosts are long",
        ),
    ],
)
def test_pages_hosts_and_redirects_are_decided_anew_as_a_rerun_decides_them(tmp_path, things, first, changed):
    things = {f"{A}/1.jpg": jpeg(1), f"{A}/2.jpg": jpeg(2), f"{B}/1.jpg": jpeg(3), **things}
    things = {f"{A}{path}" if path.startswith("/") else path: thing for path, thing in things.items()}
    with CountingWeb(things) as web:
        crawled(make_stage(tmp_path, "crawl", params=settings(web, **first)))
        again = decisions(ledger_path(tmp_path / "data/store/s", "english"), make_policy(settings(web, **changed)))
        asked, output = len(web.log), crawled(make_stage(tmp_path, "crawl", params=settings(web, **changed)))
        pages = {row["key"]: row["rule"] for row in output.ledger().to_pylist() if row["kind"] == "page"}
        rerun = rules(output) | pages
    # A page that refuses has no images in the crawl's ledger; here they have its rule.
    assert {url: new for url, (_, new) in again.items() if url in rerun} == rerun and len(web.log) == asked
    assert set(again) - set(rerun) <= {url for url, (_, new) in again.items() if new in pages.values() and new}
    assert (first == changed) or any(old != new for old, new in again.values())


def test_a_listed_image_leaves_the_ledgers_of_its_snapshot_and_of_those_below(tmp_path):
    things, _ = site()
    with CountingWeb(things) as web:
        crawled(make_stage(tmp_path, "crawl", params=settings(web)))
        crawled(make_stage(tmp_path, "crawl", params=settings(web, snapshot="t", base="s")))
        paths = [ledger_path(tmp_path / "data/store" / name, "english") for name in ("s", "t")]
        assert all(f"{A}/other.jpg" in pq.read_table(path)["address"].to_pylist() for path in paths)
        add(tmp_path, "url", f"{A}/other.jpg")
        crawled(make_stage(tmp_path, "crawl", params=settings(web, snapshot="t", base="s")))
    assert not paths[0].exists() and "other.jpg" not in str(pq.read_table(paths[1]).to_pydict())


def test_a_takedown_removes_the_ledgers_that_name_something_listed_and_no_others(tmp_path):
    things, _ = site()
    with CountingWeb(things) as web:
        job = make_stage(tmp_path, "crawl", params=settings(web))
        crawled(job)
        ours, other = (ledger_path(tmp_path / "data/store/s", name) for name in ("english", "other"))
        values = dict.fromkeys(SCHEMA.names, "") | {"address": f"{E}/1.jpg", "hops": [], "pages": [f"{E}/page.html"]}
        pq.write_table(pa.Table.from_pylist([values], schema=SCHEMA), other)
        add(tmp_path, "url", "http://nowhere.sample/x")
        retry_snapshot(job, ["challenge"])
        assert ours.exists() and other.exists()
        add(tmp_path, "url", f"{E}/page.html")
        retry_snapshot(job, ["challenge"])
        assert ours.exists() and not other.exists()
        add(tmp_path, "url", f"{A}/other.jpg")
        retry_snapshot(job, ["challenge"])
        assert not ours.exists()


def test_a_challenge_is_a_failure_that_a_retry_repeats_and_no_content(tmp_path):
    things = {
        f"{A}/p0.html": Thing(html(f"{A}/0.jpg", f"{A}/1.jpg") + b'<a href="/p1.html">1</a><a href="/p2.html">2</a>'),
        f"{A}/p1.html": Thing(CHALLENGE),
        f"{A}/p2.html": Thing(b"no", status=403, headers=[("cf-mitigated", "challenge")]),
        f"{A}/0.jpg": Thing(CHALLENGE, "text/html"),
        f"{A}/1.jpg": jpeg(1),
    }
    with CountingWeb(things) as web:
        job = make_stage(tmp_path, "crawl", params=settings(web))
        output = crawled(job)
        pages = {row["key"]: row["rule"] for row in output.ledger().to_pylist() if row["kind"] == "page"}
        assert pages == {f"{A}/p0.html": "", f"{A}/p1.html": "challenge", f"{A}/p2.html": "challenge"}
        assert rules(output) == {f"{A}/0.jpg": "challenge", f"{A}/1.jpg": ""}
        web.things |= {f"{A}/p1.html": Thing(html()), f"{A}/p2.html": Thing(html()), f"{A}/0.jpg": jpeg(2)}
        done = retry_snapshot(job, ["challenge"])
        assert (done["asked"], done["answered"]) == (3, 3)
        assert rules(crawled(job))[f"{A}/0.jpg"] == ""


def test_a_robots_txt_behind_a_challenge_forbids_until_it_can_be_read(tmp_path):
    things = {f"{A}/p0.html": Thing(html(f"{B}/0.jpg")), f"{B}/robots.txt": Thing(CHALLENGE), f"{B}/0.jpg": jpeg(1)}
    with CountingWeb(things) as web:
        output = crawled(make_stage(tmp_path, "crawl", params=settings(web)))
        assert rules(output) == {f"{B}/0.jpg": "robots"} and f"{B}/0.jpg" not in [each.url for each in web.log]


def test_the_commands_explain_an_address_and_count_what_a_policy_changes(tmp_path):
    things, _ = site()
    with CountingWeb(things) as web:
        params = settings(web)
        crawled(make_stage(tmp_path, "crawl", params=params))
        shutil.copy(PROJECT / "dvc.yaml", tmp_path)
        content = read_params_file(PROJECT / "params.yaml")
        content["english"]["crawl"] = {**params.plain(), "uses": ["train", "generate"]}
        write_settings(tmp_path, content)
        out = tmp_path / "changes.jsonl"
        done = hearsight("consent", "redecide", "--out", str(out), cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        line = json.loads(done.stdout)
        assert line["changes"] == {"noindex → kept": 1} and line["decided"] == 10 and "snapshot next" in line["next"]
        (change,) = map(json.loads, out.read_text().splitlines())
        assert (change["address"], change["old"], change["new"]) == (f"{A}/search.jpg", "noindex", "")
        path = ledger_path(tmp_path / "data/store/s", "english")
        for damage in (lambda: path.write_bytes(b"PAR1"), lambda: pq.write_table(pa.table({"a": [1]}), path), path.unlink):
            damage()
            wrong = hearsight("consent", "redecide", cwd=tmp_path)
            assert wrong.returncode == 2 and wrong.stderr.count(b"\n") == 1 and b"dvc repro" in wrong.stderr, wrong.stderr
        found = json.loads(hearsight("consent", "check", f"{A}/plus.jpg", cwd=tmp_path).stdout)
        assert (found["decision"], found["rule"]) == ("refused", "data_mining")
        assert found["statements"][0]["says"] == {"no": ["generate"]}
        things[f"{A}/linked.html"] = Thing(html(), headers=[("Link", f'<{D}/l.xml>; rel="license"; type="application/rsl+xml"')])
        web.things = things
        found = json.loads(hearsight("consent", "check", f"{A}/linked.html", cwd=tmp_path).stdout)
        assert found["decision"] == "permitted", found
        things[f"{B}/robots.txt"] = Thing(b"User-agent: *\nContent-Signal: search=yes, ai-train=no\n", "text/plain")
        things[f"{B}/p.html"] = Thing(html())
        web.things = things
        found = json.loads(hearsight("consent", "check", f"{B}/p.html", cwd=tmp_path).stdout)
        assert (found["decision"], found["rule"]) == ("refused", "content_signal"), "the address of a host that refuses a use"
        wrong = hearsight("consent", "check", "nowhere", cwd=tmp_path)
        assert wrong.returncode == 2 and wrong.stderr.count(b"\n") == 1


def test_an_address_that_redirects_is_explained_by_what_the_host_states_that_decides(tmp_path):
    things = {
        f"{A}/p0.html": page(images=(f"{B}/1.jpg",), links="r"),
        f"{A}/r.html": moved(f"{C}/z.html"),
        f"{C}/z.html": page(images=()),
        f"{B}/1.jpg": moved(f"{D}/1.jpg"),
        f"{D}/1.jpg": jpeg(1),
        **{f"{host}/robots.txt": SIGNAL for host in (B, C)},
        f"{A}/robots.txt": Thing(b"User-agent: *\nContent-Signal: search=yes\n", "text/plain"),
    }
    with CountingWeb(things) as web:
        hosts = {"hosts": ["a.sample", "c.sample"]}
        crawled(make_stage(tmp_path, "crawl", params=settings(web, **TRAIN, **hosts)))
        with FetchStore(tmp_path / "data/store/s") as store:
            answers = make_answers(settings(web, **BOTH), store, Takedown())
            for url, final in ((f"{A}/r.html", f"{C}/z.html"), (f"{B}/1.jpg", f"{B}/1.jpg")):
                found = explain(answers, url)
                assert (found["final"], found["decision"], found["rule"]) == (final, "refused", "content_signal"), found
                assert [each["text"] for each in found["statements"]] == ["ai-input=no"]


def test_an_address_whose_host_does_not_exist_is_explained_by_that(tmp_path):
    with FetchStore(tmp_path / "store", writer=True) as store:
        store.add(Entry(f"{E}/robots.txt", 0, "dns", "no such name"))
        params = fixture_params(snapshot="s", web="open", contact="mail@example.org")
        found = explain(make_answers(params, store, Takedown()), f"{E}/1.jpg")
    assert (found["decision"], found["rule"]) == ("refused", "robots")
    assert found["statement"] == f"{E}/robots.txt cannot be read (dns: no such name)"


def test_pages_of_archives_keep_their_statements_and_challenges_among_them_are_no_pages(tmp_path):
    pages = [
        ("http://w.sample/0", html(f"{A}/1.jpg", head='<link rel="license" type="application/rsl+xml" href="/l.xml">')),
        ("http://w.sample/1", html(f"{A}/2.jpg", head=f'<script type="application/rsl+xml">{FORBIDDEN}</script>')),
        ("http://w.sample/2", CHALLENGE),
        ("http://w.sample/3", html(f"{A}/3.jpg")),
    ]
    write_warc(tmp_path / "a.warc.gz", pages)
    with CountingWeb({f"{A}/{number}.jpg": jpeg(number) for number in (1, 2, 3)}) as web:
        values = {**OF_ARCHIVES, "inputs": ["a.warc.gz"], "web": "open", "proxy": web.proxy, "contact": "mail@example.org"}
        output = crawled(make_stage(tmp_path, "crawl", params=fixture_params(**values, snapshot="s")))
    rows = {row["key"]: row["rule"] for row in output.ledger().to_pylist() if row["kind"] == "page"}
    assert [rows.get(f"http://w.sample/{number}") for number in range(4)] == ["rsl", "rsl", None, ""]
    assert "challenge" in rows.values() and rules(output) == {f"{A}/3.jpg": ""}
    stated = pq.read_table(ledger_path(tmp_path / "data/store/s", "english")).to_pylist()
    assert [row["statement"] for row in stated if row["kind"] == "page"] == ["http://w.sample/l.xml", FORBIDDEN, ""]
