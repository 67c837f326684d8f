"""Find the captures of an address in a web archive that the user names. Nothing is requested here.

``cdx:INDEX REPLAY``: a CDX server with ``output=json``, as the Wayback Machine (lists, the first of which names the fields) or
as pywb (an object a line). ``timemap:INDEX`` and ``timegate:ADDRESS``: Memento (RFC 7089, sections 5 and 4); a TimeGate that is
asked for no time answers with its latest memento. Archives change what they replay; a REPLAY with their mark for raw bytes
(``id_``) gives an image as it was.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import quote

from components.core.errors import HearsightError
from components.web.urls import host_of, normalise

_LINK = re.compile(r'<([^<>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^\s",;<>]+))*)')
_PARAMETER = re.compile(r'([\w*-]+)\s*=\s*"?([^";]*)')
_EXAMPLE = "cdx:https://archive.example/cdx?url={url}&output=json https://archive.example/web/{timestamp}id_/{url}"


@dataclass(frozen=True)
class Archive:
    """A web archive: where it lists the captures of an address, and where it replays them."""

    kind: str
    """cdx | timemap | timegate."""
    index: str
    """Address with ``{url}``; of a TimeGate it leads to a capture itself."""
    replay: str = ""
    """Address with ``{timestamp}`` (14 digits) and ``{url}``; '' for what a TimeMap names."""

    @classmethod
    def parse(cls, text: str) -> Archive:
        """Return the archive of ``kind:INDEX [REPLAY]``. Raises HearsightError: it is none."""
        kind, _, rest = text.strip().partition(":")
        index, _, replay = rest.strip().partition(" ")
        archive = cls(kind, index, replay.strip())
        sizes = {"cdx": (True,), "timemap": (True, False), "timegate": (False,)}
        whole = "{url}" in index and (not replay or all(name in replay for name in ("{url}", "{timestamp}")))
        own_host = all(normalise(part.partition("{url}")[0]) for part in (index, replay or index))
        if bool(replay) not in sizes.get(kind, ()) or not whole or not own_host:
            raise HearsightError(f"'{text[:120]}' names no archive", where="--archive", hint=f"write for example '{_EXAMPLE}'")
        return archive

    @property
    def name(self) -> str:
        """Its kind and host, as the ledger states them."""
        return f"{self.kind} {host_of(self.index_url('http://a.example/'))}"

    def index_url(self, url: str) -> str:
        """Return where the captures of ``url`` are listed."""
        return _fill(self.index, url)

    def captures(self, body: bytes, content_type: str, url: str, *, newest: bool = False) -> list[str]:
        """Return where the captures of ``url`` are replayed, in the order of the index; those known to be no image are left out,
        and of captures with equal digests all but the first. With ``newest`` all that state something of a host, newest first.

        Raises:
            ValueError: the answer is no index, or may lack the newest captures.
        """
        if "html" in content_type:
            raise ValueError("HTML")
        found = _read_cdx(body, newest) if self.kind == "cdx" else _read_timemap(body.decode("utf-8", "replace"), newest)
        return list(dict.fromkeys(self._replay(*capture, url) for capture in (sorted(found, reverse=True) if newest else found)))

    def _replay(self, timestamp: str, address: str, url: str) -> str:
        replay = self.replay.replace("{timestamp}", timestamp)
        return _fill(replay, address if self.kind == "cdx" else url) if replay else normalise(address) or ""


def _fill(template: str, url: str) -> str:
    """Return a template with ``url``, which is percent-encoded in a query and plain in a path, as archives read it."""
    in_query = "?" in template.partition("{url}")[0]
    return normalise(template.replace("{url}", quote(url, safe="") if in_query else url)) or ""


def parse_time(text: str) -> str:
    """Return the time of a memento as ISO 8601, UTC; '' for none (RFC 7089, 2.1.1)."""
    try:
        return parsedate_to_datetime(text).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (TypeError, IndexError, ValueError, OverflowError):
        return ""


def _read_cdx(body: bytes, every: bool) -> Iterator[tuple[str, str]]:
    """Yield (timestamp, address) of the captures in a CDX server's answer; of images one for each digest."""
    digests: set[str] = set()
    for row in _cdx_rows(body):
        status, kind = row.get("statuscode", row.get("status")), row.get("mimetype", row.get("mime"))
        # A revisit has the status "-" in some indexes, and is replayed as the capture that it repeats.
        shown = "200|3..|404|410|-" if every else "200|-"
        if not re.fullmatch(shown, str(status or "-")) or (str(kind or "").startswith("text/") and not every):
            continue
        timestamp, address, digest = (str(row.get(name) or "") for name in ("timestamp", "original", "digest"))
        address = address or str(row.get("url") or "")
        if not re.fullmatch(r"\d{4,14}", timestamp) or not address:
            raise ValueError("a capture without time or address")
        if every or not digest or digest not in digests:
            digests.add(digest)
            yield timestamp, address


def _cdx_rows(body: bytes) -> list[Mapping[str, Any]]:
    try:
        if body.lstrip().startswith(b"["):
            names, *rows = json.loads(body) or [[]]
            return [dict(zip(names, row, strict=True)) for row in rows]
        objects = [json.loads(line) for line in body.splitlines() if line.strip()]
    except (RecursionError, TypeError) as error:
        raise ValueError(str(error)) from None
    if not all(isinstance(row, dict) for row in objects):
        raise ValueError("no objects")
    return objects


def _read_timemap(text: str, every: bool) -> Iterator[tuple[str, str]]:
    """Yield (timestamp, address) of the mementos in a TimeMap (``application/link-format``)."""
    if not text.lstrip().startswith("<"):
        raise ValueError("no links")
    for address, rest in _LINK.findall(text):
        parameters = {name.lower(): value for name, value in _PARAMETER.findall(rest)}
        kinds = parameters.get("rel", "").split()
        if "memento" in kinds:
            if not (moment := parse_time(parameters.get("datetime", ""))):
                raise ValueError("a memento without time")
            yield re.sub(r"\D", "", moment), address
        elif every and "timemap" in kinds and "self" not in kinds:
            raise ValueError("it has further pages")
