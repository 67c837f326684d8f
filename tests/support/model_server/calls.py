"""Calls of the client that its tests share."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from PIL import Image

from components.model_server.client import Question, ServerAnswers
from components.model_server.prompts import load_prompt
from components.model_server.settings import ServerParams
from tests.support.model_server.chat_server import MODEL


def jpeg(color: str = "red") -> bytes:
    """An image of one colour."""
    out = io.BytesIO()
    Image.new("RGB", (40, 32), color).save(out, "JPEG")
    return out.getvalue()


def rewriter(params: ServerParams, folder: Path | None = None) -> ServerAnswers:
    """The client with the prompt that rewrites texts."""
    return ServerAnswers(params, load_prompt("rewrite"), MODEL, folder)


def questions(number: int) -> dict[str, Question]:
    """Questions about texts, by key."""
    return {str(each): Question({"text": f"text number {each}"}) for each in range(number)}


def ask(client: ServerAnswers, number: int = 1) -> list[dict[str, Any]]:
    """The answers to some questions, in their order."""
    answers = dict(client.ask_many(questions(number).items()))
    return [answers[key] for key in questions(number)]


def contents(answers: Sequence[dict[str, Any]]) -> list[str]:
    """What was answered; why there is no answer, for the others."""
    return [answer.get("content", answer.get("error", "")) for answer in answers]
