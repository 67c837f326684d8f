"""The margin δ of the masked margin softmax over training (CSC, sections 3 and 4.1)."""

from __future__ import annotations

from typing import Literal

Schedule = Literal["continuous", "stepwise"]


def margin_at(
    step: int, *, start: float = 0.001, factor: float = 1.002, every: int = 1000, schedule: Schedule = "continuous"
) -> float:
    """δ after ``step`` optimiser steps: ``start · factor^(step / every)``, or with ⌊step / every⌋.

    A function of the step alone, so a resumed run goes on with the very same margins. .00122 at 100,000 steps, .0074 at a
    million, .401 at the paper's three millions.

    The paper: "initially set to δ = .001 exponentially and increased by a factor of 1.002 every 1000 steps", in the words in
    which it tells the learning rate's decay. It does not say whether δ jumps. TensorFlow's ``exponential_decay`` is continuous
    unless it is told ``staircase=True``; "gradually increased" (section 3) fits that too, so ``continuous`` is the default.
    Training scripts of TF-slim, whose network the paper trains, pass ``staircase=True`` for their learning rate: ``stepwise``.
    The two are equal at every 1000th step and never more than .2 % apart.

    Raises:
        ValueError: a negative step, ``every`` under 1, an unknown schedule, or a margin too large to be a number.
    """
    if step < 0 or every < 1:
        raise ValueError(f"no margin at step {step} with a change every {every} steps: needs 0 or more, and 1 or more")
    if schedule not in ("continuous", "stepwise"):
        raise ValueError(f"'{schedule}' is no margin schedule; there are continuous and stepwise")
    power = step // every if schedule == "stepwise" else step / every
    try:
        return float(start * factor**power)
    except OverflowError:
        raise ValueError(f"the margin at step {step} ({start} · {factor}^{power:g}) is too large to be a number") from None
