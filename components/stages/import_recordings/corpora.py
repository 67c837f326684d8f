"""Corpora of captions read aloud: the recording and the speaker of each caption.

Flickr Audio Caption Corpus (Harwath and Glass 2015), as published: ``wav2capt.txt`` (``x.wav x.jpg #0``), ``wav2spk.txt``
(``x.wav 12``), ``wavs/``. Tux Paint's stamps: ``apple.png`` has the recording ``apple_desc_fr.ogg``, in English
``apple_desc.ogg``; the speakers are not named. A spoken corpus of a release: ``manifests/<voice>.csv`` and the unpacked
``wavs/``. Not in scope: decoding sound (``audio``).
"""

from __future__ import annotations

import csv
import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from components.core.errors import HearsightError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Recording:
    """One recording of a caption."""

    name: str
    """Path relative to the corpus' folder."""
    speaker: str
    origin: str = "human"
    """Or synthetic."""


NEEDS = ("image_url", "language", "post")
"""Columns of a record that a corpus reads."""


def open_corpus(layout: str, folder: Path) -> FlickrAudio | Stamps | Released:
    """Return the corpus in a folder; raise HearsightError if it is missing or has another layout."""
    if not folder.is_dir():
        raise HearsightError("is not a folder", where=folder, hint="fix import_recordings.folder, or add the recordings")
    if layout == "release":
        return Released(folder)
    return FlickrAudio(folder) if layout == "facc" else Stamps()


class Stamps:
    """Recordings next to the images, named after image and language."""

    def recording(self, record: Mapping[str, Any]) -> Recording | str:
        """Return the recording of a record's caption, or why there is none; the caller tests whether the file exists."""
        scheme, _, path = record["image_url"].partition(":")
        if scheme != "file":
            return "the image is of no folder"
        stem, language = PurePosixPath(unquote(path)).with_suffix(""), record["language"]
        ending = "_desc" if language == "en" else f"_desc_{language}"
        return Recording(f"{stem}{ending}.ogg", f"human-{language}")


class FlickrAudio:
    """The recordings listed in ``wav2capt.txt``; of duplicates the first line counts."""

    def __init__(self, folder: Path) -> None:
        self._recordings: dict[str, str] = {}
        """``x.jpg#0`` → wav."""
        first_line: dict[str, int] = {}
        self._rejected: dict[str, str] = {}
        """Caption → why its recording is not used."""
        table = folder / "wav2capt.txt"
        for number, (wav, image, caption) in _lines(table, 3):
            caption_id = f"{image}#{caption.removeprefix('#')}"
            if "/" in wav or wav.startswith("."):
                self._rejected[caption_id] = f"'{wav[:80]}' in line {number} of {table.name} is no file's name"
            elif wav in first_line:
                self._rejected.setdefault(caption_id, f"{wav} is of another caption by line {first_line[wav]} of {table.name}")
            else:
                first_line[wav] = number
                self._recordings.setdefault(caption_id, wav)
        self._speakers = {wav: speaker for _, (wav, speaker) in _lines(folder / "wav2spk.txt", 2)}

    def recording(self, record: Mapping[str, Any]) -> Recording | str:
        """Return the recording of a record's caption, or why there is none; ``post`` names the caption (the crawl's layouts)."""
        caption_id = record["post"]
        if not caption_id:
            return "the record does not say which caption of its image it is"
        if (wav := self._recordings.get(caption_id)) is None:
            return self._rejected.get(caption_id, f"{caption_id} is not in wav2capt.txt")
        return Recording(f"wavs/{wav}", self._speakers.get(wav) or f"human-{record['language']}")


class Released:
    """The utterances that the manifests of a release list; of several of a caption the first counts, by manifest and row."""

    def __init__(self, folder: Path) -> None:
        self._recordings: dict[tuple[str, str], Recording] = {}
        """(image, caption) → recording."""
        manifests = sorted((folder / "manifests").glob("*.csv"))
        if not manifests:
            raise HearsightError("has no manifests/*.csv", where=folder, hint="set import_recordings.folder to speech/<corpus>")
        for path in manifests:
            for row in _manifest(path):
                member = PurePosixPath(row["file"])
                if member.parts != ("wavs", member.name) or member.name.startswith("."):
                    raise HearsightError(f"'{member}' is no file of wavs/", where=path, hint="use the published file")
                recording = Recording(str(member), row["voice"], "synthetic" if row.get("origin") == "synthetic" else "human")
                self._recordings.setdefault((row["image"], row["caption"]), recording)

    def recording(self, record: Mapping[str, Any]) -> Recording | str:
        """Return the recording of a record's caption, or why there is none."""
        scheme, _, path = record["image_url"].partition(":")
        image = unquote(path) if scheme == "file" else record["image_url"]
        return self._recordings.get((image, record["caption"])) or "no manifest has this caption of this image"


def _manifest(path: Path) -> Iterator[dict[str, str]]:
    """Yield the rows of a manifest that have all fields."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as handle:
            for row in csv.DictReader(handle, strict=True):
                if all(row.get(name) for name in ("image", "caption", "file", "voice")):
                    yield row
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise HearsightError(f"cannot be read ({error})", where=path, hint="use the published file") from None


MAX_BAD_LINES = 20
"""Lines after which a table without a valid line is rejected."""


def _lines(path: Path, fields: int) -> Iterator[tuple[int, list[str]]]:
    """Yield the lines of a white-space separated table with their numbers; invalid lines are counted and logged."""
    bad: list[int] = []
    good = 0
    try:
        with path.open(encoding="utf-8-sig", errors="replace") as handle:
            for number, line in enumerate(handle, 1):
                parts = line.split()
                if len(parts) == fields:
                    good += 1
                    yield number, parts
                elif parts:
                    bad.append(number)
                    if not good and len(bad) >= MAX_BAD_LINES:
                        break
    except OSError as error:
        raise HearsightError(
            f"cannot be read ({error.strerror})", where=path, hint="add the file: see docs/captions-to-speech.md"
        ) from None
    if bad and not good:
        raise HearsightError(f"has no line of {fields} fields", where=f"{path}: line {bad[0]}", hint="use the published file")
    if bad:
        text = "import_recordings: %s: %d lines do not have %d fields and are skipped, the first is line %d"
        log.warning(text, path, len(bad), fields, bad[0])
