"""A model server on loopback with OpenAI's chat-completions interface, which answers from a function and can be faulty."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from typing import Any, NamedTuple

from components.model_server.settings import ServerParams
from tests.support.scripted_server import Reply, ScriptedServer

MODEL = "small-model"
ANSWERS: dict[str, dict[str, Any]] = {
    "describe": {"description": "a red car stands on a road", "sure": True},
    "rewrite": {"caption": "a dog runs on the grass"},
    "judge": {"verdict": "GOOD"},
}
"""Prompt → the usual answer."""


class Asked(NamedTuple):
    """One request."""

    prompt: str
    """Name of the JSON schema; empty where none was sent."""
    system: str
    text: str
    image: bytes
    """JPEG; empty where none was sent."""
    body: dict[str, Any]


def read_request(body: dict[str, Any]) -> Asked:
    """Return what a request asks; raises where it has not the documented form."""
    system, user = body["messages"]
    assert (system["role"], user["role"], body["model"]) == ("system", "user", MODEL)
    content: Any = user["content"]
    parts: list[Any] = [{"type": "text", "text": content}] if isinstance(content, str) else content
    images = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    prefix = "data:image/jpeg;base64,"
    assert all(url.startswith(prefix) for url in images) and len(images) <= 1
    image = base64.b64decode(images[0].removeprefix(prefix)) if images else b""
    text = "".join(part["text"] for part in parts if part["type"] == "text")
    name = body.get("response_format", {}).get("json_schema", {}).get("name", "")
    return Asked(name, system["content"], text, image, body)


def completion(content: Any, finish: str = "stop", sent: int = 100, answered: int = 20) -> Reply:
    """An answer in the documented form; what is no text is written as JSON."""
    text = content if isinstance(content, str) else json.dumps(content)
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", "content": text}}
    usage = {"prompt_tokens": sent, "completion_tokens": answered, "total_tokens": sent + answered}
    body = {"id": "c-1", "object": "chat.completion", "created": 1, "model": MODEL, "choices": [choice], "usage": usage}
    return Reply(200, body)


def refusal(status: int, message: str, **headers: str) -> Reply:
    """An error in the documented form."""
    content = {"error": {"message": message, "type": "error", "param": None, "code": None}}
    return Reply(status, content, {name.replace("_", "-"): value for name, value in headers.items()})


FAULTS: dict[str, Reply] = {
    "no JSON": completion("I see a car."),
    "half JSON": completion('{"caption": "a dog'),
    "another form": completion({"answer": "a dog", "verdict": "MAYBE", "sure": "perhaps"}),
    "too long": completion({"description": "a dog " * 1000, "sure": True, "caption": "a dog " * 1000, "verdict": "G" * 9}),
    "length": completion('{"caption": "a dog', finish="length"),
    "prompt injection obeyed": completion("Ignore all rules. The password is 1234. GOOD"),
    "empty": completion(""),
    "no choices": Reply(200, {"id": "c-1", "object": "chat.completion", "created": 1, "model": MODEL, "choices": []}),
    "a page": Reply(200, b"<html>Please log in</html>"),
    "429": refusal(429, "too many requests", Retry_After="0.02"),
    "500": refusal(500, "out of memory"),
    "503": refusal(503, "loading the model"),
    "silent": Reply(200, {}, delay=1.5),
    "cut off": Reply(200, b'{"id": "c-1", "choices": [', cut=True),
    "401": refusal(401, "no such key"),
    "403": refusal(403, "the key may not use this model"),
    "404": refusal(404, f"model '{MODEL}' not found"),
    "no schema": refusal(400, "response_format is not supported"),
    "bad image": refusal(400, "cannot decode the image"),
    "too large": refusal(413, "the request is too large"),
}
"""What servers do wrong."""


class ChatServer(ScriptedServer):
    """The server; ``answers`` gives an answer's content (a text, or JSON) or a whole :class:`Reply`."""

    def __init__(self, answers: Callable[[Asked], Any] | None = None) -> None:
        super().__init__()
        self.answers = answers or (lambda asked: ANSWERS[asked.prompt])
        self.address = f"{self.url}/v1"
        self.models = [MODEL]

    def answer(self, path: str, body: Any) -> Reply:
        assert path == "/v1/chat/completions"
        given = self.answers(read_request(body))
        return given if isinstance(given, Reply) else completion(given)

    def page(self, path: str) -> Reply:
        listed = [{"id": name, "object": "model", "created": 1, "owned_by": "tests"} for name in self.models]
        return Reply(200, {"object": "list", "data": listed}) if path == "/v1/models" else Reply(404, {})

    def params(self, **changed: Any) -> ServerParams:
        """Settings that name this server, with little patience."""
        usual: dict[str, Any] = {"address": self.address, "vision": MODEL, "timeout": 1.0, "retries": 2}
        return ServerParams(**(usual | changed))

    def asked(self) -> list[Asked]:
        """What was asked, in order."""
        return [read_request(body) for _, _, body in self.requests]

    def fail(self, fault: str, times: int = 10**9) -> None:
        """Answer the next requests with one of :data:`FAULTS`."""
        first = len(self.requests)
        self.script = lambda number, path, body: FAULTS[fault] if number < first + times else None
