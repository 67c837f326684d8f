"""What one statement refuses or allows, by use. A value that its signal does not define is a refusal.

Sources: ``X-Robots-Tag`` and meta robots (``noindex``, ``none``, ``noimageindex``; ``noai``, ``noimageai``, ``noml``), the TDM
Reservation Protocol (W3C Community Group, 2024), aipref (draft-ietf-aipref-vocab-08 and -attach-05, with the labels of earlier
drafts), Cloudflare's content signals (2025), RSL 1.0, PLUS's Data Mining (IPTC Photo Metadata 2023.1), and "training and data
mining" of C2PA 1.4 and CAWG 1.0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from components.web.consent.rsl import read_licence
from components.web.consent.statements import (
    C2PA,
    PLUS,
    ROBOTS,
    RSL,
    SIGNAL,
    TDMREP,
    USAGE,
    Statement,
    read_directives,
    split_values,
)
from components.web.consent.uses import AI, ALL, GENERATE, INPUT, KEYS, NONE, SEARCH, TRAIN, TRAINING, Uses, names_training

ReadDocument = Callable[[str], str | None]
"""Address → the text of a stored document; None where it cannot be had."""
_WORDS = {
    "noai": ("noai", AI),
    "noml": ("noai", AI),
    "noimageai": ("noimageai", AI),
    "noindex": ("noindex", SEARCH),
    "none": ("noindex", SEARCH),
    "noimageindex": ("noimageindex", SEARCH),
}
_AGREES = ("all", "index", "ai")
_PLUS: dict[str, tuple[Uses, Uses]] = {
    "dmi-unspecified": (NONE, NONE),
    "dmi-allowed": (NONE, ALL),
    "dmi-prohibited-aimltraining": (TRAINING, NONE),
    "dmi-prohibited-genaimltraining": (GENERATE, NONE),
    "dmi-prohibited-exceptsearchengineindexing": (AI, NONE),
}
"""Other values, all of them prohibitions or unknown, refuse all uses."""
_C2PA = {"data-mining": TRAINING, "ai-inference": INPUT, "ai-training": TRAIN, "ai-generative-training": GENERATE}
_LEVELS = {"full": NONE, "reference": TRAINING}
"""Content signals: the most that ``use`` permits; the least, immediate, and an unknown value refuse all."""
_MEMBERS, _SIGNS = re.compile(r'(?:[^,"]|"[^"]*"?)+'), re.compile(r'(?:[^,;"]|"[^"]*"?)+')
"""What separates preferences: a comma in aipref, where parameters follow a semicolon; in content signals either."""
_ITEM = r"""(?:"[^"]*"|:[\w+/=]*:|[^\s;="'|&]*)"""
_PIECE = re.compile(rf"([\w*.-]+)\s*(?:[=:]\s*({_ITEM}))?\s*((?:;\s*[\w*.-]+\s*(?:=\s*{_ITEM})?\s*)*);?", re.S)
_PARAMETER = re.compile(r";\s*([\w*.-]+)")


class Reading(NamedTuple):
    """What a statement, or one directive of it, says."""

    rule: str
    """The rule that drops an item with it."""
    no: Uses
    yes: Uses
    shown: str
    """The statement as ledgers show it."""


def read_statement(statement: Statement, url: str, agent: str, document: ReadDocument) -> Iterator[Reading]:
    """Yield what a statement about ``url`` says to ``agent``; ``document`` reads licences that are named by address."""
    signal, text = statement.signal, statement.text
    if signal == ROBOTS:
        for word, named in read_directives(statement, agent):
            rule, no = _WORDS.get(re.sub("[-_]", "", word), ("noindex", NONE))
            yield Reading(rule, no, ALL if named and word in _AGREES else NONE, f"{statement.place}: {word}")
    elif signal == TDMREP:
        for value in split_values(text):
            no, yes = (NONE, ALL) if value == "0" else (ALL, NONE)
            yield Reading("tdm_reserved", no, yes, f"{statement.place}: {value[:80]}")
    elif signal == RSL:
        content = text if text.lstrip()[:1] == "<" else document(text)
        no, yes = read_licence(content, url)
        yield Reading("rsl", no, yes, f"{statement.place}: {'licence' if content is text else text[:200]}")
    else:
        rule, (no, yes) = _OTHERS[signal](text)
        yield Reading(rule, no, yes, f"{statement.place}: {' '.join(text.split())[:200]}")


def _read_preferences(text: str, agrees: str, pieces: re.Pattern[str]) -> tuple[Uses, Uses]:
    """Read ``key=value`` pieces; several values of a key count, and any that is not ``agrees`` refuses.

    A piece that is none, or may hide a second one, refuses all uses.
    """
    no, yes = NONE, NONE
    for piece in filter(None, map(str.strip, pieces.findall(" ".join(text.split())))):
        found = _PIECE.fullmatch(piece)
        if found is None:
            return ALL, NONE
        key, *parameters = (name.lower().replace("_", "-") for name in (found[1], *_PARAMETER.findall(found[3])))
        value, uses = (found[2] or "").lower(), KEYS.get(key, NONE)
        if (found[2] is None and not uses) or any(name in KEYS or names_training(name) for name in parameters):
            return ALL, NONE
        if key == "use" and pieces is _SIGNS:
            no |= _LEVELS.get(value, ALL)
        elif value == agrees:
            yes |= KEYS.get(found[1], NONE)  # only as defined: the labels of aipref are case sensitive
        else:
            no |= uses or (TRAINING if names_training(key) else NONE)
    return no, yes - no


def _read_mining(text: str) -> tuple[Uses, Uses]:
    """Read the entries of a "training and data mining" assertion; ``constrained`` is as ``notAllowed`` (CAWG 1.0, 3.1)."""
    try:
        entries: Any = json.loads(text)
    except (ValueError, RecursionError):
        return ALL, NONE
    if not isinstance(entries, dict):
        return ALL, NONE
    no, yes = NONE, NONE
    for name, entry in entries.items():
        key = name.lower().replace("_", "-").removeprefix("c2pa.").removeprefix("cawg.")
        uses = _C2PA.get(key, TRAINING if names_training(key) else NONE)
        allowed = isinstance(entry, dict) and entry.get("use") == "allowed"
        no, yes = (no, yes | uses) if allowed else (no | uses, yes)
    return no, yes - no


_OTHERS: dict[str, Callable[[str], tuple[str, tuple[Uses, Uses]]]] = {
    USAGE: lambda text: ("content_usage", _read_preferences(text, "y", _MEMBERS)),
    SIGNAL: lambda text: ("content_signal", _read_preferences(text, "yes", _SIGNS)),
    PLUS: lambda text: ("data_mining", _PLUS.get(text.strip().rpartition("/")[2].lower(), (ALL, NONE))),
    C2PA: lambda text: ("training_mining", _read_mining(text)),
}
