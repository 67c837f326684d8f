"""What paid voices say of the texts of a piece: bought before any of it is shaped, all voices together.

The answers are annotations of their own, by text and voice, so a manner drawn anew costs nothing unless the service is to shape
speech itself (``google_shapes``, as the paper had it). A service has no level that could be measured beforehand: each answer it
did not shape is brought to the voices' level by its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from components.speech.voices.catalogue import voice_named
from components.speech.voices.failures import SILENT, EngineFailure
from components.stages.synthesize.prosody import Prosody
from components.stages.synthesize.speech import Speech

if TYPE_CHECKING:
    from components.execution.stage import Task
    from components.speech.audio.files import Samples

LEVEL_DB = -26.0
"""dB of full scale: the mean active level of the voices of this machine (docs/providers.md)."""
REFUSED = "refused"
"""The reason of a service that will not say a text."""


def speech_of(voice: str, shaped_there: bool) -> Speech:
    """The annotator under which a voice's utterances are kept."""
    return Speech(voice, shaped_there=shaped_there and voice_named(voice).paid)


def buy(rows: Sequence[Mapping[str, Any]], task: Task) -> dict[str, bytes | str]:
    """The service's stored answer, or why it is not asked, for the rows of paid voices by their digest."""
    from components.speech.voices.google_speech import answer_key, exceeded_limit
    from components.speech.voices.paid import google_speech, speech_request

    plan, shaped_there = task.shared["google"], task.shared["shaped_there"]
    wishes = {
        row["digest"]: speech_request(
            row["spoken"], row["voice"], rate=row["rate"], pitch=row["pitch"], gain=row["gain"], shaped_there=shaped_there
        )
        for row in rows
        if voice_named(row["voice"]).paid
    }
    asked = {answer_key(each): each for each in wishes.values() if not exceeded_limit(each)}
    stored = task.annotations.annotate(google_speech(plan, task.work), asked) if asked else {}
    return {digest: exceeded_limit(each) or stored[answer_key(each)] for digest, each in wishes.items()}


def bought_speech(voice: str, answers: Mapping[tuple[str, Prosody], bytes | str], shaped_there: bool) -> Speech:
    """The annotator of a paid voice, whose answers are at hand."""

    def say(text: str, manner: Prosody) -> Samples:
        from components.speech.audio.measures import measure
        from components.speech.voices.paid import SILENCE, read_answer

        answer = answers[text, manner]
        if isinstance(answer, str):
            raise EngineFailure(voice, REFUSED, answer)
        found = read_answer(answer)
        if found.refusal:
            raise EngineFailure(voice, SILENT if found.refusal == SILENCE else REFUSED, found.refusal)
        if shaped_there:
            return found.samples
        return found.samples * 10.0 ** ((LEVEL_DB - measure(found.samples).level) / 20.0)

    return Speech(voice, say, shaped_there=shaped_there)
