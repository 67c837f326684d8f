"""What the pipeline makes of each case, held to what the case says."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from components.tools.trial import Trial

FOLDER = Path(__file__).parent
HALVES = ("seen", "unseen", "third", "fourth", "fifth")


@dataclass(frozen=True)
class Judgement:
    """One case and what became of it."""

    case: dict[str, Any]
    result: dict[str, Any]

    @property
    def verdict_right(self) -> bool:
        """Kept where it should be kept, dropped where it should be dropped."""
        return bool(self.result["verdict"] == self.case["verdict"])

    @property
    def rule_right(self) -> bool:
        """Dropped by a rule the case names."""
        return self.case["verdict"] == "dropped" == self.result["verdict"] and self.result["rule"] in self.case.get("rules", ())

    @property
    def acceptable(self) -> bool:
        """Kept with one of the captions the case accepts."""
        return self.result["caption"] is not None and plain(self.result["caption"]) in map(plain, self.case.get("captions", ()))

    @property
    def leaks(self) -> list[str]:
        """Names, dates and numbers of the alt-text, by the case's own annotation, that are still in the caption."""
        words = f" {plain(self.result['caption'] or '')} "
        return [name for name in self.case.get("private", ()) if f" {plain(name)} " in words]


def plain(text: str) -> str:
    """A text as captions are compared: lower case, words alone."""
    return " ".join(re.findall(r"[^\W_]+(?:['’][^\W_]+)*", text.lower())).replace("’", "'")


def cases(half: str) -> list[dict[str, Any]]:
    """The cases of one half."""
    return [json.loads(line) for line in (FOLDER / f"{half}.jsonl").read_text(encoding="utf-8").splitlines()]


def judge(trial: Trial, half: str) -> list[Judgement]:
    """Every case of one half, judged."""
    results = cases(half)
    return [Judgement(case, result) for case, result in zip(results, trial.of(case["alt"] for case in results), strict=True)]


def shares(judged: Iterable[Judgement]) -> dict[str, tuple[int, int]]:
    """By measure: how many are right, of how many."""
    judged = list(judged)
    right_to_keep = [each for each in judged if each.case["verdict"] == "kept"]
    to_drop = [each for each in judged if each.case["verdict"] == "dropped"]
    kept = [each for each in judged if each.result["verdict"] == "kept"]
    return {
        "verdict as expected": (sum(each.verdict_right for each in judged), len(judged)),
        "caption acceptable, of those to be kept": (sum(each.acceptable for each in right_to_keep), len(right_to_keep)),
        "caption acceptable, of those rightly kept": (
            sum(each.acceptable for each in right_to_keep if each.verdict_right),
            sum(each.verdict_right for each in right_to_keep),
        ),
        "dropped by an expected rule, of those to be dropped": (sum(each.rule_right for each in to_drop), len(to_drop)),
        "captions without a name, date or number": (sum(not each.leaks for each in kept), len(kept)),
    }
