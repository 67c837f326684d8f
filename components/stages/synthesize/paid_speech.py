"""Speech from paid services: requested before any shaping, all voices of a piece together.

The answers are cached by text and voice, so a new draw of the prosody costs nothing unless the service shapes the speech itself
(``google_shapes``, as in the paper). The level of a service's voice is unknown beforehand, so each answer that the service did
not shape is brought to the common level by its own measured level.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from components.speech.audio.measures import measure
from components.speech.voices.catalogue import voice_named
from components.speech.voices.failures import SILENT, EngineFailure
from components.speech.voices.google_speech import answer_key, exceeded_limit
from components.speech.voices.paid import SILENCE, google_speech, read_answer, speech_request
from components.stages.synthesize.prosody import Prosody
from components.stages.synthesize.speech import Speech

if TYPE_CHECKING:
    from components.execution.stage import Task
    from components.speech.audio.files import Samples

LEVEL_DB = -26.0
"""dB of full scale: mean active level of the local voices (docs/voices.md)."""
REFUSED = "refused"
"""Reason recorded when a service refuses a text."""


def speech_of(voice: str, shaped_by_service: bool) -> Speech:
    """Return the annotator of a voice's utterances."""
    return Speech(voice, shaped_by_service=shaped_by_service and voice_named(voice).paid)


def request_speech(rows: Sequence[Mapping[str, Any]], task: Task) -> dict[str, bytes | str]:
    """Return digest → the service's stored answer, or why it is not asked, for the rows of paid voices."""
    plan, shaped_by_service = task.shared["google"], task.shared["shaped_there"]
    requests = {
        row["digest"]: speech_request(
            row["spoken"], row["voice"], rate=row["rate"], pitch=row["pitch"], gain=row["gain"], shaped_there=shaped_by_service
        )
        for row in rows
        if voice_named(row["voice"]).paid
    }
    askable = {answer_key(request): request for request in requests.values() if not exceeded_limit(request)}
    stored = task.annotations.annotate(google_speech(plan, task.work), askable) if askable else {}
    return {digest: exceeded_limit(request) or stored[answer_key(request)] for digest, request in requests.items()}


def bought_speech(voice: str, answers: Mapping[tuple[str, Prosody], bytes | str], shaped_by_service: bool) -> Speech:
    """Return the annotator of a paid voice with stored answers."""

    def say(text: str, prosody: Prosody) -> Samples:
        answer = answers[text, prosody]
        if isinstance(answer, str):
            raise EngineFailure(voice, REFUSED, answer)
        result = read_answer(answer)
        if result.refusal:
            raise EngineFailure(voice, SILENT if result.refusal == SILENCE else REFUSED, result.refusal)
        if shaped_by_service:
            return result.samples
        return result.samples * 10.0 ** ((LEVEL_DB - measure(result.samples).level) / 20.0)

    return Speech(voice, say, shaped_by_service=shaped_by_service)
