"""A server on loopback that speaks the documented forms of Wikidata's query service and of Google's Knowledge Graph Search.

It answers from the invented items of ``wikidata_dump``, or, while ``script`` holds behaviours, misbehaves as the next one says.
"""

from __future__ import annotations

import json
import re
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

from tests.support.knowledge.wikidata_dump import CLASSES, ENTITIES

KEY = "AIza-secret-of-the-test"
LABELS = {each["id"]: each["labels"]["en"]["value"] for each in CLASSES}
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


def bindings(names: list[str]) -> list[dict[str, Any]]:
    """The rows of the query service for some names."""

    def uri(number: int) -> dict[str, str]:
        return {"type": "uri", "value": f"http://www.wikidata.org/entity/Q{number}"}

    def text(value: str) -> dict[str, str]:
        return {"xml:lang": "en", "type": "literal", "value": value}

    rows = []
    for name in names:
        for each in ENTITIES:
            labels = {term["value"] for term in each["labels"].values()} if each["labels"] else set()
            if name not in labels or not each["sitelinks"]:
                continue
            for prop in ("P31", "P106"):
                stated = each["claims"].get(prop, []) if each["claims"] else []
                # wdt: knows the statements of the best rank only.
                preferred = [statement for statement in stated if statement["rank"] == "preferred"]
                for statement in preferred or stated:
                    value = statement["mainsnak"].get("datavalue", {}).get("value", {})
                    if not value or f"Q{value['numeric-id']}" not in LABELS or statement["rank"] == "deprecated":
                        continue
                    rows.append(
                        {
                            "name": text(name),
                            "item": uri(int(each["id"][1:])),
                            "what": {"type": "literal", "value": prop},
                            "sites": {"type": "literal", "value": str(len(each["sitelinks"]))},
                            "class": uri(value["numeric-id"]),
                            "label": text(LABELS[f"Q{value['numeric-id']}"]),
                        }
                    )
    return rows


class Handler(BaseHTTPRequestHandler):
    """One request."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        form = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
        self._serve({"form": form})

    def do_GET(self) -> None:
        self._serve({"form": parse_qs(urlsplit(self.path).query)})

    def _serve(self, seen: dict[str, Any]) -> None:
        state: State = self.server.state  # type: ignore[attr-defined]
        form = seen["form"]
        state.requests.append(seen | {"method": self.command, "agent": self.headers.get("User-Agent", "")})
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
                self._send(200, json.dumps({"results": {"bindings": [{"name": 3}]}, "itemListElement": [{"result": 3}]}).encode())
            elif behaviour == "huge":
                self._send(200, b"[" + b" " * 9_000_000 + b"]")
            elif "query" in form and self.command == "POST":
                assert form["format"] == ["json"]
                names = re.findall(r'"((?:[^"\\]|\\.)*)"@en', form["query"][0].split("}")[0])
                unescaped = [name.replace('\\"', '"').replace("\\\\", "\\") for name in names]
                body = {"head": {"vars": ["name"]}, "results": {"bindings": bindings(unescaped)}}
                self._send(200, json.dumps(body).encode())
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
