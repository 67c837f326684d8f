"""Initial inputs for HTTP answers and archives: heads, responses, WARC, WAT, WACZ, and the store's own files."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
import zlib

PAGE = b"<!doctype html><html lang=en><base href=/b/><img src=a.png alt='A cat.'><p>Text.</html>"


def http(body: bytes, *headers: bytes, status: bytes = b"200 OK") -> bytes:
    """Return an HTTP response."""
    return b"\r\n".join((b"HTTP/1.1 " + status, *headers, b"", body))


def record(block: bytes, kind: bytes = b"response", about: bytes = b"application/http; msgtype=response", *more: bytes) -> bytes:
    """Return a WARC record."""
    head = (b"WARC/1.1", b"WARC-Type: " + kind, b"WARC-Target-URI: http://a.sample/p", b"Content-Type: " + about, *more)
    return b"\r\n".join((*head, b"Content-Length: %d" % len(block), b"", block, b"", b""))


def responses() -> list[bytes]:
    """Return responses in every content encoding."""
    from backports import zstd

    raw = zlib.compressobj(wbits=-15)
    bare = raw.compress(PAGE) + raw.flush()
    chunked = b"".join(b"%x;x=y\r\n%s\r\n" % (len(part), part) for part in (PAGE[:20], PAGE[20:])) + b"0\r\n\r\n"
    html = b"Content-Type: text/html; charset=utf-8"
    coded = [
        (b"gzip", gzip.compress(PAGE)),
        (b"deflate", zlib.compress(PAGE)),
        (b"deflate", bare),
        (b"zstd", zstd.compress(PAGE)),
    ]
    coded += [(b"gzip, gzip", gzip.compress(gzip.compress(PAGE))), (b"gzip", gzip.compress(bytes(100_000))), (b"br", PAGE)]
    coded += [(b"gzip", gzip.compress(PAGE)[:-9]), (b"nonsense", b"\x00\x01")]
    import brotli

    coded.append((b"br", brotli.compress(PAGE)))
    return [
        http(PAGE, html),
        http(PAGE),
        http(chunked, html, b"Transfer-Encoding: chunked"),
        http(chunked[:-20], html, b"Transfer-Encoding: chunked", b"X-Robots-Tag: noindex"),
        http(b"", b"Location: /x", status=b"301 Moved"),
        b"HTTP/1.0 200\nContent-Type: application/xhtml+xml\n\n" + PAGE,
        *(http(body, html, b"Content-Encoding: " + coding) for coding, body in coded),
    ]


def wats() -> list[bytes]:
    """Return the JSON of WAT records."""
    links = [{"path": "IMG@/src", "url": "a.png", "alt": "A cat"}, {"path": "A@/href", "url": "/x"}]
    links += [{"path": "IMG@/src", "url": '\u00e9\\"x', "alt": 'q " \\ \u2028'}, {"path": "IMG@/src"}]
    head = {
        "Base": "/b/",
        "Metas": [{"name": "robots", "content": "noindex"}, {"http-equiv": "content-language", "content": "en"}],
    }
    result = []
    for html in ({"Links": links, "Head": head}, {"Head": head, "Links": links}, {"Links": []}, {}, None, {"Links": 1}):
        headers = {"Content-Language": "en-GB", "X-Robots-Tag": "hearsight: none"}
        payload = {"HTTP-Response-Metadata": {"Headers": headers, "HTML-Metadata": html}}
        result.append(json.dumps({"Envelope": {"Payload-Metadata": payload}}, separators=(",", ":")).encode())
    return [*result, result[0].replace(b":", b": "), b'{"HTML-Metadata":[[[['.ljust(1500, b"[")]


def warcs() -> list[bytes]:
    """Return archives: valid, truncated, with wrong lengths, with endless heads."""
    page = record(http(PAGE, b"Content-Type: text/html"))
    wat = record(wats()[0], b"metadata", b"application/json")
    info = record(b"software: x\r\n", b"warcinfo", b"application/warc-fields")
    lying = page.replace(b"Content-Length: 1", b"Content-Length: 9")
    return [
        page,
        info + page + wat,
        page.replace(b"\r\n", b"\n"),
        page[:-30],
        lying + page,
        b"\r\n\r\n" + page + b"rubbish\r\n" + page,
        b"WARC/1.0\r\n" * 40,
        record(bytes(20_000))[:3000],
        page.replace(b"Content-Length", b"Content-Length: 5\r\nContent-Length"),
        record(b"", b"revisit") + record(b"dns", b"response", b"text/dns"),
    ]


def waczs() -> list[bytes]:
    """Return WACZ files, as zip files and as lists of members from which the check builds one."""
    warc = warcs()[0]
    package = json.dumps(
        {"profile": "data-package", "wacz_version": "1.1.1", "resources": [{"path": "archive/data.warc.gz"}]}
    ).encode()
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("datapackage.json", package)
        made.writestr("archive/data.warc.gz", gzip.compress(warc))
    parts = [(b"datapackage.json", package), (b"archive/data.warc.gz", warc), (b"archive/b.warc", warc), (b"../x.warc", warc)]
    whole = buffer.getvalue()
    joined = [b"\0\0".join(name + b"\0" + content for name, content in parts[:count]) for count in (1, 2, 3, 4)]
    return [whole, whole[:-30], b"rubbish" + whole, *joined, b"archive/x.warc.gz\0" + gzip.compress(warc)[:-8], b""]


def heads() -> list[bytes]:
    """Return response heads as servers send them."""
    plain = http(b"x", b"Content-Type: image/png", b"Content-Length: 1")
    kinds = [
        b'Content-Disposition: inline; filename="caf\xe9.jpg"',
        b"Location: /caf\xe9",
        'ETag: "é日"'.encode(),
        b"X-Robots-Tag: noai\r\nX-Robots-Tag: x: none",
    ]
    result = [plain, *(http(b"", kind, b"Content-Length: 0") for kind in kinds)]
    result += [b"HTTP/1.1 404 N\xf6\r\nContent-Length: 0\r\n\r\n", b"HTTP/1.0 200\r\n\r\n", plain.replace(b"\r\n", b"\n")]
    result += [
        http(b"", b"A: " + b"a" * 900, b"B:", b"A : b", b" folded"),
        b"HTTP/1.1 100 Continue\r\n\r\n" + plain,
        http(b"", status=b"999 "),
    ]
    return [*result, http(b"5\r\nhello\r\n0\r\n\r\n", b"Transfer-Encoding: chunked", b"Content-Encoding: gzip")]


def segments() -> list[bytes]:
    """Return records as the store writes them, uncompressed."""
    from components.core.digests import sha256_bytes
    from components.web.warc import Entry, build_record

    good = Entry("http://a.sample/", 200, sha256=sha256_bytes(PAGE), bytes=len(PAGE))
    headers = [("Content-Type", "text/html"), ("X-Robots-Tag", "noai"), ("x-robots-tag", "none")]
    held = Entry("http://a.sample/", 200, sha256="0" * 64, held="s/0001.warc.gz:0+5")
    made = [build_record(good, PAGE, headers, "OK"), build_record(Entry("http://a.sample/", 0, "timeout", "30 s"), b"", [], "")]
    made += [build_record(held, b"", headers, "Not Modified", 304), build_record(held, b"", headers, "OK")]
    plain = [gzip.decompress(one) for one in made]
    return [*plain, plain[0][:-100]]


def entries() -> list[bytes]:
    """Return lines of the store's index."""
    from components.web.segments import index_line
    from components.web.warc import Entry

    line = index_line(
        Entry("http://a.sample/", 200, type="text/html", segment="0001.warc.gz", offset=0, length=300, sha256="0" * 64)
    )
    torn = line[:-40]
    failed = index_line(Entry("http://b.sample/", 0, "timeout", "30 s", segment="0001.warc.gz", offset=300, length=200))
    wrong = [line.replace(b'"offset": 0', b'"offset": ' + value) for value in (b'"0"', b"1e999", b"-5", b"null")]
    return [line + failed, line + torn, failed + b"\n\n{}\n[]\n" + line, *wrong]
