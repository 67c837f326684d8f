"""Google's Knowledge Graph Search API as a source: what the paper used.

Documented at https://developers.google.com/knowledge-graph/reference/rest/v1: GET ``entities:search`` with ``query``, ``types``,
``limit``, ``languages`` and ``key``; an ``itemListElement`` of results, the best first, each with ``@id``, ``name``,
``@type``, ``description`` and ``detailedDescription``. The key is read from ``GOOGLE_API_KEY`` and goes nowhere but into the
request. 100,000 requests a day are free of charge; one request a name and type.
The word is taken from the description ("American actor"), else from the first sentence of the article ("is a film
directed by ..."), else from the most particular schema.org type.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from components.core.result_cache import ResultCache
from components.knowledge.kinds import Gate, Known
from components.knowledge.remote import Manners, Question, Remote, Request
from components.knowledge.words import VAGUE, Words

TYPES: dict[str, tuple[str, ...]] = {
    "PERSON": ("Person",),
    "GPE": ("Place", "AdministrativeArea"),
    "LOC": ("Place",),
    "FAC": ("Place",),
    "ORG": ("Organization",),
    "EVENT": ("Event",),
    "WORK_OF_ART": ("Book", "Movie", "MovieSeries", "MusicAlbum", "MusicRecording", "TVSeries", "TVEpisode", "VideoGame"),
    "PRODUCT": (),
    "LAW": (),
}
"""Entity type → the schema.org types that the search is held to; none: any."""
_COPULA = re.compile(r"\b(?:is|was|are|were)\s+(?:an?|the|one of the)\s+([^.]+)")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
LIMIT = 5


class GoogleKnowledgeGraph(Remote):
    """The search API, with a key."""

    name = "google"

    def __init__(self, endpoint: str, manners: Manners, store: ResultCache, words: Words, gate: Gate, api_key: str) -> None:
        super().__init__(endpoint, manners, store)
        self.words, self.gate, self._key = words, gate, api_key

    def question(self, name: str, kind: str) -> str:
        """See :class:`Remote`: the search is held to the type."""
        return f"{','.join(TYPES.get(kind, ()))}:{name}"

    def batches(self, questions: Mapping[str, Question]) -> Iterator[Request]:
        """See :class:`Remote`: one request a question."""
        for key, each in questions.items():
            params = [("query", each.name), ("limit", str(LIMIT)), ("languages", "en"), ("key", self._key)]
            params += [("types", kind) for kind in TYPES.get(each.kind, ())]
            yield Request("GET", self.model, params, None, {key: each})

    def parse(self, body: Any, batch: Mapping[str, Question]) -> dict[str, Any]:
        """See :class:`Remote`."""
        found = []
        for element in body.get("itemListElement", []):
            result = element["result"]
            kinds = result.get("@type", [])
            article = (result.get("detailedDescription") or {}).get("articleBody", "")
            entry = {
                "id": result["@id"],
                "name": result.get("name", ""),
                "types": [kinds] if isinstance(kinds, str) else list(kinds),
                "description": result.get("description", ""),
                "article": article[:300],
            }
            if not all(isinstance(entry[field], str) for field in ("id", "name", "description")):
                raise TypeError("a field that is no text")
            if not all(isinstance(kind, str) for kind in entry["types"]):
                raise TypeError("a type that is no text")
            found.append(entry)
        return dict.fromkeys(batch, found)

    def choose(self, answer: Any, name: str, kind: str) -> Known | None:
        """See :class:`Remote`: the first result of that name and type that tells a word."""
        for entry in answer:
            if not _named(entry["name"], name) or ("Person" in entry["types"]) != (kind == "PERSON"):
                continue
            texts = [entry["description"], *_COPULA.findall(entry["article"])[:1], *_told_by_type(entry["types"])]
            nouns = [noun for text in texts if (noun := self.words.noun(text)) and self.gate.suits(noun, kind)]
            if nouns:
                word = next((noun for noun in nouns if noun not in VAGUE), nouns[0])
                return Known(word, f"google {entry['id'].replace('kg:', 'kg ', 1)}")
        return None


def _named(title: str, name: str) -> bool:
    """Return whether a result's name is the name asked for, or holds all its words ("Timberlake")."""
    asked, given = ({word.strip(".,'’\"").lower() for word in text.split()} - {"the", ""} for text in (name, title))
    return bool(asked) and asked <= given


def _told_by_type(types: list[str]) -> list[str]:
    """schema.org's types as words, the longest name (the most particular) first."""
    spoken = [" ".join(_CAMEL.findall(kind)).lower() for kind in types if kind not in ("Thing", "CreativeWork", "Intangible")]
    return sorted(spoken, key=lambda text: (-len(text), text))
