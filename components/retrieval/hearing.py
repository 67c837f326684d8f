"""What is heard of recordings before the jobs that need it, in all workers: states of a pretrained encoder, and transcripts."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc

from components.core.errors import HearsightError
from components.execution.resources import CORE, Resources
from components.retrieval.inputs import readable
from components.speech.audio.files import Samples, from_flac
from components.speech.audio.measures import is_silent
from components.speech.recognition.encoder_states import ENCODER, EncoderStates
from components.speech.recognition.hub_states import open_ear
from components.speech.recognition.recognizer import INSTALL, Whisper, installed, recogniser_for

if TYPE_CHECKING:
    from components.core.result_cache import Annotator, ResultCache
    from components.execution.stage import Stage, Task
    from components.retrieval.pairs import Pairs

    Recording = tuple[str, str, str]
    """Input, reference of the FLAC in it, and sha256 of the audio."""

PIECE = 64
"""Recordings that a worker takes at a time."""


def hear_states(stage: Stage, networks: Iterable[Mapping[str, Any]], splits: Sequence[str], voices: Sequence[str] = ()) -> None:
    """Encode the utterances of these splits and voices (empty: all) that are not cached, for the networks that read states.

    Args:
        networks: as :meth:`~components.models.dual_encoder.DualEncoderConfig.plain`, or settings of towers with an ear's facts.

    Raises:
        HearsightError: an encoder is not installed, or a recording cannot be read.
    """
    device = stage.engine.device(stage.params.hardware.accelerator)
    ears = [open_ear(network, stage.project, device) for network in networks if network["speech"] == "whisper"]
    if any(isinstance(ear, EncoderStates) for ear in ears) and not installed(ENCODER):
        raise HearsightError("the tower 'whisper' has no encoder", where=stage.place(), hint=f"run `{INSTALL}`")
    for ear in {ear.model: ear for ear in ears}.values():
        recordings = [recording for heard in _recordings(stage, splits, voices).values() for recording in heard]
        gpus = int(device == "gpu" and not isinstance(ear, EncoderStates))
        _annotate(stage, ear, recordings, Resources(gpus=gpus))


def hear_words(stage: Stage, split: str, voices: Sequence[str]) -> bool:
    """Transcribe the audible utterances of a split that are not cached; return whether all languages have a recogniser.

    Without one nothing is transcribed, and a warning names the languages.
    """
    by_language = _recordings(stage, [split], voices)
    recognisers = {language: recogniser_for(language) for language in by_language}
    if missing := sorted(name for name, recogniser in recognisers.items() if not (recogniser and installed(recogniser))):
        what = f"{stage.place()}: no row of transcripts, for no recogniser of {', '.join(missing)} is installed: run `{INSTALL}`"
        print(f"hearsight: warning: {what}", file=sys.stderr, flush=True)
        return False
    for language, recordings in by_language.items():
        recogniser = recognisers[language]
        assert recogniser is not None
        _annotate(stage, Whisper(recogniser, language), recordings)
    return True


def transcripts(annotations: ResultCache, pairs: Pairs) -> list[str]:
    """Return what was heard of each utterance, after :func:`hear_words`; empty for an inaudible one."""
    digests, heard = pairs.utterances["audio_sha256"].to_pylist(), dict[tuple[str, str], str]()
    languages = pairs.utterances["language"].to_pylist()
    for language in sorted(set(languages)):
        recogniser = recogniser_for(language)
        asked = [digest for digest, its in zip(digests, languages, strict=True) if its == language]
        found = annotations.read(Whisper(recogniser, language), asked) if recogniser else {}
        heard |= {(language, digest): text for digest, text in found.items()}
    return [heard.get(key, "") for key in zip(languages, digests, strict=True)]


def _recordings(stage: Stage, splits: Sequence[str], voices: Sequence[str]) -> dict[str, list[Recording]]:
    """Return language → recordings of these splits and voices, each once."""
    by_language: dict[str, dict[str, Recording]] = {}
    names = ["speech"] if "speech" in stage.inputs else [name for name in ("input", "more") if name in stage.inputs]
    for name in names:
        table = stage.inputs[name].table(["split", "voice", "language", "audio_sha256", "media"])
        table = table.filter(pc.is_in(table["split"], value_set=pc.cast(list(splits), "string")))
        for row in table.to_pylist():
            if not voices or row["voice"] in voices:
                recording = (name, row["media"], row["audio_sha256"])
                by_language.setdefault(row["language"], {}).setdefault(row["audio_sha256"], recording)
    return {language: list(recordings.values()) for language, recordings in by_language.items()}


def _annotate(stage: Stage, annotator: Annotator, recordings: Sequence[Recording], resources: Resources = CORE) -> None:
    missing = set(stage.annotations.find_missing(annotator, [digest for _, _, digest in recordings]))
    todo = [recording for recording in recordings if recording[2] in missing]
    pieces = [(annotator, todo[first : first + PIECE]) for first in range(0, len(todo), PIECE)]
    for _ in stage.map_uncached(_annotate_piece, pieces, step=annotator.name, resources=resources):
        pass


def _annotate_piece(piece: tuple[Annotator, Sequence[Recording]], task: Task) -> None:
    annotator, recordings = piece
    sounds = {digest: _samples(task, name, media) for name, media, digest in recordings}
    if isinstance(annotator, Whisper):
        # Recognisers invent words for silence.
        sounds = {digest: sound for digest, sound in sounds.items() if not is_silent(sound)}
    task.annotations.annotate(annotator, {digest: partial(sounds.__getitem__, digest) for digest in sounds})


def _samples(task: Task, name: str, media: str) -> Samples:
    with readable(media):
        return from_flac(task.inputs[name].read_media(media))
