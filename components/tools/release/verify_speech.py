"""Verify a spoken corpus of a release: manifests, voices, and every utterance's audio as import_recordings reads it."""

from __future__ import annotations

import tarfile
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import quote

from components.core.digests import sha256_bytes
from components.speech.audio.files import RATE_HZ, read_sound
from components.stages.import_recordings.corpora import Recording, open_corpus
from components.tools.release.records import Record, read_csv
from components.tools.release.speech import MANIFESTS, VOICE_COLUMNS, VOICES_FILE, Utterance

ROUNDING = 1e-3
"""Tolerance of durations in a manifest, s."""


def verify_corpus(corpus: Path, records: Mapping[str, Record], counts: dict[str, Any]) -> Iterator[str]:
    """Yield a line for each error; add the number of compared utterances to ``counts``."""
    name = f"speech/{corpus.name}"
    utterances: dict[str, Utterance] = {}
    seconds: dict[str, list[float]] = defaultdict(list)
    for path in sorted((corpus / MANIFESTS).glob("*.csv")):
        for row in read_csv(path, Utterance._fields):
            utterance = Utterance(**{column: row[column] for column in Utterance._fields})
            record = records.get(utterance.record)
            own = (utterance.split, utterance.image, utterance.caption)
            if record is None or own != (record.split, record.image, record.caption):
                yield f"{name}: utterance {utterance.id} is not of its record {utterance.record}"
            if utterance.file in utterances or utterance.voice != path.stem:
                yield f"{name}: utterance {utterance.id} is listed twice, or in the manifest of another voice"
            utterances[utterance.file] = utterance
            seconds[utterance.voice].append(float(utterance.seconds))
    for voice in read_csv(corpus / VOICES_FILE, VOICE_COLUMNS):
        spoken = seconds.pop(voice["voice"], [])
        if len(spoken) != int(voice["utterances"]) or abs(sum(spoken) - float(voice["seconds"])) > ROUNDING * (len(spoken) + 10):
            yield f"{name}: {VOICES_FILE} states other utterances of {voice['voice']} than its manifest"
    yield from (f"{name}: {VOICES_FILE} lacks {voice}" for voice in sorted(seconds))
    yield from _verify_import(name, corpus, records, utterances)
    yield from _verify_audio(name, corpus, utterances)
    counts["utterances"] = counts.get("utterances", 0) + len(utterances)


def _verify_import(name: str, corpus: Path, records: Mapping[str, Record], utterances: Mapping[str, Utterance]) -> Iterator[str]:
    """Ask import_recordings for the recording of each spoken record."""
    imported = open_corpus("release", corpus)
    for record in (records[key] for key in dict.fromkeys(each.record for each in utterances.values()) if key in records):
        is_address = record.image.lower().startswith(("http://", "https://"))
        url = record.image if is_address else f"file:{quote(record.image)}"
        recording = imported.recording({"image_url": url, "caption": record.caption})
        found = utterances.get(recording.name) if isinstance(recording, Recording) else None
        if found is None or (found.image, found.caption) != (record.image, record.caption):
            yield f"{name}: the import finds no recording of record {record.id}"


def _verify_audio(name: str, corpus: Path, utterances: Mapping[str, Utterance]) -> Iterator[str]:
    """Read every shard once, one utterance at a time."""
    left = dict(utterances)
    for path in sorted(corpus.glob("*.tar")):
        with tarfile.open(path, "r:") as tar:
            for member in tar:
                content, utterance = tar.extractfile(member), left.pop(member.name, None)
                if utterance is None or utterance.shard != path.name or content is None:
                    yield f"{name}/{path.name}: {member.name} is of no utterance of this shard"
                    continue
                audio = content.read()
                if sha256_bytes(audio) != utterance.audio_sha256:
                    yield f"{name}/{path.name}: {member.name} is not the audio of {utterance.id}"
                    continue
                sound = read_sound(audio, f"{path.name}/{member.name}")
                length = len(sound.samples) / RATE_HZ
                if (sound.rate, sound.channels) != (RATE_HZ, 1) or abs(length - float(utterance.seconds)) > ROUNDING:
                    yield f"{name}/{path.name}: {member.name} is not 16 kHz mono of {utterance.seconds} s"
    yield from (f"{name}: the audio of {each.id} is missing" for each in left.values())
