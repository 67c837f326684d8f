"""Brands and their kind of business: ``data/brands.tsv``, made from the Name Suggestion Index.

The index lists the brands of OpenStreetMap's shops, restaurants, hotels and offices worldwide (npm ``name-suggestion-index``,
BSD-3-Clause); ``tests/knowledge/make_brands.py`` makes the file from the package. Used for organisations only.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources


@lru_cache(maxsize=1)
def brands() -> dict[str, str]:
    """Return brand in lower case → kind of business."""
    kinds: dict[str, str] = {}
    text = (resources.files("components.knowledge") / "data" / "brands.tsv").read_text(encoding="utf-8")
    for line in text.splitlines():
        if line and not line.startswith("#"):
            kind, names = line.split("\t", 1)
            kinds.update(dict.fromkeys(names.split("|"), kind))
    return kinds


def brand_kind(name: str) -> str:
    """Return the kind of business of a brand ("supermarket"), or ""."""
    return brands().get(" ".join(name.lower().replace("’", "'").split()), "")
