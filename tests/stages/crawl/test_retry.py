"""A retry requests only failed answers, and it is atomic."""

from __future__ import annotations

import json
import shutil
import signal
import subprocess
import sys
from collections import Counter

import pytest

from components.core.errors import HearsightError
from components.core.params import read_params_file
from components.tools.snapshots import class_of, matches, retry_snapshot
from components.web.store import FetchStore
from components.web.warc import Entry
from tests.support import HANG, PROJECT, make_stage
from tests.support.command import hearsight
from tests.support.crawl.crawls import crawled, fixture_params
from tests.support.crawl.fixture_web import drawn_image
from tests.support.settings_files import write_settings
from tests.support.web.raw_web import RawWeb, head, plain

GOOD = drawn_image(("red", "house", "on a green field"))
OTHER = drawn_image(("blue", "fish", "in the snow at night"))


class Web(RawWeb):
    """A web whose failing paths work once it is ``fixed``."""

    mended = False

    def failing(self, script, *first):
        return lambda before: script(before) if self.mended else first


def paths(web):
    """Return paths of a seed with two pages and five images, most of which fail at first."""
    images = "".join(f'<img src="{name}.jpg" alt="the {name} picture">' for name in ("good", "busy", "lost", "gone", "never"))
    busy, lost = [head(503, "text/plain", 4), b"busy"], [None]
    return {
        "/": plain(f'<html lang="en">{images}<a href="late">late</a><a href="fine">fine</a>'.encode(), "text/html"),
        "/good.jpg": plain(GOOD),
        "/busy.jpg": web.failing(plain(GOOD), *busy),
        "/lost.jpg": web.failing(plain(OTHER), *lost),
        "/gone.jpg": web.failing(plain(GOOD), head(410, "text/plain", 0)),
        "/never.jpg": lambda _: lost,
        "/fine": plain(b"<html><p>fine", "text/html"),
        "/late": web.failing(plain(b'<html><img src="new.jpg" alt="a new picture"><a href="newer">n</a>', "text/html"), *busy),
        "/newer": plain(b"<html><p>newer", "text/html"),
        "/new.jpg": plain(OTHER),
    }


def settings(web, **changes):
    host = web.url("").removeprefix("http://")
    values = {"web": "open", "contact": "http://example.org/", "seeds": [web.url("/")], "hosts": [host], "allow_private": True}
    return fixture_params(**(values | {"retries": 0, "timeout": 3.0, "snapshot": "s"} | changes))


def crawl(root, web, **changes):
    """Run the crawl stage and fix the web; return (path → rule, digest of the output)."""
    job = make_stage(root, "crawl", params=settings(web, **changes))
    output = crawled(job)
    rows = output.ledger().to_pylist()
    base, web.mended = web.url("/"), True
    where = {
        (row["key"] if row["kind"] == "page" else row["detail"].split(" on ")[0]).removeprefix(base): row["rule"] for row in rows
    }
    return where, output.digest


@pytest.fixture
def web():
    with Web({}) as running:
        running.paths = paths(running)
        yield running


def test_a_retry_requests_failures_of_a_class_and_what_they_link_to(tmp_path, web):
    before, digest = crawl(tmp_path, web)
    failed = {
        "busy.jpg": "http_status",
        "lost.jpg": "connection",
        "gone.jpg": "http_status",
        "never.jpg": "connection",
        "late": "http_status",
    }
    assert {path: rule for path, rule in before.items() if rule} == failed
    segment = tmp_path / "data/store/s/segment-00000.warc.gz"
    old, asked = segment.read_bytes(), len(web.asked)
    done = retry_snapshot(make_stage(tmp_path, "crawl", params=settings(web)), ["connection", "http_5xx"])
    assert Counter(web.asked[asked:]).keys() == {"/busy.jpg", "/lost.jpg", "/never.jpg", "/late", "/new.jpg", "/newer"}
    assert (done["asked"], done["answered"], done["failed"]) == (4, 3, {"connection": 1}) and "crawl@english" in done["next"]
    assert segment.read_bytes().startswith(old), "the old answers stay"
    asked = len(web.asked)
    after, anew = crawl(tmp_path, web)
    assert len(web.asked) == asked, "the stage replays and asks nothing"
    assert {path: rule for path, rule in after.items() if rule} == {"gone.jpg": "http_status", "never.jpg": "connection"}
    assert {"new.jpg", "newer"} <= set(after) and anew != digest
    with FetchStore(tmp_path / "data/store/s") as store:
        assert store.verified_digest() == done["digest"]


def test_a_retry_gives_the_snapshot_that_a_crawl_without_the_failures_would_have_given(tmp_path, web):
    crawl(tmp_path / "a", web)
    retry_snapshot(make_stage(tmp_path / "a", "crawl", params=settings(web)), ["connection", "http_5xx", "http_410"])
    assert crawl(tmp_path / "a", web) == crawl(tmp_path / "b", web)
    with FetchStore(tmp_path / "a/data/store/s") as one, FetchStore(tmp_path / "b/data/store/s") as other:
        assert one.verified_digest() == other.verified_digest()


def test_a_retry_without_changes_reports_it(tmp_path, web):
    crawl(tmp_path, web)
    stage = make_stage(tmp_path, "crawl", params=settings(web))
    complete = tmp_path / "data/store/s/COMPLETE"
    content, asked = complete.read_bytes(), len(web.asked)
    assert retry_snapshot(stage, ["timeout"])["asked"] == 0 and len(web.asked) == asked and complete.read_bytes() == content
    retry_snapshot(stage, ["connection"])
    again = retry_snapshot(stage, ["connection"])
    assert (again["asked"], again["answered"], again["next"]) == (1, 0, "")


def test_an_image_over_the_size_limit_is_retried_under_another_limit(tmp_path, web):
    assert crawl(tmp_path, web, min_side=2000)[0]["good.jpg"] == "image_side"
    assert crawl(tmp_path, web)[0]["good.jpg"] == "image_side"
    retry_snapshot(make_stage(tmp_path, "crawl", params=settings(web)), ["image_side"])
    assert crawl(tmp_path, web)[0]["good.jpg"] == ""


KILLED = """
import json, os, signal, sys
from pathlib import Path
import components.web.store as store_module
from components.tools.snapshots import retry_snapshot
from components.stages.crawl import Params
from tests.stages.crawl.conftest import crawled
from tests.support import make_stage
root, params, moment = Path(sys.argv[1]), json.loads(sys.argv[2]), sys.argv[3]
publish, added, add = store_module.publish_json, [0], store_module.FetchStore.add
def dying(path, content):
    if path.name == "COMPLETE" and moment == "before the end":
        os.kill(os.getpid(), signal.SIGKILL)
    publish(path, content)
    if path.name == "COMPLETE" and moment == "after the end":
        os.kill(os.getpid(), signal.SIGKILL)
def dying_add(self, *args, **kwargs):
    placed = add(self, *args, **kwargs)
    added[0] += 1
    if moment.isdigit() and added[0] > int(moment):
        if int(moment) % 2:
            self.sync()
        os.kill(os.getpid(), signal.SIGKILL)
    return placed
store_module.publish_json, store_module.FetchStore.add = dying, dying_add
retry_snapshot(make_stage(root, "crawl", params=Params(**params)), ["connection", "http_5xx"])
"""


@pytest.mark.long
@pytest.mark.parametrize(
    "moment",
    [
        pytest.param("0", marks=pytest.mark.slow),
        pytest.param("1", marks=pytest.mark.slow),
        pytest.param("3", marks=pytest.mark.slow),
        pytest.param("before the end", marks=pytest.mark.slow),
        "after the end",
    ],
)
def test_a_retry_killed_at_any_time_is_atomic(tmp_path, web, moment):
    was = crawl(tmp_path, web)
    shutil.copytree(tmp_path / "data", tmp_path / "whole/data")
    script = [sys.executable, "-c", KILLED, str(tmp_path), json.dumps(settings(web).plain()), moment]
    assert subprocess.run(script, cwd=PROJECT, timeout=HANG, check=False, capture_output=True).returncode == -signal.SIGKILL
    now = crawl(tmp_path, web)
    if moment != "after the end":
        assert now == was
        retry_snapshot(make_stage(tmp_path, "crawl", params=settings(web)), ["connection", "http_5xx"])
        now = crawl(tmp_path, web)
    assert now != was
    retry_snapshot(make_stage(tmp_path / "whole", "crawl", params=settings(web)), ["connection", "http_5xx"])
    assert crawl(tmp_path / "whole", web) == now


def test_leftovers_of_a_killed_retry_are_removed_and_other_damage_is_an_error(tmp_path, web):
    crawl(tmp_path, web)
    folder = tmp_path / "data/store/s"
    files = {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()}
    with FetchStore(folder, writer=True) as store:
        store.add(Entry(web.url("/good.jpg"), 0, "timeout", "over 1 s"))
        store.sync()
        store.add(Entry(web.url("/more"), 200), b"x", [], "OK")
    with FetchStore(folder) as store:
        assert store.get(web.url("/good.jpg")).status == 200 and web.url("/more") not in store
    FetchStore(folder, writer=True).close()
    assert {path.name: path.read_bytes() for path in folder.iterdir() if path.is_file()} == files
    (folder / "index.jsonl").write_bytes(files["index.jsonl"][:-1] + b"x")
    with pytest.raises(HearsightError, match="was changed after"):
        retry_snapshot(make_stage(tmp_path, "crawl", params=settings(web)), ["connection"])
    assert (folder / "segment-00000.warc.gz").read_bytes() == files["segment-00000.warc.gz"]


@pytest.mark.long
def test_a_snapshot_without_index_count_can_be_retried(tmp_path, web):
    crawl(tmp_path, web)
    complete = tmp_path / "data/store/s/COMPLETE"
    content = json.loads(complete.read_bytes())
    del content["index_lines"]
    complete.write_text(json.dumps(content))
    was = crawl(tmp_path, web)
    script = [sys.executable, "-c", KILLED, str(tmp_path), json.dumps(settings(web).plain()), "1"]
    assert subprocess.run(script, cwd=PROJECT, timeout=HANG, check=False, capture_output=True).returncode == -signal.SIGKILL
    assert crawl(tmp_path, web) == was
    assert retry_snapshot(make_stage(tmp_path, "crawl", params=settings(web)), ["http_5xx"])["answered"] == 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("classes", "changes", "message"),
    [
        (["tiemout"], {}, "no class of failure here .* known are: challenge, connection, host_failing, http_404, http_410"),
        ([], {}, "names no class"),
        (["connection"], {"snapshot": "none"}, "is not complete .* run crawl"),
        (["connection"], {"depth": 0, "seeds": ["http://127.0.0.1:9/"], "hosts": ["127.0.0.1:9"]}, "does not hold"),
    ],
)
def test_an_impossible_retry_is_a_one_line_error_without_requests(tmp_path, web, classes, changes, message):
    crawl(tmp_path, web)
    asked = len(web.asked)
    with pytest.raises(HearsightError, match=message) as caught:
        retry_snapshot(make_stage(tmp_path, "crawl", params=settings(web, **changes)), classes)
    assert "\n" not in str(caught.value) and len(web.asked) == asked


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        (Entry("u", 0, "timeout"), "timeout"),
        (Entry("u", 200), ""),
        (Entry("u", 301, location="/x"), ""),
        (Entry("u", 301), "http_301"),
        (Entry("u", 206), "http_206"),
        (Entry("u", 503), "http_503"),
    ],
)
def test_the_class_of_an_answer(entry, name):
    assert class_of(entry) == name
    assert matches("http_503", ["http_5xx"]) and matches("http_503", ["http_503"]) and not matches("http_403", ["http_5xx"])


@pytest.mark.long
def test_the_command_reads_the_projects_settings_and_names_a_missing_stage(tmp_path, web):
    """The command in a project with the real dvc.yaml and params.yaml and changed crawl settings."""
    crawl(tmp_path, web)
    shutil.copy(PROJECT / "dvc.yaml", tmp_path)
    content = read_params_file(PROJECT / "params.yaml")
    content["english"]["crawl"] = settings(web).plain()
    write_settings(tmp_path, content)

    wrong = hearsight("retry", "--class", "tiemout", cwd=tmp_path)
    assert wrong.returncode == 2 and wrong.stderr.count(b"\n") == 1 and b"no class of failure" in wrong.stderr
    done = hearsight("retry", "--dataset", "english", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    line = json.loads(done.stdout)
    assert line["answered"] == 3 and line["next"].startswith("dvc repro --force --single-item crawl@english")
    assert json.loads(hearsight("retry", cwd=tmp_path).stdout)["next"] == ""
