"""The expensive part: recordings written down by a recogniser, cached by digest. Every one gets a verdict, whatever it holds."""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.execution.shard_worker import Task

if TYPE_CHECKING:
    from components.speech.audio.files import Samples

HEARD_FILE = "heard.json"


def hear_job(spec: Any, task: Task, folder: Path) -> None:
    """Write ``audio digest → verdict, text and recogniser`` for the recordings of ``spec``, all in one language."""
    from components.speech.audio.measures import is_silent
    from components.speech.recognition.recognizer import Whisper, recogniser_for

    recogniser = recogniser_for(spec["language"])
    assert recogniser is not None  # what no recogniser can hear is not given to this job
    annotator = Whisper(recogniser, spec["language"])
    heard: dict[str, dict[str, str]] = {}
    payloads = {}
    for item in spec["items"]:
        digest = item["audio_sha256"]
        try:
            samples = read(task, item["media"])
        except ValueError:
            heard[digest] = {"verdict": "unreadable", "text": "", "recogniser": recogniser.name}
            continue
        if is_silent(samples):
            # A recogniser makes words of silence; nobody is to believe them.
            heard[digest] = {"verdict": "silent", "text": "", "recogniser": recogniser.name}
        else:
            payloads[digest] = partial(read, task, item["media"])
    for digest, text in task.annotations.annotate(annotator, payloads).items():
        heard[digest] = {"verdict": "heard", "text": text, "recogniser": recogniser.name}
    (folder / HEARD_FILE).write_text(json.dumps(heard, sort_keys=True, ensure_ascii=False))


def read(task: Task, media: str) -> Samples:
    """The samples of a recording; raises ValueError when it is no sound that can be read whole."""
    import numpy as np
    import soundfile

    from components.speech.audio.files import from_flac

    try:
        samples = from_flac(task.inputs["input"].read_media(media))
    except (soundfile.SoundFileError, RuntimeError, TypeError) as error:
        raise ValueError(str(error)) from error
    if samples.ndim != 1 or not np.isfinite(samples).all():
        raise ValueError("not one channel of numbers")
    return samples
