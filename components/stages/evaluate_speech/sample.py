"""The sample: some utterances of each voice, and what became of them."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from components.metrics.spoken_words import spoken_words
from components.metrics.word_errors import EQUAL, Step, align, count_errors

if TYPE_CHECKING:
    import pyarrow as pa

COLUMNS = (
    "key", "record", "language", "spoken", "split", "origin", "voice", "rate", "pitch", "gain", "seconds",
    "seconds_per_character", "level", "peak", "clipped", "lead", "tail", "audio_sha256", "media",
)  # fmt: skip
"""What is read of an utterance."""
UNRECOGNISED = "unrecognised"
"""The verdict on an utterance that no recogniser was asked about."""


@dataclass
class Drawn:
    """One utterance of the sample."""

    values: Mapping[str, Any]
    """Its columns, as :data:`COLUMNS` names them."""
    verdict: str = UNRECOGNISED
    """``heard``, ``silent``, ``unreadable`` or ``unrecognised``."""
    heard: str = ""
    """As the recogniser wrote it."""
    recogniser: str = ""
    sound: str = ""
    picture: str = ""
    waveform: str = ""
    """Paths in the output, and an SVG path, of what the page shows of it; empty for nothing."""

    def __getattr__(self, name: str) -> Any:
        try:
            return self.__dict__["values"][name]
        except KeyError:
            raise AttributeError(name) from None

    def judge(self, answer: Mapping[str, str] | None) -> None:
        """Take what a recogniser answered; None when none was asked."""
        if answer is not None:
            self.verdict, self.heard, self.recogniser = answer["verdict"], answer["text"], answer["recogniser"]

    @property
    def judged(self) -> bool:
        """Whether it counts in an error rate: it does, with every word wrong, where nothing could be heard."""
        return self.verdict != UNRECOGNISED

    @property
    def said_words(self) -> list[str]:
        """What should have been heard, as words to compare."""
        return spoken_words(self.spoken, self.language)

    @property
    def heard_words(self) -> list[str]:
        """What was heard, as words to compare."""
        return spoken_words(self.heard, self.language)

    @property
    def steps(self) -> list[Step]:
        """The alignment of the two."""
        return align(self.said_words, self.heard_words)

    def row(self) -> dict[str, Any]:
        """The HEARD record."""
        said, heard = self.said_words, self.heard_words
        letters = " ".join(said)
        told = {name: self.values[name] for name in ("key", "record", "language", "split", "origin", "voice", "spoken")}
        return {
            **told, "recogniser": self.recogniser, "verdict": self.verdict, "heard": self.heard,
            "words": len(said), "word_errors": sum(step.kind != EQUAL for step in self.steps) if self.judged else None,
            "characters": len(letters), "character_errors": count_errors(letters, " ".join(heard)) if self.judged else None,
            "seconds": self.seconds, "audio_sha256": self.audio_sha256,
        }  # fmt: skip


def draw_sample(table: pa.Table, seed: int, per_voice: int, min_words: int) -> list[Drawn]:
    """Up to ``per_voice`` utterances of each (origin, voice), those with the smallest digests of seed, voice and key.

    Utterances of fewer than ``min_words`` words are drawn only where a voice has not enough others: a recogniser guesses at one
    or two words said alone, whoever says them. An utterance more moves one other at most, and another order of the records none.
    Sorted by origin, voice, and as drawn.
    """
    import heapq

    import pyarrow as pa

    ranks: dict[tuple[str, str], list[tuple[bool, str, int]]] = {}
    columns = (table.column(name).to_pylist() for name in ("origin", "voice", "key", "spoken"))
    for place, (origin, voice, key, spoken) in enumerate(zip(*columns, strict=True)):
        rank = hashlib.sha256(f"{seed}\x1f{origin}\x1f{voice}\x1f{key}".encode()).hexdigest()
        ranks.setdefault((origin, voice), []).append((len(spoken.split()) < min_words, rank, place))
    places = [place for voice in sorted(ranks) for *_, place in heapq.nsmallest(per_voice, ranks[voice])]
    return [Drawn(values) for values in table.take(pa.array(places, pa.int64())).to_pylist()]
