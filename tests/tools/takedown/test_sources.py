"""Archives and tables still hold in their own files what is listed; no record, no cache and no snapshot made of them does."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest

from components.core.digests import sha256_bytes
from components.core.stage_output import StageOutput
from components.stages.crawl.run import run
from components.stages.filter.boilerplate import crop, load_boilerplate
from components.tools.takedown.evidence import Content, collect_content
from components.tools.takedown.file_search import FileSearch, Matcher
from components.tools.takedown.listing import add
from components.web.store import FetchStore
from components.web.takedown_list import NAME, read_takedown
from tests.support.crawl import sets
from tests.support.crawl.fixture_web import HOSTS
from tests.support.crawl.fixtures import drawn_web, stage, web  # noqa: F401
from tests.support.takedown.unpack import read_unpacked
from tests.support.web.archived import archive_web, web_pages, write_warc

GONE, STAYS = HOSTS
ARCHIVES = {"source": "archives", "seeds": [], "hosts": [], "inputs": ["warc/*.warc.gz"]}
TABLE = {"source": "table", "seeds": [], "hosts": [], "layout": "pracegover", "inputs": ["dataset.json"], "language": "pt"}


@pytest.fixture
def crawl(stage):  # noqa: F811
    def go(**changes) -> StageOutput:
        job = stage(**changes)
        shutil.rmtree(job.out)
        run(job)
        job.finish()
        return StageOutput(job.out)

    return go


def findings(root: Path, search: FileSearch) -> list[str]:
    """Entries of the shard cache in which something is found."""
    paths = sorted((root / ".hearsight/cache").rglob("*.parquet"))
    return [path.parent.parent.name for path in paths if search.in_file(path, crawl=True)]


def own(output: StageOutput, host: str) -> list[dict]:
    rows = [row for row in output.table().to_pylist() if host in row["page_url"] and host in row["image_url"]]
    return [{name: value for name, value in row.items() if name != "media"} for row in rows]


def test_a_taken_down_host_is_removed_from_archive_outputs_and_other_records_stay(crawl, web, tmp_path):  # noqa: F811
    archive_web(web, tmp_path / "warc", 2)
    write_warc(tmp_path / "warc/broken.warc.gz", [("ftp://" + GONE + "/x", b"<p>no page"), *web_pages(web)[:1]])
    before = crawl(**ARCHIVES)
    store = tmp_path / "data/store/fixture"
    stays, rows = own(before, STAYS), before.ledger().to_pylist()
    gone = {row["key"] for row in before.table().to_pylist() if GONE in row["page_url"]}
    assert gone and GONE.encode() in read_unpacked(store)
    add(tmp_path, "host", GONE)
    search = FileSearch(Matcher(read_takedown(tmp_path / NAME)))
    assert findings(tmp_path, search) == ["crawl.read"] * 3

    shutil.rmtree(tmp_path / ".hearsight/cache/crawl.read")  # as a purge does
    after = crawl(**ARCHIVES)
    assert own(after, STAYS) == stays and stays and not own(after, GONE)
    ledger = after.ledger().to_pylist()
    # Each record is still accounted for, by the key it had.
    assert {row["key"] for row in ledger if row["rule"] == "takedown" and row["kind"] == "record"} >= gone
    assert GONE not in str(ledger) and len({(row["kind"], row["key"]) for row in ledger}) == len(ledger)
    assert len(ledger) == len(rows)
    assert findings(tmp_path, search) == [] and GONE.encode() not in read_unpacked(store)
    assert crawl(**ARCHIVES).digest == after.digest


def test_a_listed_archive_page_removes_the_images_that_no_other_page_shows(crawl, web, tmp_path):  # noqa: F811
    alone, shared = f"http://{STAYS}/images/alone.jpg", f"http://{STAYS}/images/shared.jpg"
    for url, name in ((alone, "0000.jpg"), (shared, "0001.jpg")):
        shutil.copy(next((web / GONE / "images").glob(f"*{name[-5:]}")), web / url.removeprefix("http://"))
    pages = [
        (f"http://{STAYS}/one", f'<img src="{alone}" alt="Only here"><img src="{shared}" alt="In two places">'.encode()),
        (f"http://{STAYS}/two", f'<img src="{shared}" alt="And also there">'.encode()),
    ]
    write_warc(tmp_path / "warc/a.warc.gz", pages)
    assert crawl(**ARCHIVES).table().num_rows == 3
    add(tmp_path, "url", f"http://{STAYS}/one")
    after = crawl(**ARCHIVES)
    assert [row["image_url"] for row in after.table().to_pylist()] == [shared]
    with FetchStore(tmp_path / "data/store/fixture") as store:
        assert alone not in store and shared in store and store.verified_digest()
    assert alone.encode() not in read_unpacked(tmp_path / "data/store/fixture")


def test_a_removed_owners_images_are_removed_by_the_keys_of_the_records(crawl, tmp_path):
    sets.pracegover(tmp_path / "dataset.json")
    sets.images(tmp_path / "images")
    before = crawl(**TABLE, image_folder="images")
    (first, second) = before.table().to_pylist()
    image = before.read_media(first["media"])
    assert image in read_unpacked(tmp_path / "data/store/fixture")
    add(tmp_path, "owner", "@8F14E45F")
    older = [path.read_bytes() for path in sorted((before.path / "shards").glob("*.parquet"))]
    after = crawl(**TABLE, image_folder="images")
    assert [row["key"] for row in after.table().to_pylist()] == [second["key"]]
    (row,) = [row for row in after.ledger().to_pylist() if row["rule"] == "takedown"]
    assert (row["key"], row["value"]) == (first["key"], "listed") and "1000268201" not in str(after.ledger().to_pylist())
    left = read_unpacked(tmp_path / "data/store/fixture")
    assert image not in left and b"1000268201" not in left and after.read_media(second["media"]) in left

    # No column of a shard says whose a record is: a purge knows it by the key in the ledger.
    known = collect_content([lambda: io.BytesIO(older[0])], Matcher(read_takedown(tmp_path / NAME)), Content(keys={row["key"]}))
    assert known.images == {first["image_sha256"]} and len(known.texts) >= 1


def test_a_proxy_address_that_contains_a_listed_host_is_not_listed(crawl, web, tmp_path):  # noqa: F811
    proxied = f"http://{STAYS}/{GONE}/p.jpg"
    (web / STAYS / GONE).mkdir()
    shutil.copy(next((web / GONE / "images").glob("*.jpg")), web / STAYS / GONE / "p.jpg")
    write_warc(tmp_path / "warc/a.warc.gz", [(f"http://{STAYS}/", f'<img src="{proxied}" alt="By a proxy">'.encode())])
    add(tmp_path, "host", GONE)
    after = crawl(**ARCHIVES)
    assert [row["image_url"] for row in after.table().to_pylist()] == [proxied]
    search = FileSearch(Matcher(read_takedown(tmp_path / NAME)))
    results = [search.in_file(path, crawl=True) for path in sorted(after.path.rglob("*.parquet"))]
    results += [search.in_file(path) for path in sorted((tmp_path / "data/store").rglob("*")) if path.is_file()]
    assert len(results) >= 3 and not any(results)


@pytest.mark.parametrize("language", ["en", "un", "pt"])
def test_a_removed_text_is_matched_in_its_cropped_form_in_every_language(language):
    alt = "Stock photo of a red boat on the sea"
    cropped = crop(alt, load_boilerplate("en")).text
    known = Content()
    known.add_rows([{"key": "a", "alt": alt, "language": language}])
    assert cropped != alt and {sha256_bytes(alt.encode()), sha256_bytes(cropped.encode())} <= known.texts
