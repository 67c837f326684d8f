"""One remark on an alt-text."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

Kind = Literal["rule", "guideline", "unchecked"]


class Remark(NamedTuple):
    """What a check says about a text, in the language of the interface."""

    kind: Kind
    """A filter rule, a guideline for descriptions, or something that is not checked."""
    name: str
    passed: bool | None
    """None for what is not checked."""
    text: str
    """The requirement in plain words; of a guideline that is missed, what is missing."""
    detail: str
    """What was measured and what is allowed, or the words that were found; may be empty."""
    source: str
    """Where the requirement is from."""

    def plain(self) -> dict[str, Any]:
        """Return the remark as JSON values."""
        return self._asdict()
