"""Helpers of the archive tests: records, archives, encoded bodies and WAT records built in memory."""

from __future__ import annotations

import io
import json
import zlib

from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter

from components.web.archives import read_stream

PAGE = b"<html lang=en><img src=a.png alt='A red kite'></html>"


OK = ("200 OK", [("Content-Type", "text/html; charset=utf-8")])


def record(url="http://a.sample/p", body=PAGE, status=OK, gzipped=True, kind="response", content_type=None):
    out = io.BytesIO()
    writer = WARCWriter(out, gzip=gzipped)
    http = StatusAndHeaders(status[0], status[1], protocol="HTTP/1.1") if kind == "response" else None
    writer.write_record(writer.create_warc_record(url, kind, io.BytesIO(body), http_headers=http, warc_content_type=content_type))
    return out.getvalue()


def warc(count=3, gzipped=True, **more):
    return [record(f"http://a.sample/{number}/p", gzipped=gzipped, **more) for number in range(count)]


def read(data, **more):
    return list(read_stream(io.BytesIO(data), "x.warc.gz", **more))


def urls(pages):
    return [page.failure or page.url for page in pages]


def encoded(coding, body, transfer=""):
    head = [*OK[1], ("Content-Encoding", coding)] if coding else [*OK[1]]
    return ("200 OK", head + ([("Transfer-Encoding", transfer)] if transfer else [])), body


def bare(data):
    packer = zlib.compressobj(9, zlib.DEFLATED, -15)
    return packer.compress(data) + packer.flush()


CHUNKED = b"5;x=y\r\n" + PAGE[:5] + b"\r\n" + f"{len(PAGE) - 5:X}\r\n".encode() + PAGE[5:] + b"\r\n0\r\n\r\n"


LINKS = [
    {"path": "A@/href", "url": "/b", "text": 'say {"path":"IMG@/src"} "x"'},
    {"path": "IMG@/src", "url": "a b.png", "alt": ' A "red"\n kite \\'},
    {"path": "IMG@/src", "url": "//cdn.sample/c.png"},
    {"path": "IMG@/src", "url": "data:image/gif;base64,R0", "alt": ""},
]


def envelope(links=LINKS, head=None, headers=None):
    html = {"Head": head or {}, "Links": links}
    payload = {"HTTP-Response-Metadata": {"Headers": headers or {}, "HTML-Metadata": html}}
    return {"Container": {"Filename": "x"}, "Envelope": {"Payload-Metadata": payload}}


def dumped(value):
    return json.dumps(value, separators=(",", ":")).encode()
