"""The margin δ of the masked margin softmax over training (CSC §3 and §4.1)."""

from __future__ import annotations

from typing import Literal

Schedule = Literal["continuous", "stepwise"]


def margin_at(
    step: int, *, start: float = 0.001, factor: float = 1.002, every: int = 1000, schedule: Schedule = "continuous"
) -> float:
    """Return δ after ``step`` optimiser steps: ``start · factor^(step / every)``, or with ⌊step / every⌋.

    A function of the step alone, so a resumed run continues with the same margins: .00122 at 100,000 steps, .0074 at a million,
    .401 at the paper's three million.

    The paper: "initially set to δ = .001 exponentially and increased by a factor of 1.002 every 1000 steps", in the same words as
    its learning rate decay. It does not state whether δ jumps. TensorFlow's ``exponential_decay`` is continuous by default, and
    "gradually increased" (§3) fits that, so ``continuous`` is the default. Training scripts of TF-slim, whose network the paper
    trains, pass ``staircase=True`` for the learning rate: ``stepwise``. Both are equal at every 1000th step and differ by .2 % at
    most.

    Raises:
        ValueError: ``step`` is negative, ``every`` is below 1, the schedule is unknown, or the margin overflows.
    """
    if step < 0 or every < 1:
        raise ValueError(f"no margin at step {step} with a change every {every} steps: they must be at least 0 and 1")
    if schedule not in ("continuous", "stepwise"):
        raise ValueError(f"'{schedule}' is not a margin schedule; choose continuous or stepwise")
    power = step // every if schedule == "stepwise" else step / every
    try:
        return float(start * factor**power)
    except OverflowError:
        raise ValueError(f"the margin at step {step} ({start} · {factor}^{power:g}) is too large to be a number") from None
