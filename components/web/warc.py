"""Write and read one web answer as one WARC 1.1 record.

A record is one gzip member, so a file of them can be truncated after any record and read from any. Files, indexes and locks are
in ``store``.
"""

from __future__ import annotations

import gzip
import json
import re
import zlib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any
from uuid import uuid4

from components.core.digests import sha256_bytes
from components.web.consent.statements import RSL_TYPE
from components.web.gzip_record import store_member


@dataclass(frozen=True)
class Entry:
    """One answer, or one failure to get one, without its body."""

    url: str
    status: int
    """HTTP status; 0 for a failure."""
    failure: str = ""
    """'' or timeout | connection | bad_http | too_large | not_html | private_address | not_an_image | image_side ..."""
    detail: str = ""
    """What was found; for a refused image the ledger's value."""
    type: str = ""
    """Content-Type as sent."""
    location: str = ""
    """Location as sent, of a redirect."""
    etag: str = ""
    modified: str = ""
    """Last-Modified as sent."""
    robots: str = ""
    """X-Robots-Tag as sent, one line per header."""
    tdm: str = ""
    """TDM-Reservation as sent."""
    signals: str = ""
    """Other headers about use as sent, one ``name: value`` a line: Content-Usage, Content-Signal, Link of an RSL licence."""
    sha256: str = ""
    bytes: int = 0
    segment: str = ""
    offset: int = 0
    length: int = 0
    """Position of the WARC record in bytes of the compressed segment."""
    fetched: str = ""
    """When the host sent or last confirmed this answer, ISO 8601, UTC; not part of any digest."""
    held: str = ""
    """Where the body is stored if an earlier snapshot holds it: ``snapshot/segment:offset+length``; '' for this snapshot."""
    threshold: str = ""
    """The limit that a refused image exceeded."""

    @property
    def essence(self) -> list[Any]:
        """The part that enters the snapshot's digest: no times, no positions."""
        facts = [self.detail, self.threshold] if self.threshold else []
        return [self.url, self.status, self.failure, self.sha256, *facts]


REVISITS = {
    304: "http://netpreserve.org/warc/1.1/revisit/server-not-modified",
    200: "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest",
}
"""WARC 1.1, section 6.7: profile of an answer without a body of its own, by HTTP status."""
_LINE_BREAKS = re.compile(rb"[\r\n\0]")
SIGNAL_HEADERS = ("content-usage", "content-signal", "link")
"""Headers, besides X-Robots-Tag and TDM-Reservation, that state uses."""
_POSITION_FIELDS = ("url", "segment", "offset", "length")


def build_record(entry: Entry, body: bytes, headers: Iterable[tuple[str, str]], reason: str, answered: int = 0) -> bytes:
    """Return one WARC record as one gzip member.

    The type is ``response``; ``metadata`` for a failure or an answer reused without a request; or, where the body is in an
    earlier snapshot, ``revisit`` with the headers of the answer that confirmed it (``answered``: its status, 304 or 200).
    ``entry`` holds the digest of ``body``.
    """
    kind, status, fields, block = "metadata", 0, {"WARC-Date": utc_now()}, b""
    if entry.held:
        stored_entry = {name: value for name, value in asdict(entry).items() if name not in _POSITION_FIELDS and value != ""}
        fields["X-Hearsight-Entry"] = json.dumps(stored_entry, sort_keys=True)
    elif entry.failure:
        failure_entry = {"failure": entry.failure, "detail": entry.detail, "type": entry.type}
        fields["X-Hearsight-Entry"] = json.dumps(failure_entry | ({"threshold": entry.threshold} if entry.threshold else {}))
    if entry.held and answered:
        kind, status, body = "revisit", answered, b""
        fields |= {"WARC-Profile": REVISITS[answered], "WARC-Refers-To-Target-URI": entry.url}
    elif not (entry.held or entry.failure):
        kind, status = "response", entry.status
    if status:
        lines = [f"HTTP/1.1 {status} {reason or 'Unknown'}", *(f"{name}: {value}" for name, value in headers)]
        block = b"".join(_LINE_BREAKS.sub(b" ", line.encode("utf-8", "surrogateescape")) + b"\r\n" for line in lines) + b"\r\n"
        fields |= {"WARC-Payload-Digest": f"sha256:{entry.sha256}", "Content-Type": "application/http; msgtype=response"}
    else:
        fields["Content-Type"], body = "application/warc-fields", b""
    fields["Content-Length"] = str(len(block) + len(body))
    headers_by_name = {"WARC-Type": kind, "WARC-Record-ID": f"<urn:uuid:{uuid4()}>", "WARC-Target-URI": entry.url, **fields}
    head = "WARC/1.1\r\n" + "".join(f"{name}: {value}\r\n" for name, value in headers_by_name.items())
    # Images do not compress (the fastest level would cost 25 ms per megabyte) and are stored; HTML halves.
    record = b"".join((head.encode(), b"\r\n", block, body, b"\r\n\r\n"))
    is_image = body[:2] in (b"\xff\xd8", b"\x89P") or body[8:12] == b"WEBP"
    return store_member(record) if is_image else gzip.compress(record, 1, mtime=0)


def decode_wire(raw: bytes) -> str:
    """Return header or reason-phrase bytes as text that encodes to the same bytes (PEP 383)."""
    return _LINE_BREAKS.sub(b" ", raw).strip(b" \t").decode("utf-8", "surrogateescape")


def decode_header(value: str, *, percent: bool = False) -> str:
    """Return the text of a header (of :func:`decode_wire`): UTF-8, else ISO 8859-1 (RFC 9110, 5.5).

    With ``percent``, for an address, other bytes are percent-encoded, so that the host receives the same bytes.
    """
    raw = value.encode("utf-8", "surrogateescape")
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError:
        return "".join(chr(byte) if byte < 0x80 else f"%{byte:02X}" for byte in raw) if percent else raw.decode("latin-1")


def utc_now() -> str:
    """Return the current time as WARC writes it."""
    return datetime.now(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def split_record(record: bytes) -> tuple[dict[str, str], list[bytes], bytes]:
    """Return a WARC record's headers (lower-case names), its HTTP head lines, and its body.

    Raises:
        ValueError: the record is incomplete.
    """
    head, mark, rest = record.partition(b"\r\n\r\n")
    lines = head.decode("utf-8", "replace").split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines[1:])}
    length = int(headers["content-length"]) if "content-length" in headers else -1
    if not mark or not lines[0].startswith("WARC/") or length < 0 or len(rest) < length:
        raise ValueError("the WARC record is incomplete")
    block = rest[:length]
    if headers.get("warc-type") != "response":  # a failure, or an answer whose body is elsewhere
        return headers, [], b""
    http, mark, body = block.partition(b"\r\n\r\n")
    return headers, http.split(b"\r\n"), body


def http_headers(record: bytes) -> list[tuple[str, str]]:
    """Return the headers of the answer in a record, revisits included; empty for a failure.

    Raises:
        ValueError: the record is incomplete.
    """
    split_record(record)
    _, _, rest = record.partition(b"\r\n\r\n")
    head = rest.partition(b"\r\n\r\n")[0]
    return _parse_header_lines(head.split(b"\r\n")) if head.startswith(b"HTTP/") else []


def _parse_header_lines(head: list[bytes]) -> list[tuple[str, str]]:
    """Return the headers in an HTTP head's lines; the first line is the status line."""
    parts = (line.partition(b":") for line in head[1:])
    return [(decode_wire(name), decode_wire(value)) for name, _, value in parts]


def scan_segment(path: Path, start: int) -> tuple[list[Entry], int]:
    """Return the complete records of a segment from ``start``, and the end of the last one."""
    entries: list[Entry] = []
    with path.open("rb") as handle:
        while True:
            handle.seek(start)
            member = read_member(handle)
            if member is None:
                return entries, start
            record, length = member
            try:
                entries.append(parse_entry(*split_record(record), path.name, start, length))
            except (ValueError, KeyError, TypeError, IndexError):
                return entries, start
            start += length


def read_member(handle: IO[bytes]) -> tuple[bytes, int] | None:
    """Return the gzip member at the handle's position and its compressed length; None when it is truncated or missing."""
    unpacker, pieces, consumed = zlib.decompressobj(zlib.MAX_WBITS | 16), [], 0
    try:
        while not unpacker.eof:
            chunk = handle.read(65536)
            if not chunk:
                return None
            pieces.append(unpacker.decompress(chunk))
            consumed += len(chunk)
    except zlib.error:
        return None
    return b"".join(pieces), consumed - len(unpacker.unused_data)


def parse_entry(headers: dict[str, str], http: list[bytes], body: bytes, segment: str, offset: int, length: int) -> Entry:
    """Return the entry of a stored record, as the index would hold it.

    Raises:
        ValueError, KeyError, TypeError, IndexError: the record was not written by this module.
    """
    url = headers["warc-target-uri"].strip("<>")
    position: dict[str, Any] = {"segment": segment, "offset": offset, "length": length}
    time = {"fetched": headers.get("warc-date", "")}
    if "x-hearsight-entry" in headers:
        try:
            stored_entry = json.loads(headers["x-hearsight-entry"])
        except RecursionError:
            raise ValueError("nested too deep") from None
        return Entry(**({"url": url, "status": 0} | time | stored_entry | position))
    status = int(http[0].split(b" ")[1])
    sent_headers = index_headers(_parse_header_lines(http))
    return Entry(
        url=url, status=status, sha256=sha256_bytes(body), bytes=len(body), **(select_headers(sent_headers) | position | time)
    )


def index_headers(headers: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return headers (of :func:`decode_wire`) by lower-case name: the first of each name, but all X-Robots-Tag, since each may
    address another robot, and all that state uses.
    """
    sent: dict[str, str] = {}
    for name, value in headers:
        known = decode_header(name).lower()
        value = decode_header(value, percent=known == "location")
        if known in sent and known in ("x-robots-tag", "tdm-reservation", *SIGNAL_HEADERS):
            sent[known] += f"\n{value}" if known == "x-robots-tag" else f", {value}"
        sent.setdefault(known, value)
    return sent


def select_headers(sent: dict[str, str]) -> dict[str, Any]:
    """Return the headers that an entry keeps, from a mapping of lower-case names."""
    names = {
        "type": "content-type",
        "location": "location",
        "etag": "etag",
        "modified": "last-modified",
        "robots": "x-robots-tag",
        "tdm": "tdm-reservation",
    }
    return {field: sent.get(name, "") for field, name in names.items()} | {"signals": join_signals(sent)}


def join_signals(sent: Mapping[str, str]) -> str:
    """Return the headers about use as an entry keeps them; of Link only those that name a licence of RSL."""
    kept = [name for name in SIGNAL_HEADERS if name in sent and (name != "link" or RSL_TYPE in sent[name].lower())]
    return "\n".join(f"{name}: {' '.join(sent[name].split())}" for name in kept)
