"""The sample of utterances of each voice, with their transcripts."""

from __future__ import annotations

import hashlib
import heapq
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pyarrow as pa

from components.metrics.word_errors import EQUAL, Step, align, count_errors, spoken_words

COLUMNS = (
    "key", "record", "language", "spoken", "split", "origin", "voice", "rate", "pitch", "gain", "seconds",
    "seconds_per_character", "level", "peak", "clipped", "lead", "tail", "audio_sha256", "media",
)  # fmt: skip
UNRECOGNISED = "unrecognised"
"""Verdict of an utterance that was not transcribed."""


@dataclass
class Drawn:
    """An utterance of the sample."""

    values: Mapping[str, Any]
    """Its columns, see :data:`COLUMNS`."""
    verdict: str = UNRECOGNISED
    """``heard``, ``silent``, ``unreadable`` or ``unrecognised``."""
    heard: str = ""
    recogniser: str = ""
    sound: str = ""
    """Path of its audio in the output; empty if it is not played on the page."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["values"][name]
        except KeyError:
            raise AttributeError(name) from None

    def judge(self, answer: Mapping[str, str] | None) -> None:
        """Store a recogniser's answer; None if it was not transcribed."""
        if answer is not None:
            self.verdict, self.heard, self.recogniser = answer["verdict"], answer["text"], answer["recogniser"]

    @property
    def judged(self) -> bool:
        """Whether it counts in the error rates; a silent recording counts with every word wrong."""
        return self.verdict != UNRECOGNISED

    @property
    def said_words(self) -> list[str]:
        """The words spoken, normalised for comparison."""
        return spoken_words(self.spoken, self.language)

    @property
    def heard_words(self) -> list[str]:
        """The words transcribed, normalised for comparison."""
        return spoken_words(self.heard, self.language)

    @property
    def steps(self) -> list[Step]:
        """The alignment of spoken and transcribed words."""
        return align(self.said_words, self.heard_words)

    def row(self) -> dict[str, Any]:
        """Return the RECOGNITION record."""
        said, heard = self.said_words, self.heard_words
        letters = " ".join(said)
        columns = {name: self.values[name] for name in ("key", "record", "language", "split", "origin", "voice", "spoken")}
        return {
            **columns, "recogniser": self.recogniser, "verdict": self.verdict, "heard": self.heard,
            "words": len(said), "word_errors": sum(step.kind != EQUAL for step in self.steps) if self.judged else None,
            "characters": len(letters), "character_errors": count_errors(letters, " ".join(heard)) if self.judged else None,
            "seconds": self.seconds, "audio_sha256": self.audio_sha256,
        }  # fmt: skip


def draw_sample(table: pa.Table, seed: int, per_voice: int, min_words: int) -> list[Drawn]:
    """Draw up to ``per_voice`` utterances of each (origin, voice): those with the smallest digests of seed, voice and key.

    Utterances of fewer than ``min_words`` words are drawn only if a voice has too few others, since recognisers guess at single
    words. A further utterance replaces at most one other; the order of records has no effect. The result is sorted by origin,
    voice, and draw.
    """
    ranks: dict[tuple[str, str], list[tuple[bool, str, int]]] = {}
    columns = (table.column(name).to_pylist() for name in ("origin", "voice", "key", "spoken"))
    for row, (origin, voice, key, spoken) in enumerate(zip(*columns, strict=True)):
        rank = hashlib.sha256(f"{seed}\x1f{origin}\x1f{voice}\x1f{key}".encode()).hexdigest()
        ranks.setdefault((origin, voice), []).append((len(spoken.split()) < min_words, rank, row))
    rows = [row for voice in sorted(ranks) for *_, row in heapq.nsmallest(per_voice, ranks[voice])]
    return [Drawn(values) for values in table.take(pa.array(rows, pa.int64())).to_pylist()]
