"""The funnel by the paper's own steps: what entered each, what left it, and the share the paper reports.

Conceptual Captions section 3. A stage's ledger counts drops by rule; the rules of a step are added. The steps stand in the order
they are asked here, which differs in one place: pornography is one of the paper's image rules, and asked after the text rules
here because it must look at the picture. What the paper reports of all candidates is a second column; two of those are
products of its own rates.
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
    """The rules whose drops are this step's; None for whatever no other step of its stage names."""
    paper: float | None
    """The share the paper lets pass, 0 to 1; None where it reports none."""
    paper_says: str
    """The same in its words."""
    paper_left: float | None = None
    """The share of all candidates that the paper has left after it."""
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
"""In the order they are asked here."""


@dataclass(frozen=True)
class Passed:
    """What one step let pass for one dataset."""

    step: Step
    entered: int
    left: int

    @property
    def share(self) -> float:
        """The share of what entered that is left."""
        return self.left / self.entered if self.entered else 0.0


def passed_by(stage: str, entered: int, dropped: Mapping[str, int]) -> list[Passed]:
    """The steps of one stage, from how many entered it and what each rule dropped; none for a stage without such steps."""
    own = [step for step in STEPS if step.stage == stage]
    named = {rule for step in own for rule in step.rules or ()}
    found = []
    for step in own:
        gone = sum(count for rule, count in dropped.items() if (rule in step.rules if step.rules else rule not in named))
        found.append(Passed(step, entered, entered - gone))
        entered -= gone
    return found
