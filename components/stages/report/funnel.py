"""The funnel by the paper's steps (CC §3): records entering and leaving each step, and the rates that the paper reports.

A stage's ledger counts drops by rule; a step sums its rules. The steps are in the order of this project, which differs in one
place: pornography, one of the paper's image rules, follows the text rules here, since it must decode the picture. Two of the
paper's shares of all candidates are products of its rates.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """One step of the paper's funnel."""

    name: str
    stage: str
    title: str
    rules: frozenset[str] | None
    """The rules of this step; None for all rules that no other step of its stage names."""
    paper: float | None
    """The paper's pass rate, 0 to 1, or None."""
    paper_says: str
    """The same as the paper states it."""
    paper_left: float | None = None
    """The paper's share of all candidates left after the step."""
    paper_left_says: str = ""


STEPS = (
    Step(
        "image",
        "filter",
        "image rules",
        frozenset({"image_format", "image_side", "aspect_ratio"}),
        0.35,
        "< 35 %",
        0.35,
        "< 35 %",
    ),
    Step("text", "filter", "text rules", None, 0.03, "≈ 3 %"),
    Step("pornography", "filter", "pornography", frozenset({"pornography"}), None, "in the image rules"),
    Step("labels", "filter", "label overlap", frozenset({"label_overlap"}), 0.40, "≈ 40 %", 0.002, "0.2 %"),
    Step("rewriting", "hypernymize", "rewriting", None, 0.80, "≈ 80 %", 0.0016, "≈ 0.16 %"),
    Step("concepts", "hypernymize", "common concepts", frozenset({"rare_concept"}), 0.55, "≈ 55 %", 0.00088, "≈ 0.09 %"),
)
"""The steps in the order of this project."""


@dataclass(frozen=True)
class Passed:
    """Counts of one step for one dataset."""

    step: Step
    entered: int
    left: int

    @property
    def share(self) -> float:
        """Share of the entering records that are kept."""
        return self.left / self.entered if self.entered else 0.0


def passed_by(stage: str, entered: int, dropped: Mapping[str, int]) -> list[Passed]:
    """Return the counts of a stage's steps, from the entering records and the drops by rule."""
    stage_steps = [step for step in STEPS if step.stage == stage]
    named = {rule for step in stage_steps for rule in step.rules or ()}
    passed = []
    for step in stage_steps:
        dropped_here = sum(count for rule, count in dropped.items() if (rule in step.rules if step.rules else rule not in named))
        passed.append(Passed(step, entered, entered - dropped_here))
        entered -= dropped_here
    return passed
