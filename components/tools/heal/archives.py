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
        if bool(replay) not in sizes.get(kind, ()) or not whole or not normalise(archive.index_url("http://a.example/")):
            raise HearsightError(f"'{text[:120]}' names no archive", where="--archive", hint=f"write for example '{_EXAMPLE}'")
        return archive

    @property
    def name(self) -> str:
        """Its kind and host, as the ledger states them."""
        return f"{self.kind} {host_of(self.index_url('http://a.example/'))}"

    def index_url(self, url: str) -> str:
        """Return where the captures of ``url`` are listed."""
        return _fill(self.index, url)

    def captures(self, body: bytes, content_type: str, url: str) -> list[str]:
        """Return where the captures of ``url`` are replayed, in the order of the index; those known to be no image are left out,
        and of captures with equal digests all but the first.

        Raises:
            ValueError: the answer is no index.
        """
        if "html" in content_type:
            raise ValueError("HTML")
        found = _read_cdx(body) if self.kind == "cdx" else _read_timemap(body.decode("utf-8", "replace"))
        return list(dict.fromkeys(self._replay(*capture, url) for capture in found))

    def _replay(self, timestamp: str, address: str, url: str) -> str:
        if not self.replay:
            return normalise(address) or ""
        return _fill(self.replay.replace("{timestamp}", timestamp), address if self.kind == "cdx" else url)


def _fill(template: str, url: str) -> str:
    """Return a template with ``url``, which is percent-encoded in a query and plain in a path, as archives read it."""
    in_query = "?" in template.partition("{url}")[0]
    filled = template.replace("{url}", quote(url, safe="") if in_query else url)
    return normalise(filled) or ""


def _read_cdx(body: bytes) -> Iterator[tuple[str, str]]:
    """Yield (timestamp, address) of the captures in a CDX server's answer, one for each digest."""
    digests: set[str] = set()
    for row in _cdx_rows(body):
        status, kind = row.get("statuscode", row.get("status")), row.get("mimetype", row.get("mime"))
        # A revisit has the status "-" in some indexes, and is replayed as the capture that it repeats.
        if str(status or "-") not in ("200", "-") or str(kind or "").startswith("text/"):
            continue
        timestamp, address, digest = (str(row.get(name) or "") for name in ("timestamp", "original", "digest"))
        address = address or str(row.get("url") or "")
        if not re.fullmatch(r"\d{4,14}", timestamp) or not address:
            raise ValueError("a capture without time or address")
        if not digest or digest not in digests:
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


def _read_timemap(text: str) -> Iterator[tuple[str, str]]:
    """Yield (timestamp, address) of the mementos in a TimeMap (``application/link-format``)."""
    if not text.lstrip().startswith("<"):
        raise ValueError("no links")
    for address, rest in _LINK.findall(text):
        parameters = {name.lower(): value for name, value in _PARAMETER.findall(rest)}
        if "memento" in parameters.get("rel", "").split():
            try:
                moment = parsedate_to_datetime(parameters.get("datetime", ""))
            except (TypeError, IndexError, ValueError, OverflowError):
                raise ValueError("a memento without time") from None
            yield moment.strftime("%Y%m%d%H%M%S"), address
