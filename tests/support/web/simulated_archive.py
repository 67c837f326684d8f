"""A web archive on loopback: a CDX server in two forms, TimeMaps, a TimeGate and replays."""

from __future__ import annotations

import json
from urllib.parse import quote

from tests.support.web.raw_web import RawWeb, Script, head, plain

FIELDS = ["urlkey", "timestamp", "original", "mimetype", "statuscode", "digest", "length"]


class SimulatedArchive(RawWeb):
    """Captures are added by :meth:`hold`; an address that is not held has an empty index."""

    def __init__(self) -> None:
        super().__init__({})
        self._held: dict[str, list[tuple[str, str, str, str]]] = {}

    @property
    def cdx(self) -> str:
        return f"cdx:{self.url('/cdx')}?url={{url}}&output=json {self.url('/web')}/{{timestamp}}id_/{{url}}"

    @property
    def pywb(self) -> str:
        return self.cdx.replace("/cdx?", "/coll/cdx?")

    @property
    def timemap(self) -> str:
        return f"timemap:{self.url('/timemap/link')}/{{url}}"

    @property
    def timegate(self) -> str:
        return f"timegate:{self.url('/timegate')}/{{url}}"

    def replay(self, url: str, timestamp: str) -> str:
        return f"/web/{timestamp}id_/{url}"

    def hold(self, url: str, *answers: Script, mime: str = "image/jpeg", status: str = "200", digest: str = "") -> None:
        """Hold captures of ``url``, a year apart, that are replayed with ``answers`` as mementos."""
        captures = self._held.setdefault(url, [])
        for answer in answers:
            timestamp = f"{2010 + len(captures)}0102030405"
            captures.append((timestamp, mime, status, digest or f"D{len(captures)}"))
            self.paths[self.replay(url, timestamp)] = _as_memento(answer, timestamp)
        self._list(url)

    def index(self, *urls: str) -> None:
        """Answer for addresses of which nothing is held."""
        for url in urls:
            self._held.setdefault(url, [])
            self._list(url)

    def _list(self, url: str) -> None:
        captures, query = self._held[url], f"?url={quote(url, safe='')}&output=json"
        rows = [["key", time, url, mime, status, digest, "1"] for time, mime, status, digest in captures]
        self.paths[f"/cdx{query}"] = plain(json.dumps([FIELDS, *rows] if rows else []).encode(), "application/json")
        objects = [
            {"urlkey": "key", "timestamp": time, "url": url, "mime": mime, "status": status, "digest": digest}
            for time, mime, status, digest in captures
        ]
        self.paths[f"/coll/cdx{query}"] = plain("\n".join(map(json.dumps, objects)).encode(), "text/x-ndjson")
        links = [f'<{url}>; rel="original"', f'<{self.url("/timemap/link")}/{url}>; rel="self"; type="application/link-format"']
        for time, *_ in captures:
            rel = "first memento" if time.startswith("2010") else "memento"
            moment = _moment(time)
            links.append(f'<{self.url(self.replay(url, time))}>; rel="{rel}"; datetime="{moment}"')
        self.paths[f"/timemap/link/{url}"] = plain(",\n ".join(links).encode(), "application/link-format")
        if captures:
            where = self.url(self.replay(url, captures[-1][0]))
            self.paths[f"/timegate/{url}"] = lambda _: [head(302, "text/plain", 0, f"Location: {where}", "Vary: accept-datetime")]


def _moment(timestamp: str) -> str:
    return f"Sat, 02 Jan {timestamp[:4]} 03:04:05 GMT"


def _as_memento(answer: Script, timestamp: str) -> Script:
    def script(before: int) -> list[bytes]:
        first, *rest = answer(before)
        return [first.replace(b"\r\n", f"\r\nMemento-Datetime: {_moment(timestamp)}\r\n".encode(), 1), *rest]

    return script
