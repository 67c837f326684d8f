"""The fixture web as web archives: WARC and WAT files as Common Crawl writes them, and the same records as zstd and WACZ."""

from __future__ import annotations

import gzip
import io
import json
import uuid
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from backports import zstd
from warcio.statusandheaders import StatusAndHeaders
from warcio.warcwriter import WARCWriter


def _record(writer: WARCWriter, url: str, kind: str, **rest: Any) -> Any:
    # No clock and no chance: equal arguments give equal files, and so equal places.
    fixed = {"WARC-Date": "2024-02-21T08:00:00Z", "WARC-Record-ID": f"<urn:uuid:{uuid.uuid5(uuid.NAMESPACE_URL, kind + url)}>"}
    return writer.create_warc_record(url, kind, warc_headers_dict=fixed, **rest)


def web_pages(web: Path) -> list[tuple[str, bytes]]:
    """Every HTML file of a fixture web with its address, sorted."""
    return sorted(
        (f"http://{path.relative_to(web).as_posix()}".replace("index.html", ""), path.read_bytes())
        for path in web.rglob("*.html")
    )


def write_warc(path: Path, pages: Iterable[tuple[str, bytes]], headers: Sequence[tuple[str, str]] = ()) -> Path:
    """A WARC of request and response records, after its ``warcinfo``."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as handle:
        writer = WARCWriter(handle, gzip=True)
        writer.write_record(_record(writer, path.name, "warcinfo", payload=io.BytesIO(b"software: tests\r\n")))
        for url, body in pages:
            asked = StatusAndHeaders("GET / HTTP/1.1", [("Host", "sample")], is_http_request=True)
            writer.write_record(_record(writer, url, "request", http_headers=asked))
            sent = StatusAndHeaders("200 OK", [("Content-Type", "text/html; charset=utf-8"), *headers], protocol="HTTP/1.1")
            writer.write_record(_record(writer, url, "response", payload=io.BytesIO(body), http_headers=sent))
    return path


def write_wat(path: Path, pages: Iterable[tuple[str, Sequence[tuple[str, str]]]]) -> Path:
    """A WAT whose pages have those (src, alt) images."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as handle:
        writer = WARCWriter(handle, gzip=True)
        for url, images in pages:
            links = [{"path": "IMG@/src", "url": source, "alt": alt} for source, alt in images]
            links.append({"path": "A@/href", "url": "/", "text": "Home"})  # type: ignore[typeddict-item]
            html = {"Head": {"Title": "A page", "Metas": []}, "Links": links}
            answer = {"Headers": {"Content-Type": "text/html"}, "HTML-Metadata": html, "Response-Message": {"Status": "200"}}
            about: dict[str, Any] = {
                "Envelope": {
                    "WARC-Header-Metadata": {"WARC-Type": "response", "WARC-Target-URI": url, "Content-Type": "application/http"},
                    "Payload-Metadata": {"HTTP-Response-Metadata": answer, "Actual-Content-Type": "application/http"},
                    "Format": "WARC",
                },
                "Container": {"Filename": path.name, "Offset": "0"},
            }
            payload = io.BytesIO(json.dumps(about).encode())
            writer.write_record(_record(writer, url, "metadata", payload=payload, warc_content_type="application/json"))
    return path


def record_at(path: Path, offset: int) -> bytes:
    """The first record of the gzip member at that place."""
    with path.open("rb") as handle:
        handle.seek(offset)
        with gzip.GzipFile(fileobj=handle) as member:
            return member.read(100_000)


def archive_web(web: Path, folder: Path, count: int) -> list[Path]:
    """The fixture web in ``count`` WARC files, its pages dealt out in turn."""
    pages = web_pages(web)
    return [write_warc(folder / f"part-{at:02d}.warc.gz", pages[at::count]) for at in range(count)]


def skippable(content: bytes, kind: int = 0x5D) -> bytes:
    """A skippable zstd frame; 0x5D is the kind that holds a dictionary."""
    return bytes([kind]) + b"\x2a\x4d\x18" + len(content).to_bytes(4, "little") + content


def zstd_frames(records: Sequence[bytes], dictionary: str = "") -> list[bytes]:
    """A frame a record, with its checksum; with a dictionary (``plain`` or ``packed``) made of them, that comes first."""
    checked = {zstd.CompressionParameter.checksum_flag: 1}
    if not dictionary:
        return [zstd.compress(record, options=checked) for record in records]
    trained = zstd.train_dict([*records] * 20, 4096)
    content = trained.dict_content if dictionary == "plain" else zstd.compress(trained.dict_content)
    return [skippable(content), *(zstd.compress(record, options=checked, zstd_dict=trained) for record in records)]


def wacz(files: Mapping[str, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    """A WACZ of these files under ``archive/``, and of what else is in one."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", compression) as archive:
        archive.writestr("datapackage.json", '{"profile": "data-package", "wacz_version": "1.1.1"}')
        for name, data in files.items():
            archive.writestr(f"archive/{name}", data)
        archive.writestr("pages/pages.jsonl", '{"format": "json-pages-1.0"}')
    return out.getvalue()
