"""The client against ``transformers serve`` with small models: it answers a text, and an image, in the form of the prompt."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.model_server.client import Question, ServerAnswers, read_answer
from components.model_server.prompts import Rewriting, Verdict, load_prompt
from components.model_server.settings import ServerParams
from tests.support.model_server.calls import jpeg
from tests.support.model_server.served_models import make_text_model, make_vision_model, serve_model

pytestmark = pytest.mark.long


def test_a_text_model_rewrites(tmp_path: Path) -> None:
    prompt = load_prompt("rewrite")
    texts = {"Ana Lima's dog in Lisbon": "a dog in a city", "a red car": "a red car"}
    questions = {text: Question({"text": text}) for text in texts}
    lessons = [(prompt, questions[text], f'{{"caption": "{caption}"}}') for text, caption in texts.items()]
    folder = make_text_model(tmp_path / "text", lessons)
    with serve_model(folder) as address:
        params = ServerParams(address=address)
        answers = dict(ServerAnswers(params, prompt, str(folder)).ask_many(questions.items()))
    for text, caption in texts.items():
        assert read_answer(answers[text], Rewriting) == Rewriting(caption=caption)
        assert answers[text]["sent"] > 100 and answers[text]["answered"] > 3


def test_a_vision_model_judges(tmp_path: Path) -> None:
    prompt = load_prompt("judge")
    questions = {color: Question({"caption": "a red field"}, jpeg(color)) for color in ("red", "blue")}
    verdicts = {"red": "GOOD", "blue": "BAD"}
    lessons = [(prompt, questions[color], f'{{"verdict": "{verdict}"}}') for color, verdict in verdicts.items()]
    folder = make_vision_model(tmp_path / "vision", lessons)
    with serve_model(folder) as address:
        params = ServerParams(address=address, vision=str(folder))
        answers = dict(ServerAnswers(params, prompt, params.vision).ask_many(questions.items()))
    for color, verdict in verdicts.items():
        assert read_answer(answers[color], Verdict) == Verdict(verdict=verdict)  # type: ignore[arg-type]
