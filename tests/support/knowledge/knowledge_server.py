"""A server on loopback that speaks the documented form of Google's Knowledge Graph Search.

It answers from invented items, or, while ``script`` holds behaviours, misbehaves as the next one says.
"""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

KEY = "AIza-secret-of-the-test"
GOOGLE: list[dict[str, Any]] = [
    {"@id": "kg:/m/0tol", "name": "Mira Tolland", "@type": ["Person", "Thing"], "description": "Norwegian actor and director"},
    {"@id": "kg:/m/0fil", "name": "Mira Tolland", "@type": ["Movie", "Thing"], "description": "2003 film"},
    {"@id": "kg:/m/0ost", "name": "Ostrava Nova", "@type": ["Place", "City", "Thing"]},
    {
        "@id": "kg:/g/1anv", "name": "The Blue Anvils", "@type": ["Thing", "MusicGroup", "Organization"],
        "detailedDescription": {"articleBody": "The Blue Anvils are a rock band formed in 1999. They toured.", "url": "x"},
    },
]  # fmt: skip


class State:
    """What the server has seen, and how it is to behave."""

    def __init__(self) -> None:
        self.requests: list[dict[str, Any]] = []
        self.script: list[str] = []
        self.at_once = self.most_at_once = 0
        self.url = ""
        self.delay = 0.0


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        state: State = self.server.state  # type: ignore[attr-defined]
        form = parse_qs(urlsplit(self.path).query)
        state.requests.append({"form": form, "agent": self.headers.get("User-Agent", "")})
        state.at_once += 1
        state.most_at_once = max(state.most_at_once, state.at_once)
        try:
            time.sleep(state.delay)
            behaviour = state.script.pop(0) if state.script else "ok"
            if behaviour == "slow":
                time.sleep(1.5)
            if behaviour.isdigit() or behaviour.startswith("429 "):
                self._refuse(behaviour)
            elif behaviour == "garbage":
                self._send(200, b"<html>Please log in</html>")
            elif behaviour == "wrong":
                self._send(200, json.dumps({"itemListElement": [{"result": 3}]}).encode())
            elif behaviour == "huge":
                self._send(200, b"[" + b" " * 9_000_000 + b"]")
            else:
                self._google(form)
        finally:
            state.at_once -= 1

    def _google(self, form: dict[str, list[str]]) -> None:
        if form.get("key") != [KEY]:
            self._send(400, json.dumps({"error": {"code": 400, "message": f"bad {form}", "status": "INVALID_ARGUMENT"}}).encode())
            return
        query, types = form["query"][0].lower(), set(form.get("types", []))
        results = [
            {"@type": "EntitySearchResult", "result": each, "resultScore": 900 - place}
            for place, each in enumerate(GOOGLE)
            if query in each["name"].lower() and (not types or types & set(each["@type"]))
        ]
        self._send(200, json.dumps({"@context": {}, "@type": "ItemList", "itemListElement": results}).encode())

    def _refuse(self, behaviour: str) -> None:
        status, _, wait = behaviour.partition(" ")
        name = {"429": "RESOURCE_EXHAUSTED", "403": "PERMISSION_DENIED"}.get(status, "UNAVAILABLE")
        body = {"error": {"code": int(status), "message": f"refused, {KEY}", "status": name}}
        self._send(int(status), json.dumps(body).encode(), {"Retry-After": wait} if wait else {})

    def _send(self, status: int, body: bytes, headers: dict[str, str] | None = None) -> None:
        try:
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            pass  # the client has gone

    def log_message(self, *rest: object) -> None:
        """Say nothing."""


@contextmanager
def knowledge_server() -> Iterator[State]:
    """The server, on a port of its own."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    server.state = state = State()  # type: ignore[attr-defined]
    state.url = f"http://127.0.0.1:{server.server_port}/service"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield state
    finally:
        server.shutdown()
        server.server_close()
