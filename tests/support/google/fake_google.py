"""A server on loopback that answers as Google's REST services are documented to: written from their reference, not recorded.

What it says of a text is written down in ``google_documents``; a test scripts the trouble it wants.
"""

from __future__ import annotations

import base64
import hashlib
from typing import Any

from tests.support.google.fake_speech import problem_of, spoken
from tests.support.google.google_documents import DOCUMENTS, document
from tests.support.scripted_server import Reply as Reply
from tests.support.scripted_server import ScriptedServer

PLAIN_TEXT, UTF32, LABEL_DETECTION, SAFE_SEARCH_DETECTION = 1, 3, 4, 6
"""The libraries of Language and Vision send enumerations by number, and say so in the address."""


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


class FakeGoogle(ScriptedServer):
    """The server."""

    def __init__(self) -> None:
        super().__init__()
        self.labels: dict[str, list[dict[str, Any]]] = {}
        """sha256 of an image → its labels"""
        self.bad: set[str] = set()
        """sha256 of images that cannot be decoded"""

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


def label(description: str, mid: str, score: float) -> dict[str, Any]:
    """A label in the documented form."""
    return {"mid": mid, "description": description, "score": score, "topicality": score}
