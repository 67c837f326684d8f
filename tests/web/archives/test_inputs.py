"""Archives and lists are read from files, standard input, S3 and http, and `hearsight pairs` prints their pairs."""

from __future__ import annotations

import gzip
import json

import pytest

from components.core.errors import HearsightError
from components.stages.crawl.sources.inputs import draw_inputs
from components.web.archives import read_archive, read_paths
from tests.support import command
from tests.support.web.archive_samples import PAGE, warc


def test_a_list_of_paths_is_sampled_without_replacement_and_by_its_seed(tmp_path):
    names = [f"crawl-data/CC-MAIN-2026-01/warc/{number:05d}.warc.gz" for number in range(100)]
    listed = tmp_path / "warc.paths.gz"
    listed.write_bytes(gzip.compress("\n".join(names).encode() + b"\n"))
    paths = read_paths(str(listed), "s3://commoncrawl/")
    assert paths == [f"s3://commoncrawl/{name}" for name in names]
    drawn = draw_inputs(paths, 10, seed=7)
    assert len(set(drawn)) == 10 and drawn == sorted(drawn) and drawn == draw_inputs(paths, 10, seed=7)
    assert set(drawn) == set(draw_inputs(paths[::-1], 10, seed=7)) and drawn != draw_inputs(paths, 10, seed=8)
    assert draw_inputs(paths, len(paths), seed=1) == sorted(paths)
    listed.write_bytes(gzip.compress(b"x")[:-3])
    with pytest.raises(HearsightError):
        read_paths(str(listed))


@pytest.mark.long
@pytest.mark.parametrize("signed", [True, False])
def test_archives_and_lists_are_read_from_s3_signed_or_not(bucket, monkeypatch, signed):
    if signed:
        monkeypatch.setenv("AWS_ACCESS_KEY_ID", "k")
        monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s")
    else:
        monkeypatch.delenv("AWS_ACCESS_KEY_ID", raising=False)
        monkeypatch.delenv("AWS_SECRET_ACCESS_KEY", raising=False)
    bucket.put_object(Bucket="archive", Key="w/1.warc.gz", Body=b"".join(warc(200)), ACL="public-read")
    bucket.put_object(Bucket="archive", Key="warc.paths", Body=b"w/1.warc.gz\n", ACL="public-read")
    (path,) = read_paths("s3://archive/warc.paths")
    pages = list(read_archive(path))
    assert len(pages) == 200 and pages[199].archive == "s3://archive/w/1.warc.gz"
    with pytest.raises(HearsightError, match="missing"):
        list(read_archive("s3://archive/missing"))


def test_a_broken_s3_transfer_is_resumed(bucket):
    from components.web.archives import opening

    data = b"".join(warc(3000))
    bucket.put_object(Bucket="archive", Key="big", Body=data, ACL="public-read")
    with opening.open_archive("s3://archive/big") as stream:
        first = stream.read(1000)
        stream._body.close()  # the connection is gone
        rest = b""
        while more := stream.read(1 << 16):
            rest += more
    assert first + rest == data


def hearsight(*words, stdin=b""):
    return command.hearsight("pairs", *map(str, words), stdin=stdin)


def test_pairs_prints_json_lines_and_reports_failures_at_the_end(tmp_path):
    archive, torn, page, other = (tmp_path / name for name in ("a.warc.gz", "torn.gz", "p.html", "x.bin"))
    archive.write_bytes(b"".join(warc(2)))
    torn.write_bytes(b"".join(warc(3))[:-20])
    page.write_bytes(PAGE + b"<img src=b.png>")
    other.write_bytes(bytes(range(256)) * 10)
    done = hearsight(archive, page)
    assert done.returncode == 0 and done.stderr == b""
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [(line["page"], line["image"]) for line in lines[:2]] == [
        ("http://a.sample/0/p", "http://a.sample/0/a.png"),
        ("http://a.sample/1/p", "http://a.sample/1/a.png"),
    ]
    assert lines[2]["image"] == (tmp_path / "a.png").as_uri() and lines[2]["alt"] == "A red kite" and len(lines) == 3
    assert set(lines[0]) == {"page", "image", "alt", "position", "archive", "offset"}
    done = hearsight(torn, tmp_path / "none", other, page)
    assert done.returncode == 2 and len(done.stdout.splitlines()) == 3
    complaints = done.stderr.decode().splitlines()
    assert len(complaints) == 3 and all(line.startswith("hearsight: ") for line in complaints)
    assert [word in line for word, line in zip(("truncated", "No such file", "not HTML"), complaints, strict=True)] == [True] * 3


def test_pairs_reads_standard_input_and_addresses(tmp_path):
    from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
    from threading import Thread

    assert b"http://b.sample/a.png" in hearsight("-", "--base", "http://b.sample/", stdin=PAGE).stdout
    assert len(hearsight("-", stdin=b"".join(warc(5))).stdout.splitlines()) == 5
    (tmp_path / "p.html").write_bytes(PAGE)
    handler = lambda *args: SimpleHTTPRequestHandler(*args, directory=tmp_path)  # noqa: E731
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{server.server_port}/p.html"
        done = hearsight(url, url + "x")
        server.shutdown()
    assert json.loads(done.stdout)["image"].endswith("/a.png") and json.loads(done.stdout)["page"] == url
    assert done.returncode == 2 and b"404" in done.stderr
