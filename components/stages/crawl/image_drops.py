"""Drop images for their answers, for what decoding found, and for what their files state about their use."""

from __future__ import annotations

from components.core.ledger import dropped
from components.web.answers import Answers, Outcome
from components.web.budget import Budget
from components.web.consent.statements import Statement
from components.web.image_precheck import WHOLE, check_size
from components.web.images.image import DecodeResult
from components.web.settings import FetchSettings
from components.web.takedown_list import RULE


def drop_row(
    key: str, location: str, outcome: Outcome, result: DecodeResult | None, settings: FetchSettings, answers: Answers
) -> dict[str, str] | None:
    """Return the row that drops an image for its answer, its decode result or what its file states; None for a usable image.

    Args:
        key: of the candidate.
        location: where it stands, as :func:`describe_location` says it.
        result: None where there is no answer to decode, or one that is too large.
    """

    def drop(rule: str, value: str, threshold: object, detail: str = "") -> dict[str, str]:
        return dropped(key, rule, value, threshold, detail=detail or location)

    max_bytes = f"{settings.max_image_bytes} bytes"
    if outcome.rule:
        # An image that a page linked to was requested as a page.
        rule = {"too_large": "image_too_large"}.get(outcome.rule, outcome.rule)
        usual = {"image_too_large": max_bytes, "missing_file": "a file in the folder of the images"}
        threshold = outcome.threshold or usual.get(rule, "an answer")
        return drop(rule, outcome.value, threshold, outcome.detail if rule == RULE else "")
    assert outcome.entry is not None
    if outcome.entry.bytes > settings.max_image_bytes:
        return drop("image_too_large", f"{outcome.entry.bytes} bytes", max_bytes)
    assert result is not None
    # Repeats the size check of the fetcher: the snapshot may have looser limits, or the header was unreadable in time.
    # Precedence: too large to decode, then the decode failure, then the other size limits.
    size_row = check_size(result.width, result.height, settings)
    if result.reason and (size_row is None or size_row.rule != "image_too_large"):
        over_budget = result.reason == "image_over_budget"
        return drop(result.reason, result.detail, _budget_text(settings.budget, result.detail) if over_budget else WHOLE)
    if size_row is None and (refusal := answers.refuse([Statement(*each) for each in result.statements], outcome.final)):
        return drop(*refusal, "not said")
    return drop(size_row.rule, size_row.value, size_row.threshold) if size_row else None


def _budget_text(budget: Budget, resource: str) -> str:
    seconds, memory = f"{budget.image_seconds:g} s", f"{budget.image_memory} bytes"
    return {"cpu": seconds, "memory": memory}.get(resource, f"{seconds} and {memory}")
