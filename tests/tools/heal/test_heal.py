"""Healing accepts nothing that is not what a record states, has a row for every try, and repeats no finished request."""

from __future__ import annotations

import json
import random
import shutil

import pytest

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.params import read_params_file
from components.tools.heal.archives import Archive
from components.tools.heal.healing import HEALED_FROM
from components.tools.heal.targets import heal_table
from components.tools.image_tables import read_image_table
from components.web.images.image import decode_image
from components.web.store import FetchStore
from components.web.takedown_list import Entry, Takedown, hash_value
from tests.support import PROJECT
from tests.support.command import hearsight
from tests.support.crawl.crawls import crawled
from tests.support.crawl.healing import GONE, GOOD, NAMES, OTHER, heal, rows, settings, stage
from tests.support.settings_files import write_settings
from tests.support.web.consent_files import drawn, write_image
from tests.support.web.raw_web import head, plain


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


def test_an_archive_whose_host_refuses_a_use_is_still_asked_for_its_index(tmp_path, web, archive):
    dying(tmp_path, web, archive)
    archive.paths["/robots.txt"] = plain(b"User-agent: *\nContent-Signal: search=yes, ai-train=no\n", "text/plain")
    heal(tmp_path, web, archive)
    assert any(row["outcome"] == "listed" for row in rows(tmp_path / "heal.csv"))


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


def test_what_is_no_digest_states_nothing(tmp_path, web, archive):
    good, table, url = sha256_bytes(GOOD), tmp_path / "rows.csv", web.url("/archived.jpg")
    archive.hold(url, plain(GOOD))
    wrong = [f"{url},zzz,", f"{web.url('/1')},{good[1:]},", f"{web.url('/2')},{good}0,", f"{web.url('/3')},,none"]
    table.write_text("\n".join(["url,sha256,phash", *wrong]) + "\n")
    (tmp_path / "more.csv").write_text(f"url,sha256\n{url},{good.upper()}\n")
    job, out, ledger = stage(tmp_path, web), tmp_path / "o.csv", tmp_path / "l.csv"
    done = heal_table(job, read_image_table(table), [Archive.parse(archive.cdx)], [], ledger, 5, out)
    assert (done["left"], done["requests"], archive.asked) == ({"refused no_digest": 4}, 0, [])
    more = [str(tmp_path / "more.csv")]
    done = heal_table(job, read_image_table(table), [Archive.parse(archive.cdx)], more, ledger, 5, out)
    assert (done["left"], done["healed"]) == ({"refused no_digest": 3}, 1), "the next source that states one counts"


def test_a_file_that_is_no_ledger_is_refused_before_any_request(tmp_path, web, archive):
    (table := tmp_path / "rows.csv").write_text(f"url,sha256\n{web.url('/archived.jpg')},{sha256_bytes(GOOD)}\n")
    (ledger := tmp_path / "notes.csv").write_text("a,b\n1,2\n")
    archive.hold(web.url("/archived.jpg"), plain(GOOD))
    with pytest.raises(HearsightError, match="is no ledger of heal — give --ledger another name"):
        specs = [Archive.parse(archive.cdx)]
        heal_table(stage(tmp_path, web), read_image_table(table), specs, [], ledger, 5, tmp_path / "o.csv")
    assert not archive.asked and ledger.read_text() == "a,b\n1,2\n"


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
    again = tmp_path / "again.csv"
    heal_table(stage(tmp_path, web), read_image_table(out), specs, [], tmp_path / "heal.csv", 5, again)
    assert read_image_table(again).table.column_names == read_image_table(out).table.column_names


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
             "timemap:http://a.example/", "wayback:http://a.example/{url}", "timegate:{url}", "timemap:http://{url}",
             "cdx:http://a.example/{url} {url}?{timestamp}"]
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
    ledger = (tmp_path / "heal.csv").read_text()
    assert "archived.jpg" not in ledger and ledger.count("takedown:") > 3 and urls["changed"] in ledger
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
    for name in ("sums", "more"):
        (tmp_path / f"{name}.csv").write_text(f"url,sha256\nhttp://127.0.0.1:9/lost.jpg,{'1' * 64}\n")
    for words in (
        ["--archive", "cdx:http://a.example/{url}"],
        ["--digests", "nothing.csv"],
        [str(tmp_path / "dvc.yaml"), "--out", "x"],
        ["sums.csv", "--out", "sums.csv"],
        ["sums.csv", "--out", "heal.csv"],
        ["sums.csv", "--out", "out.csv", "--ledger", "sums.csv"],
        ["sums.csv", "--out", "more.csv", "--digests", "more.csv"],
    ):
        wrong = hearsight("heal", *words, cwd=tmp_path)
        assert wrong.returncode == 2 and wrong.stderr.count(b"\n") == 1, wrong.stderr
        assert ".csv" not in words[-1] or words[0] == "--digests" or b"written over an input" in wrong.stderr
    done = hearsight("heal", "--dataset", "english", "--digests", "old", "--archive", archive.cdx, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["healed"] == 2 and (tmp_path / "heal.csv").is_file()


def test_a_base_of_a_later_snapshot_is_not_changed(tmp_path, web, archive):
    dying(tmp_path, web, archive)
    crawled(stage(tmp_path, web, snapshot="later", base="new"))
    with pytest.raises(HearsightError, match="must not change"):
        heal(tmp_path, web, archive)
