"""The inputs of ``benchmarks.pairs``: real pages as a gzip WARC, its records as zstd and as WACZ, and the WAT of it.

The pages are those of the sample's packages (``hearsight data --benchmarks``). Not in scope: anything about time.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

from backports import zstd
from selectolax.lexbor import LexborHTMLParser
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from components.web.html.page import decode

DATE = "2026-01-01T00:00:00Z"
LINKS = {"a": ("href",), "img": ("src",), "link": ("href",), "script": ("src",), "form": ("action",), "area": ("href",)}


def pages(root: Path, rounds: int) -> Iterator[tuple[str, bytes]]:
    """The real pages with an address each, ``rounds`` times over under different hosts."""
    files = sorted(path for path in root.rglob("*.htm*") if path.is_file())
    if not files:
        raise SystemExit(f"no pages under {root}: run `hearsight data --benchmarks` first")
    for again in range(rounds):
        for path in files:
            yield f"http://host{again}.example/{quote(path.relative_to(root).as_posix())}", path.read_bytes()


def write_warc(path: Path, root: Path, rounds: int) -> int:
    """A WARC as Common Crawl writes it: request, response and metadata of every page, a gzip member each."""
    count = 0
    with path.open("wb") as handle:
        writer = WARCWriter(handle, gzip=True)
        writer.write_record(writer.create_warcinfo_record(path.name, {"software": "warcio", "format": "WARC File Format 1.1"}))
        for url, html in pages(root, rounds):
            about = {"WARC-Date": DATE, "WARC-IP-Address": "192.0.2.1"}
            request = StatusAndHeaders(f"GET {url} HTTP/1.1", [("Host", url.split("/")[2])], is_http_request=True)
            writer.write_record(
                writer.create_warc_record(url, "request", payload=io.BytesIO(b""), http_headers=request, warc_headers_dict=about)
            )
            response = StatusAndHeaders("200 OK", _headers(html), protocol="HTTP/1.1")
            kind = {"WARC-Identified-Payload-Type": "text/html"}
            writer.write_record(
                writer.create_warc_record(
                    url, "response", io.BytesIO(html), http_headers=response, warc_headers_dict=about | kind
                )
            )
            fields = b'fetchTimeMs: 120\r\ncharset-detected: UTF-8\r\nlanguages-cld2: {"reliable":true,"languages":[]}\r\n'
            writer.write_record(
                writer.create_warc_record(
                    url, "metadata", io.BytesIO(fields), warc_content_type="application/warc-fields", warc_headers_dict=about
                )
            )
            count += 1
    return count


def write_zstd(path: Path, warc: Path, dictionary: bool = False) -> None:
    """The records of a gzip WARC, a zstd frame each, as IIPC's draft has it; with a dictionary made of them if asked."""
    members, data, at = [], memoryview(warc.read_bytes()), 0
    while at < len(data):
        unpacker, parts = zlib.decompressobj(31), []
        while not unpacker.eof:
            parts.append(unpacker.decompress(data[at : at + (1 << 14)]))
            at += 1 << 14
        at = min(at, len(data)) - len(unpacker.unused_data)
        members.append(b"".join(parts))
    checked = {zstd.CompressionParameter.checksum_flag: 1}
    with path.open("wb") as handle:
        trained = zstd.train_dict(members[::10], 110_000) if dictionary else None
        if trained:
            handle.write(b"\x5d\x2a\x4d\x18" + len(trained).to_bytes(4, "little") + trained.dict_content)
        for member in members:
            handle.write(zstd.compress(member, options=checked, zstd_dict=trained))


def write_wacz(path: Path, warc: Path) -> None:
    """A WACZ with that WARC, stored as the format asks."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        archive.write(warc, f"archive/{warc.name}")
        archive.writestr("datapackage.json", '{"profile": "data-package", "wacz_version": "1.1.1"}')


def write_wat(path: Path, root: Path, rounds: int, warc: str) -> int:
    """The WAT of such a WARC: a metadata record of JSON for every record, as ia-web-commons writes them."""
    count = 0
    with path.open("wb") as handle:
        writer = WARCWriter(handle, gzip=True)
        writer.write_record(writer.create_warcinfo_record(path.name, {"software": "ia-web-commons.1.1.9", "format": "WARC 1.0"}))
        for url, html in pages(root, rounds):
            for kind in ("request", "response", "metadata"):
                body = json.dumps(_envelope(url, html, warc, kind), separators=(",", ":")).encode()
                about = {"WARC-Date": DATE, "WARC-Refers-To": f"<urn:uuid:{hashlib.md5(url.encode()).hexdigest()}>"}
                writer.write_record(
                    writer.create_warc_record(
                        url, "metadata", io.BytesIO(body), warc_content_type="application/json", warc_headers_dict=about
                    )
                )
            count += 1
    return count


def _headers(html: bytes) -> list[tuple[str, str]]:
    return [
        ("Date", "Thu, 01 Jan 2026 00:00:00 GMT"),
        ("Server", "nginx"),
        ("Content-Type", "text/html; charset=utf-8"),
        ("X-Crawl-Content-Encoding", "gzip"),
        ("Content-Length", str(len(html))),
        ("Last-Modified", "Thu, 01 Jan 2026 00:00:00 GMT"),
        ("Connection", "keep-alive"),
    ]


def _envelope(url: str, html: bytes, warc: str, kind: str) -> dict[str, object]:
    payload: dict[str, object]
    if kind == "response":
        payload = {
            "Actual-Content-Type": "application/http; msgtype=response",
            "HTTP-Response-Metadata": {
                "Response-Message": {"Status": "200", "Version": "HTTP/1.1", "Reason": "OK"},
                "Headers": dict(_headers(html)),
                "Headers-Length": "240",
                "Entity-Length": str(len(html)),
                "Entity-Digest": "sha1:" + hashlib.sha1(html).hexdigest(),
                "Entity-Trailing-Slop-Length": "0",
                "HTML-Metadata": _described(html),
            },
            "Actual-Content-Length": str(len(html) + 240),
            "Block-Digest": "sha1:" + hashlib.sha1(html).hexdigest(),
        }
    elif kind == "request":
        message = {"Method": "GET", "Path": "/", "Version": "HTTP/1.1"}
        payload = {
            "Actual-Content-Type": "application/http; msgtype=request",
            "HTTP-Request-Metadata": {"Request-Message": message, "Headers": {"Host": url.split("/")[2]}},
        }
    else:
        fields = [{"Name": "fetchTimeMs", "Value": "120"}, {"Name": "charset-detected", "Value": "UTF-8"}]
        payload = {
            "Actual-Content-Type": "application/metadata-fields",
            "WARC-Metadata-Metadata": {"Metadata-Records": fields},
        }
    return {
        "Container": {
            "Filename": warc,
            "Compressed": True,
            "Offset": "1024",
            "Gzip-Metadata": {
                "Deflate-Length": "4096",
                "Header-Length": "10",
                "Footer-Length": "8",
                "Inflated-Length": str(len(html)),
            },
        },
        "Envelope": {
            "Format": "WARC",
            "WARC-Header-Length": "560",
            "WARC-Header-Metadata": {
                "WARC-Type": kind,
                "WARC-Date": DATE,
                "WARC-Record-ID": f"<urn:uuid:{hashlib.md5((url + kind).encode()).hexdigest()}>",
                "Content-Length": str(len(html)),
                "Content-Type": "application/http; msgtype=response",
                "WARC-Target-URI": url,
            },
            "Payload-Metadata": payload,
        },
    }


def _described(html: bytes) -> dict[str, object]:
    tree = LexborHTMLParser(decode(html).replace("\x00", "\ufffd"))
    head: dict[str, object] = {}
    title = tree.css_first("title")
    if title is not None:
        head["Title"] = title.text()
    base = tree.css_first("base[href]")
    if base is not None:
        head["Base"] = base.attributes.get("href") or ""
    head["Metas"] = [{key: value or "" for key, value in node.attributes.items()} for node in tree.css("meta")]
    links: list[dict[str, str]] = []
    for node in tree.css(", ".join(f"{tag}[{name}]" for tag, names in LINKS.items() for name in names)):
        for name in LINKS[str(node.tag)]:
            link = {"path": f"{str(node.tag).upper()}@/{name}", "url": node.attributes.get(name) or ""}
            for more in ("alt", "title", "rel", "type"):
                if node.attributes.get(more) is not None:
                    link[more] = node.attributes[more] or ""
            if node.tag == "a" and node.text().strip():
                link["text"] = " ".join(node.text().split())
            links.append(link)
    return {"Head": head, "Links": links}
