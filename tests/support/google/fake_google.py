"""A server on loopback that answers as Google's REST services are documented to: written from their reference, not recorded.

What it says of a text is written down in ``google_documents``; a test scripts the trouble it wants.
"""

from __future__ import annotations

import base64
import hashlib
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from tests.support.google.fake_speech import problem_of, spoken
from tests.support.google.google_documents import DOCUMENTS, document

PLAIN_TEXT, UTF32, LABEL_DETECTION, SAFE_SEARCH_DETECTION = 1, 3, 4, 6
"""The libraries of Language and Vision send enumerations by number, and say so in the address."""


@dataclass
class Reply:
    """One answer over HTTP."""

    status: int = 200
    content: Any = None
    """JSON, or bytes as they are."""
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    """s before it is sent"""
    cut: bool = False
    """Whether the connection ends before the body does."""


def error(code: int, status: str, message: str, reason: str = "", limit: str = "", **headers: str) -> Reply:
    """An error in the documented form."""
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason, "domain": "googleapis.com"}]
    if limit:
        details[0]["metadata"] = {"quota_limit": limit, "service": "language.googleapis.com"}  # type: ignore[assignment]
    content = {"error": {"code": code, "message": message, "status": status} | ({"details": details} if reason else {})}
    return Reply(code, content, {name.replace("_", "-"): value for name, value in headers.items()})


DAY_USED_UP = error(
    429, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'Requests' and limit 'Requests per day' of service "
    "'language.googleapis.com' for consumer 'project_number:1'.", "RATE_LIMIT_EXCEEDED", "RequestsPerDayPerProject",
)  # fmt: skip
MINUTE_USED_UP = error(
    429, "RESOURCE_EXHAUSTED", "Quota exceeded for quota metric 'Requests' and limit 'Requests per minute'.",
    "RATE_LIMIT_EXCEEDED", "RequestsPerMinutePerProject",
)  # fmt: skip
OLD_DAY_USED_UP = Reply(403, {"error": {
    "errors": [{"domain": "usageLimits", "reason": "dailyLimitExceeded", "message": "Daily Limit Exceeded."}],
    "code": 403, "message": "Daily Limit Exceeded. The quota will be reset at midnight Pacific Time (PT).",
}})  # fmt: skip
BAD_KEY = error(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", "API_KEY_INVALID")
BAD_TEXT = error(400, "INVALID_ARGUMENT", "The language ht is not supported for document_sentiment analysis.")
DOWN = error(503, "UNAVAILABLE", "The service is currently unavailable.")


class FakeGoogle:
    """The server; ``script`` may answer first (None lets the server answer as usual)."""

    def __init__(self) -> None:
        self.requests: list[tuple[str, dict[str, str], Any]] = []
        """(path without its query, headers, JSON) of each request, in order."""
        self.script: Callable[[int, str, Any], Reply | None] = lambda number, path, body: None
        self.labels: dict[str, list[dict[str, Any]]] = {}
        """sha256 of an image → its labels"""
        self.bad: set[str] = set()
        """sha256 of images that cannot be decoded"""
        self.at_once = self.most_at_once = 0
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    @contextmanager
    def running(self) -> Iterator[FakeGoogle]:
        thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        thread.start()
        try:
            yield self
        finally:
            self._server.shutdown()
            self._server.server_close()

    def texts(self) -> list[str]:
        """What texts were sent, in order."""
        return [body["document"]["content"] for _, _, body in self.requests if isinstance(body, dict) and "document" in body]

    def spoken(self) -> list[str]:
        """What texts were to be spoken, in order."""
        return [body["input"]["text"] for _, _, body in self.requests if isinstance(body, dict) and "input" in body]

    def answer(self, path: str, body: Any) -> Reply:
        """As documented."""
        if path == "/v1/documents:annotateText":
            text, features = body["document"]["content"], body["features"]
            assert body["encodingType"] == UTF32 and body["document"]["type"] == PLAIN_TEXT
            result: dict[str, Any] = {"language": body["document"]["language"], "sentences": [], "tokens": [], "entities": []}
            if features.get("extractDocumentSentiment"):
                result["documentSentiment"] = {"magnitude": 0.1, "score": -0.9 if "horrible" in text else 0.1}
            if features.get("extractSyntax"):
                result |= DOCUMENTS.get(text) or document(text)
            return Reply(200, result)
        if path == "/v1/documents:moderateText":
            score = 0.95 if "damn" in body["document"]["content"] else 0.02
            names = ("Toxic", "Insult", "Profanity", "Derogatory", "Sexual", "Health", "Politics")
            high = {"Health": 0.99, "Politics": 0.97}
            return Reply(200, {"moderationCategories": [{"name": n, "confidence": high.get(n, score)} for n in names]})
        if path == "/v1/images:annotate":
            assert 1 <= len(body["requests"]) <= 16
            return Reply(200, {"responses": [self._image(each) for each in body["requests"]]})
        if path == "/v1/text:synthesize":
            problem = problem_of(body)
            if problem:
                return error(400, "INVALID_ARGUMENT", problem)
            return Reply(200, {"audioContent": base64.b64encode(spoken(body)).decode()})
        return error(404, "NOT_FOUND", "Requested entity was not found.")

    def _image(self, asked: Any) -> dict[str, Any]:
        assert [each["type"] for each in asked["features"]] == [LABEL_DETECTION, SAFE_SEARCH_DETECTION]
        digest = hashlib.sha256(base64.b64decode(asked["image"]["content"])).hexdigest()
        if digest in self.bad:
            return {"error": {"code": 3, "message": "Bad image data."}}
        safe = {"adult": "VERY_UNLIKELY", "spoof": "UNLIKELY", "medical": "UNLIKELY", "violence": "UNLIKELY", "racy": "POSSIBLE"}
        listed = self.labels.get(digest, [label("Sky", "/m/01bqvp", 0.9)])
        return {"safeSearchAnnotation": safe} | ({"labelAnnotations": listed} if listed else {})

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self) -> None:
                data = self.rfile.read(int(self.headers["Content-Length"]))
                path = self.path.partition("?")[0]
                body = json.loads(data) if data.startswith(b"{") else data.decode()
                with outer._lock:
                    number = len(outer.requests)
                    outer.requests.append((path, dict(self.headers.items()), body))
                    outer.at_once += 1
                    outer.most_at_once = max(outer.most_at_once, outer.at_once)
                try:
                    reply = outer.script(number, path, body) or outer.answer(path, body)
                    time.sleep(reply.delay)
                finally:
                    with outer._lock:
                        outer.at_once -= 1
                self._send(reply)

            def _send(self, reply: Reply) -> None:
                content = reply.content if isinstance(reply.content, bytes) else json.dumps(reply.content).encode()
                try:
                    self.send_response(reply.status)
                    self.send_header("Content-Type", "application/json; charset=UTF-8")
                    self.send_header("Content-Length", str(len(content) + (100 if reply.cut else 0)))
                    for name, value in reply.headers.items():
                        self.send_header(name, value)
                    self.end_headers()
                    self.wfile.write(content)
                except (BrokenPipeError, ConnectionResetError):
                    pass
                if reply.cut:
                    self.close_connection = True

            def log_message(self, *_: Any) -> None:
                pass

        return Handler


def label(description: str, mid: str, score: float) -> dict[str, Any]:
    """A label in the documented form."""
    return {"mid": mid, "description": description, "score": score, "topicality": score}
