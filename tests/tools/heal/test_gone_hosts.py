"""Images of a host that is gone are healed under what the host stated last, and refused where that is not known."""

from __future__ import annotations

from urllib.parse import unquote

import pytest

from components.core.digests import sha256_bytes
from components.tools.heal.archives import Archive
from components.tools.heal.healing import HEALED_FROM, is_gone
from components.tools.heal.targets import heal_table
from components.tools.image_tables import read_image_table
from components.web.answers import Answers
from components.web.store import FetchStore
from components.web.warc import Entry
from tests.support.crawl.crawls import crawled, fixture_params
from tests.support.crawl.healing import GONE, GOOD, heal, rows, stage
from tests.support.web.raw_web import head, plain
from tests.support.web.simulated_archive import SimulatedArchive

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
        store.add(Entry("http://a.example/robots.txt", 0, failure))
        store.add(Entry("http://b.example/robots.txt", 404))
        store.add(
            Entry("http://b.example/x.jpg", 302, location="http://a.example/y.jpg"),
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


def test_a_timemap_of_several_pages_may_lack_the_newest_capture():
    archive = Archive.parse("timemap:http://a.example/timemap/{url}")
    page = b'<http://a.example/1/x>;rel="memento";datetime="Tue, 20 Jun 2000 18:02:59 GMT"'
    page += b',<http://a.example/timemap/x>;rel="self"'
    assert archive.captures(page, "", "http://b.example/x", newest=True) == ["http://a.example/1/x"]
    page += b',<http://a.example/timemap/2/x>;rel="timemap"'
    assert archive.captures(page, "", "http://b.example/x") == ["http://a.example/1/x"]
    with pytest.raises(ValueError, match="further pages"):
        archive.captures(page, "", "http://b.example/x", newest=True)
