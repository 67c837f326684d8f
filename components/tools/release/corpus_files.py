"""Write the files of a spoken corpus: tar shards of audio for each split, and the lists of the Flickr Audio Caption Corpus."""

from __future__ import annotations

import re
import tarfile
from contextlib import ExitStack
from pathlib import Path
from typing import IO

from components.core.shards import add_member

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
