"""Jobs that transcribe recordings, cached by digest; every recording gets a verdict."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import soundfile

from components.execution.shard_worker import Task
from components.speech.audio.files import Samples, from_flac
from components.speech.audio.measures import is_silent
from components.speech.recognition.recognizer import Whisper, recogniser_for

HEARD_FILE = "heard.json"


def hear_job(spec: Any, task: Task, folder: Path) -> None:
    """Write ``audio digest → verdict, text and recogniser`` for the recordings of ``spec``, all in one language."""
    recogniser = recogniser_for(spec["language"])
    assert recogniser is not None  # the stage makes no jobs for languages without a recogniser
    annotator = Whisper(recogniser, spec["language"])
    heard: dict[str, dict[str, str]] = {}
    payloads = {}
    for item in spec["items"]:
        digest = item["audio_sha256"]
        try:
            samples = read_samples(task, item["media"])
        except ValueError:
            heard[digest] = {"verdict": "unreadable", "text": "", "recogniser": recogniser.name}
            continue
        if is_silent(samples):
            # Recognisers invent words for silence.
            heard[digest] = {"verdict": "silent", "text": "", "recogniser": recogniser.name}
        else:
            payloads[digest] = partial(read_samples, task, item["media"])
    for digest, text in task.annotations.annotate(annotator, payloads).items():
        heard[digest] = {"verdict": "heard", "text": text, "recogniser": recogniser.name}
    (folder / HEARD_FILE).write_text(json.dumps(heard, sort_keys=True, ensure_ascii=False))


def read_samples(task: Task, media: str) -> Samples:
    """Return the samples of a recording; raise ValueError if it cannot be decoded."""
    return decode_samples(task.inputs["input"].read_media(media))


def decode_samples(data: bytes) -> Samples:
    """Return the samples of a recording's file; raise ValueError if it cannot be decoded."""
    try:
        samples = from_flac(data)
    except (soundfile.SoundFileError, RuntimeError, TypeError) as error:
        raise ValueError(str(error)) from error
    if samples.ndim != 1 or not np.isfinite(samples).all():
        raise ValueError("not one channel of finite samples")
    return samples
