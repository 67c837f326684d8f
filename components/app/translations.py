"""Texts of the interface in English and Portuguese, from ``data/translations``."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import yaml

FOLDER = Path(__file__).parent / "data" / "translations"
LANGUAGES = {"en": "English", "pt": "Português"}
"""Language of the interface → its own name."""
DEFAULT = "en"


@cache
def texts(language: str) -> dict[str, str]:
    """Return name → text in a language of :data:`LANGUAGES`; each file of the folder holds some of the texts."""
    merged: dict[str, str] = {}
    for path in sorted(FOLDER.glob(f"*.{language}.yaml")):
        merged |= yaml.safe_load(path.read_text(encoding="utf-8"))
    return merged


def translate(language: str, name: str, /, **values: object) -> str:
    """Return the text with its values; raises KeyError for a name that the translations lack."""
    return texts(language)[name].format(**values)


def choose_language(chosen: str | None, accepted: str) -> str:
    """Return the interface's language: the chosen one, else the first one that the browser accepts (``Accept-Language``)."""
    if chosen in LANGUAGES:
        return str(chosen)
    for part in accepted.split(","):
        language = part.split(";")[0].strip().lower().partition("-")[0]
        if language in LANGUAGES:
            return language
    return DEFAULT
