"""Requests for speech that the tests of Google's voices share."""

from __future__ import annotations

import base64
from pathlib import Path

from components.google.client import GoogleClient
from components.google.settings import RequestSettings
from components.speech.voices.google_speech import GoogleSpeech, SpeechRequest, answer_key
from tests.support.google.client_calls import QUICK
from tests.support.google.fake_google import Reply

VOICE = "en-US-Wavenet-C"
CAPTION = SpeechRequest("a dog on the beach", VOICE)


def speech(asking: RequestSettings = QUICK, folder: Path | None = None) -> GoogleSpeech:
    return GoogleSpeech(GoogleClient(asking, folder))


def speech_requests(number: int) -> dict[str, SpeechRequest]:
    return {answer_key(wish): wish for wish in (SpeechRequest(f"caption number {each}", VOICE) for each in range(number))}


def audio(content: bytes) -> Reply:
    return Reply(200, {"audioContent": base64.b64encode(content).decode()})
