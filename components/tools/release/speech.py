"""Write the spoken corpora of a release: audio shards, a manifest for each split, and the speakers with their licences.

A corpus is the folder ``speech/<dataset>-synthetic`` or ``-recorded``. Audio is 16 kHz mono FLAC as the stage wrote it, in
WebDataset shards with its caption and its own values. Unpacked, import_recordings reads the folder (``layout: release``). Only
released records have speech, only of their published caption, and recordings of people only under a stated licence. One shard's
rows and one utterance's audio are in memory at a time.
"""

from __future__ import annotations

import csv
import json
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.shards import TarReader
from components.core.stage_output import StageOutput
from components.speech.voices.catalogue import VOICES
from components.tools.release.split_files import Published, Record, SplitTables, TarShards, published_text

AUDIO = "wavs"
"""Folder of the members."""
FOLDER = "speech"
VOICES_FILE = "voices.csv"
VOICE_COLUMNS = ("voice", "origin", "engine", "model", "language", "sex", "licence", "utterances", "seconds")
MANIFESTS = "manifests"
NUMBERS = ("seconds", "rate", "pitch", "gain")
COLUMNS = ["key", "record", "caption", "spoken", "language", "origin", "voice", *NUMBERS, "audio_sha256", "media"]
NOT_RELEASED, OTHER_CAPTION, NO_LICENCE = "record_not_released", "caption_changed", "recording_without_licence"
"""Reasons for which an utterance is left out: its record is; the release masks names in its caption; nobody stated a licence."""
_NAMELESS = re.compile(r"\d{1,9}|human-[a-z]{2,3}")
"""Speakers that a corpus numbers, or names by their language."""


class Utterance(NamedTuple):
    """A row of a manifest."""

    id: str
    record: str
    """Identifier of the record."""
    split: str
    image: str
    caption: str
    spoken: str
    language: str
    origin: str
    voice: str
    seconds: str
    rate: str
    pitch: str
    gain: str
    shard: str
    """Tar file, relative to the corpus."""
    file: str
    """Its member, and the path relative to the corpus after unpacking."""
    audio_sha256: str

    def own(self) -> dict[str, Any]:
        """Return :data:`OWN_COLUMNS`, numbers as such."""
        return {name: float(getattr(self, name)) if name in NUMBERS else getattr(self, name) for name in OWN_COLUMNS}


OWN_COLUMNS = [name for name in Utterance._fields if name not in ("split", "image", "caption", "shard", "file")]
"""Columns of an utterance that its record and its file do not tell."""


class Spoken(NamedTuple):
    """A released utterance, and how its audio is read."""

    utterance: Utterance
    corpus: str
    audio: Callable[[], bytes]


@dataclass
class Corpus:
    """The counts of one spoken corpus."""

    speakers: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Voice and its origin (synthetic or human) → number of utterances."""
    seconds: dict[tuple[str, str], float] = field(default_factory=lambda: defaultdict(float))
    left_out: Counter[str] = field(default_factory=Counter)
    """Reason → number of utterances."""
    splits: Counter[str] = field(default_factory=Counter)
    """Split → number of utterances."""
    licence: str = ""
    """Of recordings of people."""

    @property
    def utterances(self) -> int:
        """Number of released utterances."""
        return self.splits.total()

    @property
    def hours(self) -> float:
        """Duration of the released utterances."""
        return sum(self.seconds.values()) / 3600

    def voices(self) -> list[list[str]]:
        """Return the rows of ``voices.csv``, by name."""
        rows = []
        for (name, origin), number in sorted(self.speakers.items()):
            voice = VOICES.get(name) if origin == "synthetic" else None
            licence = self.licence if origin == "human" else voice.licence if voice else ""
            about = [voice.engine, voice.model, voice.language, voice.sex] if voice else [""] * 4
            rows.append([name, origin, *about, licence, str(number), f"{self.seconds[name, origin]:.2f}"])
        return rows


class SpeechWriter(ExitStack):
    """Writes one corpus; a context manager.

    Args:
        output: of UTTERANCE; its shards are those of the split.
        licence: of recordings of people; with '' they are left out.
    """

    def __init__(self, output: StageOutput, folder: Path, licence: str) -> None:
        super().__init__()
        self._folder = folder
        self.corpus = Corpus(licence=" ".join(licence.split()))
        self._output = output
        self._names = _number_speakers(output)
        self._audio = self.enter_context(TarShards(folder))
        self._manifests = self.enter_context(SplitTables(folder / MANIFESTS, Utterance._fields, numbers=NUMBERS))
        self.callback(self._write_voices)

    def add(self, shard: str, records: Mapping[str, Published]) -> Iterator[Spoken]:
        """Write the utterances of the released records in the shard with that name, or with '' in all, and yield them.

        Raises:
            HearsightError: an utterance's audio is missing or damaged.
        """
        for source in (each for each in self._output.shards if shard in ("", each.name)):
            read = TarReader(source.media).read if source.media else lambda member: b""
            for row in source.read(COLUMNS).to_pylist():
                published = records.get(row["record"])
                if published is None:
                    self.corpus.left_out[NOT_RELEASED] += 1
                elif published_text(row["caption"]) != published_text(published.record.caption):
                    self.corpus.left_out[OTHER_CAPTION] += 1
                elif row["origin"] == "human" and not self.corpus.licence:
                    self.corpus.left_out[NO_LICENCE] += 1
                else:
                    member = row["media"].partition("/")[2]
                    audio = read(member)
                    if sha256_bytes(audio) != row["audio_sha256"]:
                        what = f"{member} is not the audio of utterance {row['key']}"
                        raise HearsightError(what, where=source.media or source.path, hint="run its stage again")
                    yield Spoken(self._write(row, published.record, audio), self._folder.name, partial(read, member))

    def _write(self, row: Mapping[str, Any], record: Record, audio: bytes) -> Utterance:
        # Without a dot, which would end the key of a WebDataset's sample.
        name = f"{record.id}-{row['key'].rpartition('.')[2]}"
        utterance = Utterance(
            id=name,
            record=record.id,
            **{column: getattr(record, column) for column in ("split", "image", "caption")},
            **{column: row[column] for column in ("spoken", "language", "origin", "audio_sha256")},
            voice=self._names.get(row["voice"], row["voice"]),
            **{number: f"{row[number]:.4f}" for number in NUMBERS},
            shard="",
            file=f"{AUDIO}/{name}.flac",
        )
        about = json.dumps(utterance.own(), ensure_ascii=False).encode()
        sample = {".flac": audio, ".txt": record.caption.encode(), ".json": about}
        shard = self._audio.add(record.split, {f"{AUDIO}/{name}{suffix}": data for suffix, data in sample.items()})
        self._manifests.add(record.split, utterance._replace(shard=shard))
        self.corpus.splits[record.split] += 1
        self.corpus.speakers[utterance.voice, utterance.origin] += 1
        self.corpus.seconds[utterance.voice, utterance.origin] += row["seconds"]
        return utterance

    def _write_voices(self) -> None:
        if self.corpus.utterances:
            with (self._folder / VOICES_FILE).open("w", encoding="utf-8", newline="") as file:
                csv.writer(file).writerows([VOICE_COLUMNS, *self.corpus.voices()])


def _number_speakers(output: StageOutput) -> dict[str, str]:
    """Return the voices that may be people's names → ``speaker-1``, in the order of their names."""
    rows = (row for shard in output.shards for row in shard.read(["voice", "origin"]).to_pylist())
    voices = {row["voice"] for row in rows if row["origin"] == "human" and not _NAMELESS.fullmatch(row["voice"])}
    return {voice: f"speaker-{number}" for number, voice in enumerate(sorted(voices), 1)}
