"""Corpora of captions read aloud: which recording is of which caption, and who speaks.

Flickr Audio Caption Corpus (Harwath and Glass 2015), as published: ``wav2capt.txt`` (``x.wav x.jpg #0``), ``wav2spk.txt``
(``x.wav 12``), ``wavs/``. Tux Paint's stamps: ``apple.png`` is spoken in ``apple_desc_fr.ogg``, in English ``apple_desc.ogg``, by
people who are not named. Not in scope: reading sound (``hearing``).
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Any, Protocol
from urllib.parse import unquote

from components.core.errors import HearsightError

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Recording:
    """One recording of a caption."""

    name: str
    """Below the corpus' folder."""
    speaker: str


class Corpus(Protocol):
    """One published way to lay out recordings."""

    def recording(self, record: Mapping[str, Any]) -> Recording | str:
        """That of a record's caption, or why there is none."""


NEEDS = ("image_url", "language", "post")
"""What a corpus looks at in a record."""


def corpus_of(layout: str, folder: Path) -> Corpus:
    """The corpus in a folder; raises HearsightError when it is not there or not of that layout."""
    if not folder.is_dir():
        raise HearsightError("is no folder", where=folder, hint="fix narrate.folder, or bring the recordings")
    return FlickrAudio(folder) if layout == "facc" else Stamps()


class Stamps:
    """Recordings beside the pictures, named after them and the language."""

    def recording(self, record: Mapping[str, Any]) -> Recording | str:
        """See :class:`Corpus`; that the file is there is for others to see."""
        scheme, _, path = record["image_url"].partition(":")
        if scheme != "file":
            return "the picture is of no folder"
        stem, language = PurePosixPath(unquote(path)).with_suffix(""), record["language"]
        ending = "_desc" if language == "en" else f"_desc_{language}"
        return Recording(f"{stem}{ending}.ogg", f"human-{language}")


class FlickrAudio:
    """The recordings that ``wav2capt.txt`` lists; where one is listed twice, or a caption has several, the first line counts."""

    def __init__(self, folder: Path) -> None:
        self._of: dict[str, str] = {}
        """``x.jpg#0`` → wav."""
        taken: dict[str, int] = {}
        self._twice: dict[str, str] = {}
        """Caption → why its recording does not count."""
        table = folder / "wav2capt.txt"
        for number, (wav, image, caption) in _lines(table, 3):
            spoken = f"{image}#{caption.removeprefix('#')}"
            if "/" in wav or wav.startswith("."):
                self._twice[spoken] = f"'{wav[:80]}' in line {number} of {table.name} is no file's name"
            elif wav in taken:
                self._twice.setdefault(spoken, f"{wav} is of another caption by line {taken[wav]} of {table.name}")
            else:
                taken[wav] = number
                self._of.setdefault(spoken, wav)
        self._speakers = {wav: speaker for _, (wav, speaker) in _lines(folder / "wav2spk.txt", 2)}

    def recording(self, record: Mapping[str, Any]) -> Recording | str:
        """See :class:`Corpus`; records name their captions in ``post``, as the crawl's layouts of Flickr do."""
        spoken = record["post"]
        if not spoken:
            return "the record does not say which caption of its picture it is"
        if (wav := self._of.get(spoken)) is None:
            return self._twice.get(spoken, f"{spoken} is not in wav2capt.txt")
        return Recording(f"wavs/{wav}", self._speakers.get(wav) or f"human-{record['language']}")


LOOKED_AT = 20
"""Lines a table is known by: when none of them fits, it is another file."""


def _lines(path: Path, fields: int) -> Iterator[tuple[int, list[str]]]:
    """Lines of a table by white space, with their numbers; those that do not fit are counted and told."""
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
                    if not good and len(bad) >= LOOKED_AT:
                        break
    except OSError as error:
        raise HearsightError(
            f"cannot be read ({error.strerror})", where=path, hint="bring the file: see docs/captions-to-speech.md"
        ) from None
    if bad and not good:
        raise HearsightError(
            f"is no table of {fields} fields a line", where=f"{path}: line {bad[0]}", hint="bring the published file"
        )
    if bad:
        log.warning(
            "narrate: %s: %d lines do not have %d fields and were left out, line %d first", path, len(bad), fields, bad[0]
        )
