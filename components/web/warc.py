"""One answer of the web as one WARC 1.1 record, written and read back.

A record is one gzip member, so a file of them can be cut after any record and read from any. Not in scope: files, indexes
and locks (``store``).
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from components.core.digests import sha256_bytes
from components.web.gzip_record import compress_member, store_member


@dataclass(frozen=True)
class Entry:
    """One answer, or one failure to get one, without its body."""

    url: str
    status: int
    """HTTP status; 0 for a failure."""
    failure: str = ""
    """'' or timeout | connection | bad_http | too_large | not_html | private_address | not_an_image | image_side ..."""
    detail: str = ""
    """What was found; of a refused image, the ledger's value."""
    type: str = ""
    """Content-Type as sent."""
    location: str = ""
    """Location as sent, of a redirect."""
    etag: str = ""
    modified: str = ""
    """Last-Modified as sent."""
    robots: str = ""
    """X-Robots-Tag as sent, one line a header."""
    tdm: str = ""
    """TDM-Reservation as sent."""
    sha256: str = ""
    bytes: int = 0
    segment: str = ""
    offset: int = 0
    length: int = 0
    """Where the WARC record lies, in bytes of the compressed segment."""
    fetched: str = ""
    """When the host gave this answer or last confirmed it, ISO 8601, UTC; not part of any digest."""
    held: str = ""
    """Where the body lies when an earlier snapshot holds it: ``snapshot/segment:offset+length``; '' for here."""
    threshold: str = ""
    """What a refused image was held to."""

    @property
    def essence(self) -> list[Any]:
        """What of it belongs to the snapshot's digest: no times, no places."""
        facts = [self.detail, self.threshold] if self.threshold else []
        return [self.url, self.status, self.failure, self.sha256, *facts]


REVISITS = {
    304: "http://netpreserve.org/warc/1.1/revisit/server-not-modified",
    200: "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
}
"""WARC 1.1, section 6.7: how an answer without a body of its own is told, by the status that came."""
_LINE_BREAKS = re.compile(rb"[\r\n\0]")
_PLACED = ("url", "segment", "offset", "length")


def build_record(entry: Entry, body: bytes, headers: Iterable[tuple[str, str]], reason: str, answered: int = 0) -> bytes:
    """One WARC record as one gzip member.

    A ``response``; a ``metadata`` record for a failure or for an answer taken over unasked; or, where the body lies in
    an earlier snapshot, a ``revisit`` with the headers of the answer that said so (``answered``: its status, 304 or 200).
    ``entry`` has the digest of ``body``.
    """
    kind, status, about, block = "metadata", 0, {"WARC-Date": utc_now()}, b""
    if entry.held:
        told = {name: value for name, value in asdict(entry).items() if name not in _PLACED and value != ""}
        about["X-Hearsight-Entry"] = json.dumps(told, sort_keys=True)
    elif entry.failure:
        facts = {"failure": entry.failure, "detail": entry.detail, "type": entry.type}
        about["X-Hearsight-Entry"] = json.dumps(facts | ({"threshold": entry.threshold} if entry.threshold else {}))
    if entry.held and answered:
        kind, status, body = "revisit", answered, b""
        about |= {"WARC-Profile": REVISITS[answered], "WARC-Refers-To-Target-URI": entry.url}
    elif not (entry.held or entry.failure):
        kind, status = "response", entry.status
    if status:
        block = _http_head(status, reason, headers)
        about |= {"WARC-Payload-Digest": f"sha256:{entry.sha256}", "Content-Type": "application/http; msgtype=response"}
    else:
        about["Content-Type"], body = "application/warc-fields", b""
    about["Content-Length"] = str(len(block) + len(body))
    named = {"WARC-Type": kind, "WARC-Record-ID": f"<urn:uuid:{uuid4()}>", "WARC-Target-URI": entry.url, **about}
    head = "WARC/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in named.items())
    # Pictures do not shrink: they are stored as they are (the quickest level would cost 25 ms a megabyte); HTML halves.
    whole = b"".join((head.encode(), b"\r\n", block, body, b"\r\n\r\n"))
    return store_member(whole) if body[:2] in (b"\xff\xd8", b"\x89P") or body[8:12] == b"WEBP" else compress_member(whole)


def _http_head(status: int, reason: str, headers: Iterable[tuple[str, str]]) -> bytes:
    lines = [f"HTTP/1.1 {status} {reason or 'Unknown'}", *(f"{name}: {value}" for name, value in headers)]
    return b"".join(_LINE_BREAKS.sub(b" ", line.encode("utf-8", "surrogateescape")) + b"\r\n" for line in lines) + b"\r\n"


def decode_wire(raw: bytes) -> str:
    """Bytes of a header or reason phrase as text that gives the same bytes when it is written (PEP 383)."""
    return _LINE_BREAKS.sub(b" ", raw).strip(b" \t").decode("utf-8", "surrogateescape")


def decode_header(value: str) -> str:
    """The text of a header: UTF-8, or else ISO 8859-1, which headers were written in (RFC 9110, 5.5).

    Args:
        value: as :func:`wire_text` gives it.
    """
    raw = value.encode("utf-8", "surrogateescape")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return raw.decode("latin-1")


def _location_text(value: str) -> str:
    """As :func:`header_text`, but bytes that are not UTF-8 are percent-encoded, since the host wants those very bytes back."""
    raw = value.encode("utf-8", "surrogateescape")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in raw)


def utc_now() -> str:
    """This moment as WARC writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def split_record(record: bytes) -> tuple[dict[str, str], list[bytes], bytes]:
    """A WARC record's headers (lower-case names), its HTTP head lines, and its body.

    Raises:
        ValueError: the record is not whole.
    """
    head, mark, rest = record.partition(b"\r\n\r\n")
    lines = head.decode("utf-8", "replace").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    length = int(headers["content-length"]) if "content-length" in headers else -1
    if not mark or not lines[0].startswith("WARC/") or length < 0 or len(rest) < length:
        raise ValueError("not a whole WARC record")
    block = rest[:length]
    if headers.get("warc-type") != "response":  # a failure, or an answer whose body lies elsewhere
        return headers, [], b""
    http, mark, body = block.partition(b"\r\n\r\n")
    return headers, http.split(b"\r\n"), body


def http_headers(record: bytes) -> list[tuple[str, str]]:
    """The headers of the answer that a record tells of, a revisit's included; none of a failure.

    Raises:
        ValueError: the record is not whole.
    """
    split_record(record)
    _, _, rest = record.partition(b"\r\n\r\n")
    head = rest.partition(b"\r\n\r\n")[0]
    return _header_lines(head.split(b"\r\n")) if head.startswith(b"HTTP/") else []


def _header_lines(head: list[bytes]) -> list[tuple[str, str]]:
    """The headers of an HTTP head's lines, the status line first."""
    parts = (line.partition(b":") for line in head[1:])
    return [(decode_wire(name), decode_wire(value)) for name, _, value in parts]


def scan_segment(path: Path, start: int) -> tuple[list[Entry], int]:
    """The whole records of a segment from ``start`` on, and where the last of them ends."""
    found: list[Entry] = []
    with path.open("rb") as handle:
        while True:
            handle.seek(start)
            member = read_member(handle)
            if member is None:
                return found, start
            record, length = member
            try:
                found.append(parse_entry(*split_record(record), path.name, start, length))
            except (ValueError, KeyError, TypeError, IndexError):
                return found, start
            start += length


def read_member(handle: IO[bytes]) -> tuple[bytes, int] | None:
    """The gzip member at the handle's place and its compressed length; None when it is torn or there is none."""
    unpacker, pieces, taken = zlib.decompressobj(zlib.MAX_WBITS | 16), [], 0
    try:
        while not unpacker.eof:
            chunk = handle.read(65536)
            if not chunk:
                return None
            pieces.append(unpacker.decompress(chunk))
            taken += len(chunk)
    except zlib.error:
        return None
    return b"".join(pieces), taken - len(unpacker.unused_data)


def parse_entry(headers: dict[str, str], http: list[bytes], body: bytes, segment: str, offset: int, length: int) -> Entry:
    """The entry of a record read back: what the index would have said of it.

    Raises:
        ValueError, KeyError, TypeError, IndexError: it is not a record that was written here.
    """
    url = headers["warc-target-uri"].strip("<>")
    place: dict[str, Any] = {"segment": segment, "offset": offset, "length": length}
    when = {"fetched": headers.get("warc-date", "")}
    if "x-hearsight-entry" in headers:
        try:
            told = json.loads(headers["x-hearsight-entry"])
        except RecursionError:
            raise ValueError("nested too deep") from None
        return Entry(**({"url": url, "status": 0} | when | told | place))
    status = int(http[0].split(b" ")[1])
    sent = index_headers(_header_lines(http))
    return Entry(url=url, status=status, sha256=sha256_bytes(body), bytes=len(body), **(select_headers(sent) | place | when))


def index_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Headers by lower-case name: the first of each, but every X-Robots-Tag, since each may speak to another robot.

    Args:
        headers: names and values as :func:`wire_text` gives them.
    """
    sent: dict[str, str] = {}
    for name, value in headers:
        known = decode_header(name).lower()
        value = _location_text(value) if known == "location" else decode_header(value)
        if known == "x-robots-tag" and known in sent:
            sent[known] += f"\n{value}"
        sent.setdefault(known, value)
    return sent


def select_headers(sent: dict[str, str]) -> dict[str, Any]:
    """The headers an entry keeps, from a mapping of lower-case names."""
    names = {
        "type": "content-type",
        "location": "location",
        "etag": "etag",
        "modified": "last-modified",
        "robots": "x-robots-tag",
        "tdm": "tdm-reservation",
    }
    return {field: sent.get(name, "") for field, name in names.items()}
