"""The facts of a release of any kind, which its card, its metadata and its list of differences report."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from components.tools.release.inputs import ReleaseInputs
from components.tools.release.speech import Corpus

REQUIRED = ("licence", "creators", "url", "published")
"""What publishers state and Croissant 1.0 requires."""


@dataclass(frozen=True)
class Facts:
    """What a release holds and who publishes it."""

    inputs: ReleaseInputs
    publisher: Mapping[str, str]
    """The publishers' statements by field (``sheet.Publisher``); empty where there is none."""
    examples: Mapping[str, int]
    """Split → number of records."""
    languages: Counter[str]
    """ISO 639-1 → number of records; '' where none is stated."""
    left_out: Mapping[str, str]
    """Key → the reason for which a record of the split is left out."""
    image: str
    """What ``image`` of a record is: a web address, or a file name."""
    corpora: Mapping[str, Corpus] = field(default_factory=dict)

    @property
    def dataset(self) -> str:
        """The dataset's name."""
        return self.inputs.dataset

    @property
    def total(self) -> int:
        """Number of records."""
        return sum(self.examples.values())

    def stated(self, name: str) -> str:
        """Return a statement of the publishers on one line."""
        return " ".join(self.publisher[name].split())

    def not_stated(self) -> list[str]:
        """Return the required statements that are missing."""
        return [name for name in REQUIRED if not self.stated(name)]

    def plain(self) -> dict[str, Any]:
        """Return the counts of the speech as a flat mapping; nothing without speech."""
        if not self.corpora:
            return {}
        left_out = sum((corpus.left_out for corpus in self.corpora.values()), Counter[str]())
        return {
            "utterances": sum(corpus.utterances for corpus in self.corpora.values()),
            "hours": round(sum(corpus.hours for corpus in self.corpora.values()), 3),
            "speakers": len({name for corpus in self.corpora.values() for name in corpus.speakers}),
            **({"utterances_left_out": dict(sorted(left_out.items()))} if left_out else {}),
        }
