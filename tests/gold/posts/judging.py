"""What ``describe`` makes of each caption, held to what the case says, letter by letter."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.tools.trial import PostTrial

FOLDER = Path(__file__).parent
FILES = sorted(path.stem for path in FOLDER.glob("*.jsonl"))


@dataclass(frozen=True)
class Judgement:
    """One case and what became of it."""

    case: dict[str, Any]
    result: dict[str, Any]

    @property
    def exact(self) -> bool:
        """Whether the description is the case's, to the letter; None for a malformed caption."""
        return bool(self.result["description"] == self.case["description"])


def cases(name: str) -> list[dict[str, Any]]:
    """The cases of one file: ``caption``, ``description`` (None for malformed), ``note``."""
    return [json.loads(line) for line in (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").split("\n") if line]


def judge(trial: PostTrial, name: str) -> list[Judgement]:
    """Every case of one file, judged."""
    return [Judgement(case, trial.of(case["caption"])) for case in cases(name)]
