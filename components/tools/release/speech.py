"""Write the spoken corpora of a release: audio shards, a manifest for each speaker, and the speakers with their licences.

A corpus is the folder ``speech/<dataset>-synthetic`` or ``-recorded``. Audio is 16 kHz mono FLAC as the stage wrote it. Unpacked,
import_recordings reads the folder (``layout: release``). Only released records have speech, only of their published caption, and
recordings of people only under a stated licence. One shard's rows and one utterance's audio are in memory at a time.
"""

from __future__ import annotations

import re
import tarfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, NamedTuple

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.progress import progress
from components.core.shards import TarReader, add_member
from components.core.stage_output import ShardRef, StageOutput
from components.speech.voices.catalogue import VOICES
from components.tools.release.records import CsvFile, Record, published_text

AUDIO = "wavs"
"""Folder of the members; the Flickr Audio Caption Corpus has the same."""
SHARD_BYTES = 256 << 20
"""Audio bytes after which the next shard begins."""
FLICKR_CAPTIONS, FLICKR_SPEAKERS = "wav2capt.txt", "wav2spk.txt"
_CAPTION_ID = re.compile(r"(\S+)#(\d+)")


class AudioShards:
    """The open shard of each split; a context manager."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._open: dict[str, tuple[str, tarfile.TarFile]] = {}
        self._bytes: dict[str, int] = {}
        self._numbers: dict[str, int] = {}

    def add(self, split: str, utterance: str, audio: bytes) -> tuple[str, str]:
        """Write an utterance's audio; return the shard's and the member's name."""
        if split not in self._open or self._bytes[split] + len(audio) > SHARD_BYTES:
            self._next(split)
        shard, tar = self._open[split]
        member = f"{AUDIO}/{utterance}.flac"
        add_member(tar, member, audio)
        self._bytes[split] += len(audio)
        return shard, member

    def _next(self, split: str) -> None:
        if split in self._open:
            self._open[split][1].close()
        number = self._numbers.get(split, -1) + 1
        self._folder.mkdir(parents=True, exist_ok=True)
        shard = f"{split}-{number:05d}.tar"
        # Open until the next shard of the split, or the end of the corpus.
        tar = tarfile.open(self._folder / shard, "w", format=tarfile.USTAR_FORMAT)  # noqa: SIM115
        self._open[split] = shard, tar
        self._bytes[split], self._numbers[split] = 0, number

    def __enter__(self) -> AudioShards:
        return self

    def __exit__(self, *error: object) -> None:
        for _, tar in self._open.values():
            tar.close()


class FlickrLists:
    """The lists of the Flickr Audio Caption Corpus, without those where a caption has no identifier as ``name.jpg#0``."""

    def __init__(self, folder: Path) -> None:
        self._paths = folder / FLICKR_CAPTIONS, folder / FLICKR_SPEAKERS
        self._stack = ExitStack()
        self._files: list[IO[str]] = []
        self._complete = True

    def add(self, member: str, caption_id: str, speaker: str) -> None:
        """Write the lines of one utterance."""
        match = _CAPTION_ID.fullmatch(caption_id)
        if match is None:
            self._complete = False
        elif self._complete:
            if not self._files:
                self._files = [self._stack.enter_context(path.open("w", encoding="utf-8", newline="\n")) for path in self._paths]
            name = member.rpartition("/")[2]
            self._files[0].write(f"{name} {match[1]} #{match[2]}\n")
            self._files[1].write(f"{name} {speaker}\n")

    def __enter__(self) -> FlickrLists:
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()
        if not self._complete:
            for path in self._paths:
                path.unlink(missing_ok=True)


FOLDER = "speech"
VOICES_FILE = "voices.csv"
VOICE_COLUMNS = ("voice", "origin", "engine", "model", "language", "sex", "licence", "utterances", "seconds")
MANIFESTS = "manifests"
COLUMNS = ["key", "record", "caption", "spoken", "language", "origin", "voice", "rate", "pitch", "gain", "seconds"]
COLUMNS += ["audio_sha256", "media"]
NOT_RELEASED, OTHER_CAPTION, NO_LICENCE = "record_not_released", "caption_changed", "recording_without_licence"
"""Reasons for which an utterance is left out: its record is; the release masks names in its caption; nobody stated a licence."""
_NAMELESS = re.compile(r"\d{1,9}|human-[a-z]{2,3}")
"""Speakers that a corpus numbers, or names by their language."""


class Utterance(NamedTuple):
    """A row of a speaker's manifest."""

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


class Published(NamedTuple):
    """A released record, and the identifier of its caption at its source."""

    record: Record
    post: str


@dataclass
class Speaker:
    """The counts of one speaker."""

    origin: str
    """synthetic or human."""
    utterances: int = 0
    seconds: float = 0.0


@dataclass
class Corpus:
    """The counts of one spoken corpus."""

    speakers: dict[str, Speaker] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    """Reason → number of utterances."""
    splits: Counter[str] = field(default_factory=Counter)
    """Split → number of utterances."""
    languages: Counter[str] = field(default_factory=Counter)
    licence: str = ""
    """Of recordings of people."""

    @property
    def utterances(self) -> int:
        """Number of released utterances."""
        return self.splits.total()

    @property
    def hours(self) -> float:
        """Duration of the released utterances."""
        return sum(speaker.seconds for speaker in self.speakers.values()) / 3600

    def voices(self) -> list[list[str]]:
        """Return the rows of ``voices.csv``, by name."""
        rows = []
        for name, speaker in sorted(self.speakers.items()):
            voice = VOICES.get(name) if speaker.origin == "synthetic" else None
            licence = self.licence if speaker.origin == "human" else voice.licence if voice else ""
            about = [voice.engine, voice.model, voice.language, voice.sex] if voice else [""] * 4
            rows.append([name, speaker.origin, *about, licence, str(speaker.utterances), f"{speaker.seconds:.2f}"])
        return rows


Lookup = Callable[[str], Mapping[str, Published]]
"""Name of a shard of the split → its released records by key."""


def write_speech(outputs: Mapping[str, StageOutput], lookup: Lookup, folder: Path, licence: str) -> dict[str, Corpus]:
    """Write every corpus below ``folder``; return their counts.

    Args:
        outputs: corpus name → output of UTTERANCE.
        licence: of recordings of people; with '' they are left out.

    Raises:
        HearsightError: an utterance's audio is missing or damaged.
    """
    return {name: _write_corpus(output, lookup, folder / FOLDER / name, licence) for name, output in outputs.items()}


def _write_corpus(output: StageOutput, lookup: Lookup, folder: Path, licence: str) -> Corpus:
    corpus = Corpus(licence=" ".join(licence.split()))
    names = _number_speakers(output)
    with AudioShards(folder) as shards, FlickrLists(folder) as lists:
        for shard in progress(output.shards, total=len(output.shards), desc="speech"):
            # Opened for each shard: a corpus may have more speakers than a process may have files open.
            manifests: dict[str, list[Utterance]] = {}
            for row, published, audio in _released(shard, lookup(shard.name), corpus):
                speaker = names.get(row["voice"], row["voice"])
                utterance = _write_utterance(row, speaker, published.record, audio, shards)
                lists.add(utterance.file, published.post, speaker)
                manifests.setdefault(speaker, []).append(utterance)
                counts = corpus.speakers.setdefault(speaker, Speaker(row["origin"]))
                counts.utterances, counts.seconds = counts.utterances + 1, counts.seconds + row["seconds"]
                corpus.splits[utterance.split] += 1
                corpus.languages[utterance.language] += 1
            for speaker, utterances in manifests.items():
                with CsvFile(folder / MANIFESTS / f"{speaker}.csv", Utterance._fields, append=True) as manifest:
                    for utterance in utterances:
                        manifest.add(utterance)
    if corpus.utterances:
        with CsvFile(folder / VOICES_FILE, VOICE_COLUMNS) as table:
            for voice in corpus.voices():
                table.add(voice)
    return corpus


def _released(
    shard: ShardRef, records: Mapping[str, Published], corpus: Corpus
) -> Iterator[tuple[dict[str, Any], Published, bytes]]:
    """Yield (row, its record, its audio) of every utterance to release; count the others."""
    media = TarReader(shard.media) if shard.media else None
    for row in shard.read(COLUMNS).to_pylist():
        published = records.get(row["record"])
        if published is None:
            corpus.left_out[NOT_RELEASED] += 1
        elif published_text(row["caption"]) != published_text(published.record.caption):
            corpus.left_out[OTHER_CAPTION] += 1
        elif row["origin"] == "human" and not corpus.licence:
            corpus.left_out[NO_LICENCE] += 1
        else:
            member = row["media"].partition("/")[2]
            audio = media.read(member) if media else b""
            if sha256_bytes(audio) != row["audio_sha256"]:
                what = f"{member} is not the audio of utterance {row['key']}"
                raise HearsightError(what, where=shard.media or shard.path, hint="run its stage again")
            yield row, published, audio


def _write_utterance(row: Mapping[str, Any], speaker: str, record: Record, audio: bytes, shards: AudioShards) -> Utterance:
    name = f"{record.id}.{row['key'].rpartition('.')[2]}"
    shard, member = shards.add(record.split, name, audio)
    return Utterance(
        id=name,
        record=record.id,
        split=record.split,
        image=record.image,
        caption=record.caption,
        spoken=row["spoken"],
        language=row["language"],
        origin=row["origin"],
        voice=speaker,
        **{number: f"{row[number]:.4f}" for number in ("seconds", "rate", "pitch", "gain")},
        shard=shard,
        file=member,
        audio_sha256=row["audio_sha256"],
    )


def _number_speakers(output: StageOutput) -> dict[str, str]:
    """Return the voices that may be people's names → ``speaker-1``, in the order of their names."""
    voices: set[str] = set()
    for shard in output.shards:
        table = shard.read(["voice", "origin"])
        pairs = zip(table["voice"].to_pylist(), table["origin"].to_pylist(), strict=True)
        voices |= {voice for voice, origin in pairs if origin == "human" and not _NAMELESS.fullmatch(voice)}
    return {voice: f"speaker-{number}" for number, voice in enumerate(sorted(voices), 1)}
