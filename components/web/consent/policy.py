"""Decide by statements whether an item may be used. The stricter counts: one refusal of a use outweighs any permission of it."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from components.web.consent.readings import ReadDocument, read_statement
from components.web.consent.statements import C2PA, PLUS, Statement
from components.web.consent.uses import SEARCH, USES

RULES = (
    "noai", "noimageai", "noindex", "noimageindex", "tdm_reserved", "content_usage", "content_signal", "rsl", "data_mining",
    "training_mining", "no_consent",
)  # fmt: skip
"""Every rule of the consent policy except those of robots.txt; of several that refuse, the first one here is reported."""
_IN_FILES = (PLUS, C2PA)
"""Signals inside files: copies carry them, so that they refuse but do not speak for the host that serves the copy."""


def _without_documents(_: str) -> None:
    return None


@dataclass(frozen=True)
class Policy:
    """Whom statements address, and for which uses they are read."""

    agent: str = "hearsight"
    """Our product token."""
    uses: frozenset[str] = frozenset(USES) - {"input"}
    """Uses of which a refusal counts."""
    opt_in: bool = False
    """Whether an item needs consent; otherwise the absence of a refusal suffices."""
    hosts: frozenset[str] = frozenset()
    """Hosts that gave consent by other means."""
    tdmrep: bool = False
    """Whether each host's tdmrep.json is requested."""

    def find_refusal(
        self, statements: Iterable[Statement], url: str = "", document: ReadDocument = _without_documents
    ) -> tuple[str, str] | None:
        """Return (rule, statement) of the strongest refusal of a use, or None.

        Args:
            url: the address that the statements are about.
            document: reads a stored licence by its address.
        """
        refusals = [
            (RULES.index(reading.rule), reading.shown)
            for statement in statements
            for reading in read_statement(statement, url, self.agent, document)
            if reading.no & self.uses
        ]
        if not refusals:
            return None
        rule, shown = min(refusals, key=lambda refusal: refusal[0])
        return RULES[rule], shown

    def gives_consent(
        self, statements: Collection[Statement], url: str = "", document: ReadDocument = _without_documents
    ) -> bool:
        """Return whether a statement gives consent to the uses: an explicit permission, for robots directives to us by name.

        ``index, follow`` for all robots does not count: sites address search engines with it.
        """
        needed = self.uses - SEARCH or self.uses
        return any(
            needed <= reading.yes
            for statement in statements
            if statement.signal not in _IN_FILES
            for reading in read_statement(statement, url, self.agent, document)
        )
