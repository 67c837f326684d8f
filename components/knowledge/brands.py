"""Brands and what kind of business bears them: ``data/brands.tsv``, made from the Name Suggestion Index.

The index lists the brands of OpenStreetMap's shops, restaurants, hotels and offices the world over (npm
``name-suggestion-index``, BSD-3-Clause); ``tests/knowledge/make_brands.py`` makes the file from the package, whole,
by a table of its categories. A brand is looked up only for an organisation.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources


@lru_cache(maxsize=1)
def brands() -> dict[str, str]:
    """Brand in lower case → kind of business."""
    found: dict[str, str] = {}
    text = (resources.files("components.providers") / "data" / "brands.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            kind, names = line.split("\t", 1)
            found.update(dict.fromkeys(names.split("|"), kind))
    return found


def brand_kind(name: str) -> str:
    """Return the kind of business of that name ("supermarket"), or ""."""
    return brands().get(" ".join(name.lower().replace("’", "'").split()), "")
