"""Healing accepts nothing that is not what a record states, has a row for every try, and repeats no finished request."""

from __future__ import annotations

import csv
import json
import random
import shutil
from urllib.parse import unquote

import pytest

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.params import read_params_file
from components.tools.heal.archives import Archive
from components.tools.heal.healing import HEALED_FROM, is_gone
from components.tools.heal.targets import heal_snapshot, heal_table
from components.tools.image_tables import read_image_table
from components.web.answers import Answers
from components.web.images.image import decode_image
from components.web.store import FetchStore
from components.web.takedown_list import Entry, Takedown, hash_value
from components.web.warc import Entry as Answer
from tests.support import PROJECT, make_stage
from tests.support.command import hearsight
from tests.support.crawl.crawls import crawled, fixture_params
from tests.support.crawl.fixture_web import drawn_image
from tests.support.settings_files import write_settings
from tests.support.web.consent_files import drawn, write_image
from tests.support.web.raw_web import RawWeb, head, plain
from tests.support.web.simulated_archive import SimulatedArchive

GOOD, OTHER = drawn_image(("red", "house", "on a green field")), drawn_image(("blue", "fish", "in the snow at night"))
GONE = [head(404, "text/plain", 0)]
NAMES = ("alive", "archived", "changed", "page", "noai", "listless", "robot")


@pytest.fixture
def archive():
    with SimulatedArchive() as running:
        yield running


@pytest.fixture
def web():
    images = "".join(f'<img src="/{name}.jpg" alt="the {name} picture">' for name in NAMES)
    with RawWeb({"/": plain(f'<html lang="en">{images}'.encode(), "text/html")}) as running:
        running.paths |= {f"/{name}.jpg": plain(GOOD) for name in NAMES}
        yield running


def settings(web, **changes):
    host = web.url("").removeprefix("http://")
    values = {"web": "open", "contact": "http://example.org/", "seeds": [web.url("/")], "hosts": [host], "allow_private": True}
    return fixture_params(**(values | {"retries": 0, "timeout": 3.0, "snapshot": "new"} | changes))


def stage(root, web, **changes):
    return make_stage(root, "crawl", params=settings(web, **changes))


def dying(root, web, archive):
    """Crawl a site, then again when most of its images are gone; the archive holds them in several states."""
    crawled(stage(root, web, snapshot="old"))
    for name in NAMES[1:]:
        web.paths[f"/{name}.jpg"] = lambda _: GONE
    urls = {name: web.url(f"/{name}.jpg") for name in NAMES}
    archive.hold(urls["archived"], plain(OTHER), plain(GOOD))
    archive.hold(urls["changed"], plain(OTHER), plain(GOOD[:-500]))
    archive.hold(urls["page"], plain(b"<!doctype html><title>The Archive</title>", "text/html"))
    archive.hold(urls["noai"], lambda _: [head(200, "image/jpeg", len(GOOD), "X-Archive-Orig-X-Robots-Tag: noai"), GOOD])
    archive.index(urls["listless"])
    archive.hold(urls["robot"], plain(GOOD))
    output = crawled(stage(root, web))
    assert output.table().num_rows == 1
    return urls


def rows(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def heal(root, web, archive, kind="cdx", digests=("old",), most=5, **changes):
    spec = Archive.parse(getattr(archive, kind))
    return heal_snapshot(stage(root, web, **changes), [spec], list(digests), root / "heal.csv", most)


def test_what_equals_the_earlier_snapshot_comes_back_and_nothing_else(tmp_path, web, archive):
    urls = dying(tmp_path, web, archive)
    web.paths["/robots.txt"] = plain(b"User-agent: *\nDisallow: /robot.jpg\n", "text/plain")
    done = heal(tmp_path, web, archive)
    assert (done["addresses"], done["healed"]) == (6, 1) and "crawl@english" in done["next"]
    found = rows(tmp_path / "heal.csv")
    last = {row["address"]: (row["outcome"], row["rule"]) for row in found}
    assert last == {
        urls["archived"]: ("accepted", "sha256"),
        urls["changed"]: ("differs", ""),
        urls["page"]: ("failed", "not_an_image"),
        urls["noai"]: ("refused", "noai"),
        urls["listless"]: ("failed", "no_capture"),
        urls["robot"]: ("refused", "robots"),
    }
    output = crawled(stage(tmp_path, web))
    assert {row["image_url"] for row in output.table().to_pylist()} == {urls["alive"], urls["archived"]}
    with FetchStore(tmp_path / "data/store/new") as store:
        assert store.verified_digest() == done["digest"] and store.body(urls["archived"]) == GOOD
        noted = dict(store.headers(urls["archived"]))[HEALED_FROM]
    assert noted == archive.url(archive.replay(urls["archived"], "20110102030405"))
    assert not any("robot.jpg" in path for path in archive.asked), "what its host refuses is sought nowhere"


def test_every_request_has_a_row_and_a_second_call_sends_none(tmp_path, web, archive):
    dying(tmp_path, web, archive)
    before = len(web.asked)
    heal(tmp_path, web, archive)
    asked = [web.url(path) for path in web.asked[before:]] + [archive.url(path) for path in archive.asked]
    found = rows(tmp_path / "heal.csv")
    assert {row["asked"] for row in found} == {url for url in asked if not url.endswith(("/robots.txt", "/tdmrep.json"))}
    assert all(row["time"] for row in found) and len({tuple(row.values()) for row in found}) == len(found)
    counts = len(web.asked), len(archive.asked)
    again = heal(tmp_path, web, archive)
    assert (len(web.asked), len(archive.asked)) == counts and again["requests"] == 0
    assert rows(tmp_path / "heal.csv") == found and (again["healed"], again["next"]) == (0, "")


@pytest.mark.parametrize("kind", ["pywb", "timemap", "timegate"])
def test_each_kind_of_archive_gives_the_copy(tmp_path, web, archive, kind):
    urls = dying(tmp_path, web, archive)
    assert heal(tmp_path, web, archive, kind)["healed"] == 2
    accepted = {row["address"] for row in rows(tmp_path / "heal.csv") if row["outcome"] == "accepted"}
    assert accepted == {urls["archived"], urls["robot"]}


def test_the_perceptual_hash_is_accepted_where_it_is_equal(tmp_path, web, archive):
    urls = dying(tmp_path, web, archive)
    again = decode_image(GOOD)
    table = tmp_path / "stated.csv"
    lines = [f"{urls['archived']},{'0' * 64},{again.phash}", f"{urls['changed']},,{again.phash}", f"{urls['robot']},,"]
    table.write_text("\n".join(["image_url,sha256,pHash", *lines]) + "\n")
    done = heal(tmp_path, web, archive, digests=(str(table),))
    last = {row["address"]: (row["outcome"], row["rule"]) for row in rows(tmp_path / "heal.csv")}
    assert last[urls["archived"]] == ("accepted", "phash") and last[urls["changed"]] == ("differs", "")
    assert last[urls["robot"]] == last[urls["noai"]] == ("refused", "no_digest") and done["healed"] == 1
    assert not any("robot.jpg" in path or "noai.jpg" in path for path in archive.asked), "what states nothing is not asked for"


def test_a_copy_is_refused_for_what_stands_in_it_or_in_its_headers_and_where_its_host_does_not_answer(tmp_path, web, archive):
    xmp = '<x:xmpmeta><rdf:Description plus:DataMining="http://ns.useplus.org/ldf/vocab/DMI-PROHIBITED"/></x:xmpmeta>'
    marked = write_image(drawn("jpeg"), "jpeg", xmp=xmp)
    held = {
        web.url("/in.jpg"): (marked, ()),
        web.url("/usage.jpg"): (GOOD, ("X-Archive-Orig-Content-Usage: train-ai=n",)),
        web.url("/tdm.jpg"): (GOOD, ("TDM-Reservation: 1",)),
        "http://127.0.0.1:9/lost.jpg": (GOOD, ()),
        web.url("/free.jpg"): (GOOD, ()),
    }
    for url, (image, headers) in held.items():
        archive.hold(url, lambda _, image=image, headers=headers: [head(200, "image/jpeg", len(image), *headers), image])
    table = tmp_path / "rows.csv"
    lines = [f"{url},{sha256_bytes(image)}" for url, (image, _) in held.items()]
    table.write_text("\n".join(["url,sha256", *lines]) + "\n")
    specs, out = [Archive.parse(archive.cdx)], tmp_path / "o.csv"
    heal_table(stage(tmp_path, web), read_image_table(table), specs, [], tmp_path / "l.csv", 5, out)
    last = {row["address"]: (row["outcome"], row["rule"]) for row in rows(tmp_path / "l.csv")}
    assert {url for url, row in last.items() if row[0] == "accepted"} == {web.url("/free.jpg")}
    assert last["http://127.0.0.1:9/lost.jpg"] == ("refused", "robots")
    assert {last[url][0] for url in held if url != web.url("/free.jpg")} == {"refused"}


def test_a_table_gets_columns_and_keeps_every_row(tmp_path, web, archive):
    urls = dying(tmp_path, web, archive)
    listed = [(urls["archived"], GOOD), (urls["alive"], GOOD), (urls["changed"], GOOD), (urls["archived"], GOOD), ("none", GOOD)]
    lines = ["URL\tTEXT\tsha256", *(f'{url}\tsays "{n}\t{sha256_bytes(data)}' for n, (url, data) in enumerate(listed))]
    table, out = tmp_path / "rows.tsv", tmp_path / "healed.parquet"
    table.write_text("\n".join([*lines, f"{urls['robot']}\tx\t{'1' * 64}", f"{urls['robot']}\tx\t{'2' * 64}"]) + "\n")
    specs = [Archive.parse(archive.cdx)]
    done = heal_table(stage(tmp_path, web), read_image_table(table), specs, [], tmp_path / "heal.csv", 5, out)
    healed = read_image_table(out).table.to_pylist()
    source = archive.url(archive.replay(urls["archived"], "20110102030405"))
    assert [row["healed_url"] for row in healed] == [source, urls["alive"], None, source, None, None, None]
    assert [row["TEXT"] for row in healed][:5] == [f'says "{n}' for n in range(5)] and healed[0]["healed_by"] == "sha256"
    assert (done["rows"], done["no_address"], done["healed"]) == (7, 1, 2) and done["left"]["refused digests_disagree"] == 1


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_accepted_that_differs_and_the_first_equal_copy_always_is(tmp_path, web, archive, seed):
    chance, answers, stated = random.Random(seed), {}, {}
    hashes = {decode_image(image).phash: image for image in (GOOD, OTHER)}
    elsewhere = plain(OTHER)
    archive.paths["/moved"] = elsewhere
    pool = {
        plain(GOOD): GOOD, plain(OTHER): OTHER, plain(GOOD[:-400]): b"", plain(b"<html>", "text/html"): b"",
        (lambda _: GONE): b"", (lambda _: [head(302, "text/plain", 0, "Location: /moved")]): OTHER,
    }  # fmt: skip
    for number in range(40):
        url = web.url(f"/{number}.jpg")
        given = [chance.choice(list(pool)) for _ in range(chance.randrange(4))]
        archive.hold(url, *given)
        if live := chance.choice(["", "", "other", "good"]):
            web.paths[f"/{number}.jpg"] = plain(GOOD if live == "good" else OTHER)
        answers[url] = [{"good": GOOD, "other": OTHER}.get(live, b""), *(pool[answer] for answer in given)]
        image = chance.choice([GOOD, OTHER, b"neither", None])
        kind = chance.choice(["sha256", "phash"])
        phash = next((name for name, known in hashes.items() if known == image), "0" * 16)
        stated[url] = image and (sha256_bytes(image) if kind == "sha256" else "", phash if kind == "phash" else "")
    table = tmp_path / "rows.csv"
    lines = [",".join([url, *(digests or ("", ""))]) for url, digests in stated.items()]
    table.write_text("\n".join(["url,sha256,phash", *lines]) + "\n")
    heal_table(
        stage(tmp_path, web), read_image_table(table), [Archive.parse(archive.cdx)], [], tmp_path / "l.csv", 9, tmp_path / "o.csv"
    )
    healed = {row["url"]: row["healed_sha256"] for row in rows(tmp_path / "o.csv")}
    for url, digests in stated.items():
        equal = [body for body in answers[url] if digests and body and (sha256_bytes(body), "") == digests]
        equal += [body for body in answers[url] if digests and body and digests[1] in hashes and hashes[digests[1]] == body]
        assert healed[url] == (sha256_bytes(equal[0]) if equal else ""), url
        tried = [row for row in rows(tmp_path / "l.csv") if row["address"] == url]
        assert tried[-1]["outcome"] == "accepted" if equal else tried and all(row["outcome"] != "accepted" for row in tried)


@pytest.mark.parametrize(
    ("answer", "rule", "repeated"),
    [
        (lambda _: [head(429, "text/plain", 0, "Retry-After: 1")], "http_status", True),
        (lambda _: [head(429, "text/plain", 0, "Retry-After: 9999")], "http_status", True),
        (lambda _: [head(200, "image/jpeg", 99_000), GOOD], "connection", True),
        (lambda _: [head(404, "text/plain", 0)], "http_status", False),
        (lambda _: [head(200, "image/jpeg", 5_000_000), GOOD], "image_too_large", False),
        (plain(GOOD, "text/html"), "not_an_image", False),
        (lambda _: [head(302, "text/plain", 0, "Location: http://localhost:1/x")], "private_address", False),
    ],
)
def test_an_archive_that_fails_is_asked_again_only_if_it_had_no_time(tmp_path, web, archive, answer, rule, repeated):
    urls = dying(tmp_path, web, archive)
    url, private = urls["archived"], rule == "private_address"
    archive.paths[archive.replay(url, "20100102030405")] = answer
    archive.paths[archive.replay(url, "20110102030405")] = lambda _: GONE
    path = archive.replay(url, "20100102030405")
    heal(tmp_path, web, archive, retries=0)
    if not private:
        row = next(row for row in rows(tmp_path / "heal.csv") if row["asked"] == archive.url(path))
        assert (row["outcome"], row["rule"]) == ("failed", rule)
    asked = archive.asked.count(path)
    archive.paths[path] = plain(GOOD)
    heal(tmp_path, web, archive)
    accepted = {row["address"] for row in rows(tmp_path / "heal.csv") if row["outcome"] == "accepted"}
    assert (url in accepted) == repeated and archive.asked.count(path) == asked + repeated


def test_an_index_in_html_or_of_nonsense_is_a_failure(tmp_path, web, archive):
    urls = dying(tmp_path, web, archive)
    for path in [path for path in archive.paths if path.startswith("/cdx")]:
        archive.paths[path] = plain(b"<!doctype html>Be patient", "text/html")
    assert heal(tmp_path, web, archive)["healed"] == 0
    last = {row["address"]: (row["outcome"], row["rule"]) for row in rows(tmp_path / "heal.csv")}
    assert last[urls["archived"]] == ("failed", "not_an_index")


@pytest.mark.parametrize(
    "body", [b"[[1,2],[3]]", b"{}", b"3", b"x", b"[" * 100_000, b'[["timestamp"],["soon"]]', b'{"timestamp":"2010"}']
)
def test_a_wrong_index_never_raises_anything_else(body):
    archive = Archive.parse("cdx:http://a.example/cdx?url={url} http://a.example/{timestamp}id_/{url}")
    with pytest.raises(ValueError):
        archive.captures(body, "application/json", "http://b.example/")


def test_a_timemap_gives_its_mementos_and_an_html_page_is_none():
    archive = Archive.parse("timemap:http://a.example/timemap/{url}")
    links = (
        b'<http://b.example/x,y;z.jpg>;rel="original", <http://a.example/1/http://b.example/x,y;z.jpg>\n ; rel=memento;'
        b' datetime="Tue, 20 Jun 2000 18:02:59 GMT",<http://a.example/2/x>;datetime="Wed, 20 Jun 2001 18:02:59 GMT";'
        b'rel="last memento"'
    )
    found = archive.captures(links, "application/link-format", "http://b.example/x,y;z.jpg")
    assert found == ["http://a.example/1/http://b.example/x,y;z.jpg", "http://a.example/2/x"]
    raw = Archive.parse("timemap:http://a.example/timemap/{url} http://a.example/{timestamp}id_/{url}")
    assert raw.captures(links, "", "http://b.example/q?a=b")[0] == "http://a.example/20000620180259id_/http://b.example/q?a=b"
    for body, kind in (
        (b"<!doctype html>", "text/html; charset=utf-8"),
        (b"nothing", ""),
        (b'<http://a.example/>;rel="memento"', ""),
    ):
        with pytest.raises(ValueError):
            archive.captures(body, kind, "http://b.example/")


@pytest.mark.parametrize(
    "text", ["", "cdx", "cdx:http://a.example/{url}", "cdx:http://a.example/{url} http://a.example/{url}", "timegate:ftp://a/{url}",
             "timemap:http://a.example/", "wayback:http://a.example/{url}"]
)  # fmt: skip
def test_what_is_no_archive_is_refused(text):
    with pytest.raises(HearsightError, match="names no archive"):
        Archive.parse(text)


def test_listed_addresses_are_asked_for_nowhere_and_their_copies_are_listed_too(tmp_path, web, archive):
    urls = dying(tmp_path, web, archive)
    heal(tmp_path, web, archive, most=1)
    mark = hash_value("s", "url", urls["archived"].removeprefix("http://"))
    (tmp_path / "takedown.jsonl").write_text(
        json.dumps({"kind": "url", "salt": "s", "sha256": mark, "date": "2026-11-30", "reason": ""}) + "\n"
    )
    asked = len(archive.asked)
    assert heal(tmp_path, web, archive)["healed"] == 0
    assert not any("archived.jpg" in path for path in archive.asked[asked:])
    with FetchStore(tmp_path / "data/store/new.heal") as store:
        assert not [entry.url for entry in store if "archived.jpg" in entry.url]
    taken = Takedown([Entry("host", "s", hash_value("s", "host", "b.example"), "")])
    for url in ("2010/http://b.example/x", "cdx?url=http%3A%2F%2Fb.example%2Fx.jpg&n=1", "cdx?url=http://b.example&n=1"):
        assert taken.within(f"http://a.example/{url}") and not taken.url(f"http://a.example/{url}")
    assert not taken.within("http://a.example/2010/http://c.example/b.example") and not taken.within("http://b.example/")


def test_the_command_heals_the_projects_snapshot_and_refuses_with_one_line(tmp_path, web, archive):
    dying(tmp_path, web, archive)
    shutil.copy(PROJECT / "dvc.yaml", tmp_path)
    content = read_params_file(PROJECT / "params.yaml")
    content["english"]["crawl"] = settings(web).plain()
    write_settings(tmp_path, content)
    for words in (
        ["--archive", "cdx:http://a.example/{url}"],
        ["--digests", "nothing.csv"],
        [str(tmp_path / "dvc.yaml"), "--out", "x"],
    ):
        wrong = hearsight("heal", *words, cwd=tmp_path)
        assert wrong.returncode == 2 and wrong.stderr.count(b"\n") == 1, wrong.stderr
    done = hearsight("heal", "--dataset", "english", "--digests", "old", "--archive", archive.cdx, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["healed"] == 2 and (tmp_path / "heal.csv").is_file()


def test_a_base_of_a_later_snapshot_is_not_changed(tmp_path, web, archive):
    dying(tmp_path, web, archive)
    crawled(stage(tmp_path, web, snapshot="later", base="new"))
    with pytest.raises(HearsightError, match="must not change"):
        heal(tmp_path, web, archive)


FREE, CLOSED = (plain(f"User-agent: *\n{line}\n".encode(), "text/plain") for line in ("Allow: /", "Disallow: /"))
SIGNAL = plain(b"User-agent: *\nContent-Signal: ai-train=no\nAllow: /\n", "text/plain")
RESERVED = plain(b'[{"location": "/", "tdm-reservation": 1}]', "application/json")


def missing(_):
    return GONE


def withheld(_):
    return [head(403, "text/plain", 0)]


def failing(_):
    return [head(503, "text/plain", 0)]


class GoneHosts:
    """Hosts where nothing answers, each with an image that archives hold, and a table that states the images' digests."""

    def __init__(self, root, names):
        self.root, self.hosts = root, {name: f"http://127.0.0.{number}:9" for number, name in enumerate(names, 2)}
        self.table = root / "gone.csv"
        self.table.write_text("\n".join(["url,sha256", *(f"{self.image(name)},{sha256_bytes(GOOD)}" for name in names)]) + "\n")

    def image(self, name):
        return self.hosts[name] + "/a.jpg"

    def heal(self, web, *specs, **changes):
        out, ledger = self.root / "o.csv", self.root / "l.csv"
        archives = [Archive.parse(spec) for spec in specs]
        heal_table(stage(self.root, web, **changes), read_image_table(self.table), archives, [], ledger, 5, out)
        found = {row["address"]: row for row in rows(ledger)}
        return {name: (found[self.image(name)]["outcome"], found[self.image(name)]["rule"]) for name in self.hosts}


@pytest.mark.parametrize("kind", ["cdx", "pywb", "timemap", "timegate"])
def test_what_a_host_that_is_gone_stated_last_decides(tmp_path, web, archive, kind):
    states = {"free": [FREE], "none": [missing], "closed": [CLOSED], "signal": [SIGNAL], "opened": [CLOSED, FREE],
              "shut": [FREE, CLOSED], "unknown": [], "own": [FREE], "reserved": [FREE], "unread": [FREE]}  # fmt: skip
    gone = GoneHosts(tmp_path, states)
    for name, captures in states.items():
        archive.hold(gone.image(name), plain(GOOD))
        archive.hold(gone.hosts[name] + "/robots.txt", *captures, mime="text/plain", status="404" if name == "none" else "200")
    for path in [path for path in archive.paths if gone.hosts["own"] + "/robots.txt" in path and path.startswith("/web")]:
        archive.paths[path] = FREE  # a page of the archive's own, without the time of a capture
    archive.hold(gone.hosts["reserved"] + "/.well-known/tdmrep.json", RESERVED, mime="application/json")
    archive.hold(gone.hosts["unread"] + "/.well-known/tdmrep.json", withheld, mime="application/json")
    archive.index(gone.hosts["free"] + "/.well-known/tdmrep.json")
    allowed = ("accepted", "sha256")
    assert gone.heal(web, getattr(archive, kind), tdmrep=True) == {
        "free": allowed, "none": allowed, "closed": ("refused", "robots"), "signal": ("refused", "content_signal"),
        "opened": allowed, "shut": ("refused", "robots"), "unknown": ("refused", "robots"), "own": ("refused", "robots"),
        "reserved": ("refused", "tdm_reserved"), "unread": ("refused", "no_consent"),
    }  # fmt: skip
    asked = {name for name in gone.hosts if any(gone.image(name) in unquote(path) for path in archive.asked)}
    assert asked == {"free", "none", "opened"}, "what its host refused is sought nowhere"
    found = rows(tmp_path / "l.csv")
    live = [row for row in found if row["where"] == "live"]
    assert {(row["outcome"], row["rule"], row["value"]) for row in live} == {("failed", "host_gone", "robots.txt: connection")}
    why = {row["address"]: row["value"] for row in found if row["outcome"] == "refused"}
    assert why[gone.image("unknown")] == why[gone.image("own")] == "no capture of robots.txt can be read"
    read = {row["address"]: row for row in found if row["outcome"] == "read"}
    assert read[gone.hosts["none"] + "/robots.txt"]["value"] == "404 of 2010-01-02T03:04:05Z"
    assert read[gone.hosts["opened"] + "/robots.txt"]["value"] == "200 of 2011-01-02T03:04:05Z"
    requests = len(archive.asked)
    gone.heal(web, getattr(archive, kind), tdmrep=True)
    assert len(archive.asked) == requests and rows(tmp_path / "l.csv") == found


def test_the_newest_capture_of_all_archives_that_can_be_read_counts(tmp_path, web, archive):
    gone = GoneHosts(tmp_path, ["closed", "opened", "without"])
    with SimulatedArchive() as other:
        for name in gone.hosts:
            archive.hold(gone.image(name), plain(GOOD))
        robots = {name: host + "/robots.txt" for name, host in gone.hosts.items()}
        for holder, first, last in ((archive, [FREE], [FREE, CLOSED]), (other, [FREE, CLOSED, failing], [CLOSED, FREE, FREE])):
            holder.hold(robots["closed"], *first, mime="text/plain", digest="EQUAL")
            holder.hold(robots["opened"], *last, mime="text/plain", digest="EQUAL")
        archive.hold(robots["without"], failing, mime="text/plain", status="503")
        assert gone.heal(web, archive.cdx, other.cdx) == {
            "closed": ("refused", "robots"), "opened": ("accepted", "sha256"), "without": ("refused", "robots")
        }  # fmt: skip


def test_a_host_that_fails_is_not_gone(tmp_path, web, archive):
    web.paths["/robots.txt"] = failing
    archive.hold(web.url("/archived.jpg"), plain(GOOD))
    archive.hold(web.url("/robots.txt"), FREE, mime="text/plain")
    table = tmp_path / "rows.csv"
    table.write_text(f"url,sha256\n{web.url('/archived.jpg')},{sha256_bytes(GOOD)}\n")
    specs = [Archive.parse(archive.cdx)]
    heal_table(stage(tmp_path, web), read_image_table(table), specs, [], tmp_path / "l.csv", 5, tmp_path / "o.csv")
    assert [(row["outcome"], row["rule"]) for row in rows(tmp_path / "l.csv")] == [("refused", "robots")]
    assert not archive.asked


@pytest.mark.parametrize(
    ("failure", "gone"),
    [*dict.fromkeys(("dns", "connection", "timeout"), True).items(),
     *dict.fromkeys(("tls", "challenge", "bad_http", "private_address", "host_failing", "retry_later"), False).items()],
)  # fmt: skip
def test_only_a_host_without_any_answer_is_gone(tmp_path, failure, gone):
    with FetchStore(tmp_path / "store", writer=True) as store:
        store.add(Answer("http://a.example/robots.txt", 0, failure))
        store.add(Answer("http://b.example/robots.txt", 404))
        store.add(
            Answer("http://b.example/x.jpg", 302, location="http://a.example/y.jpg"),
            headers=[("Location", "http://a.example/y.jpg")],
        )
        answers = Answers(store, fixture_params())
        assert is_gone(answers.outcome("http://a.example/x.jpg", page=True)) == gone
        assert not is_gone(answers.outcome("http://b.example/x.jpg", page=True)), "it is the host of another address"


def test_images_of_a_host_that_is_gone_come_back_into_the_snapshot(tmp_path, web, archive):
    gone = GoneHosts(tmp_path, ["free"])
    host, url = gone.hosts["free"], gone.image("free")
    images = f'<img src="{url}" alt="the first picture"><img src="{host}/b.jpg" alt="the second picture">'
    web.paths["/"] = plain(f'<html lang="en"><a href="{host}/page">more</a>{images}'.encode(), "text/html")
    hosts = [web.url("").removeprefix("http://"), host.removeprefix("http://")]
    archive.hold(url, plain(GOOD))
    archive.hold(host + "/robots.txt", FREE, mime="text/plain")
    output = crawled(stage(tmp_path, web, hosts=hosts))
    assert output.table().num_rows == 0
    done = heal(tmp_path, web, archive, digests=(str(gone.table),), hosts=hosts)
    assert (done["addresses"], done["healed"], done["left"]) == (2, 1, {"refused no_digest": 1})
    output = crawled(stage(tmp_path, web, hosts=hosts))
    assert [row["image_url"] for row in output.table().to_pylist()] == [url]
    with FetchStore(tmp_path / "data/store/new") as store:
        assert store.verified_digest() == done["digest"] and dict(store.headers(host + "/robots.txt"))[HEALED_FROM]
        assert {store.get(host + path).failure for path in ("/page", "/b.jpg")} == {"not_fetched"}
    requests = len(archive.asked)
    again = heal(tmp_path, web, archive, digests=(str(gone.table),), hosts=hosts)
    assert (again["addresses"], again["healed"], again["requests"], len(archive.asked)) == (1, 0, 0, requests)
