"""The verdicts of raters, and what a rater is called in files.

CC §5.4.1: raters "assign a GOOD or BAD label to a given ⟨image, caption⟩ input, using just common-sense judgment".
"""

from __future__ import annotations

GOOD, BAD = "GOOD", "BAD"
SPELLINGS = {GOOD: ("good", "1", "true", "yes"), BAD: ("bad", "0", "false", "no")}
"""Verdict → how files spell it, in lower case."""
SOURCES = ("hearsight", "label_studio", "argilla", "csv")
"""The tools that a rating can come from."""
PSEUDONYM = r"^[^\s@]{1,64}$"
"""The identifier of a rater: no space and no @, so neither a full name nor an address of e-mail."""
_VERDICTS = {spelling: verdict for verdict, spellings in SPELLINGS.items() for spelling in spellings}


def read_verdict(value: object) -> str:
    """Return GOOD or BAD for a verdict as files spell it (text, number or boolean); an empty string for anything else."""
    return _VERDICTS.get(str(value).strip().lower(), "")
