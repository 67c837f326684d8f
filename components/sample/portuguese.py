"""Portuguese wording: names of the material's folders, titles, sentences, letters without accents."""

from __future__ import annotations

import re
import unicodedata
from pathlib import Path

from components.core.params import read_yaml

ARTICLE = re.compile(r"(Um|Uma|Uns|Umas|O|A|Os|As) ")
THEMES: dict[str, str] = read_yaml(Path(__file__).parent / "data" / "themes.yaml")


def theme_of(group: str) -> str:
    """Return the Portuguese name of a group (one or two folder levels, or a lesson), or of its upper folder."""
    return THEMES.get(group) or THEMES.get(group.split("/")[0]) or "diversos"


def title_of(text: str) -> str:
    """Return the first few words of a text, without article and full stop."""
    first = re.split(r"[.!?;(]", text)[0].strip()
    article = ARTICLE.match(first)
    words = first[article.end() if article else 0 :].split()
    return " ".join(words[:5]).rstrip(",:")


def as_sentence(text: str) -> str:
    """Return a text with a full stop, unless it has an end mark."""
    return text if text.endswith((".", "!", "?", ")", "”", '"')) else f"{text}."


def lower_first(text: str) -> str:
    """Return a text with its first letter lowered, unless the second one is a capital too."""
    return text if text[1:2].isupper() else text[:1].lower() + text[1:]


def without_accents(text: str) -> str:
    return "".join(letter for letter in unicodedata.normalize("NFD", text) if not unicodedata.combining(letter))


def differ(one: str, other: str) -> bool:
    """Return whether two texts share under half of their words."""
    a, b = (set(re.findall(r"\w+", text.lower())) for text in (one, other))
    return len(a & b) * 2 < len(a | b)
