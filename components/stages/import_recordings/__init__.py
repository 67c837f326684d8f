"""import_recordings: captions as people read them aloud, from a corpus of recordings (Harwath and Glass 2015).

Input: SPLIT records of a set with recorded captions, and the folder of the recordings. Output: UTTERANCE records of origin
``human`` (of a release: the one it states) with 16 kHz mono FLAC in the media shards, one a record. A record without a usable
recording is a ledger row, and equal audio is in one split only. Not in scope: whether the spoken words match the caption
(``evaluate_speech``).

The joined shards carry the digests of the recordings, so a changed recording recomputes its own shard only.
"""

from __future__ import annotations

from typing import Literal

from components.core.errors import HearsightError
from components.core.params import Settings

BOUNDS = ("min_seconds", "max_seconds", "min_seconds_per_character")


class Params(Settings):
    """Settings of import_recordings: the corpus, and which recordings are usable."""

    layout: Literal["facc", "stamps", "release"] = "facc"
    """facc: the Flickr Audio Caption Corpus; stamps: those of Tux Paint; release: a spoken corpus of `hearsight release`. CSC
    §2.3: the Flickr Audio Caption Corpus."""
    folder: str = ""
    """Folder of the recordings, relative to the project; required."""
    trim: bool = True
    """Whether silence at the ends is cut as for synthetic speech. Ours."""
    min_seconds: float = 0.2
    """s; shorter recordings are dropped. Ours."""
    max_seconds: float = 20.0
    """s; longer recordings are dropped. Ours."""
    min_seconds_per_character: float = 0.02
    """s; faster recordings belong to another text and are dropped; 0 drops none. Ours."""

    def check(self, where: str) -> None:
        """Require a folder, and bounds that leave recordings."""
        if not self.folder:
            raise HearsightError("is empty", where=f"{where}.folder", hint="name the folder of the recordings")
        if not 0 <= self.min_seconds < self.max_seconds:
            raise HearsightError(
                f"min_seconds {self.min_seconds} and max_seconds {self.max_seconds} leave no recording",
                where=where,
                hint="set min_seconds to 0 or more, and max_seconds above it",
            )
