"""Google's Knowledge Graph Search API as a source (used by CC §3).

Documented at https://developers.google.com/knowledge-graph/reference/rest/v1: GET ``entities:search`` with ``query``, ``types``,
``limit``, ``languages`` and ``key``; an ``itemListElement`` of results, best first, each with ``@id``, ``name``, ``@type``,
``description`` and ``detailedDescription``. The key comes from ``GOOGLE_API_KEY`` and is used only in requests. 100,000 requests
a day are free; one request per name and type.
The hypernym is taken from the description ("American actor"), else from the first sentence of the article ("is a film
directed by ..."), else from the most specific schema.org type.
"""

from __future__ import annotations

import re
from typing import Any

from components.core.result_cache import ResultCache
from components.knowledge.kinds import Gate, HypernymAnswer
from components.knowledge.remote import KnowledgeSettings, Question, Remote
from components.knowledge.words import Words, most_specific

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
"""Entity type → the schema.org types of the search; empty: any."""
_COPULA = re.compile(r"\b(?:is|was|are|were)\s+(?:an?|the|one of the)\s+([^.]+)")
_CAMEL = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+")
LIMIT = 5


class GoogleKnowledgeGraph(Remote):
    """The search API."""

    name = "google"

    def __init__(self, settings: KnowledgeSettings, store: ResultCache, words: Words, gate: Gate, api_key: str) -> None:
        super().__init__(settings, store)
        self.words, self.gate, self._key = words, gate, api_key

    def question(self, name: str, kind: str) -> str:
        """See :class:`Remote`: the search depends on the type."""
        return f"{','.join(TYPES.get(kind, ()))}:{name}"

    def parameters(self, question: Question) -> list[tuple[str, str]]:
        params = [("query", question.name), ("limit", str(LIMIT)), ("languages", "en"), ("key", self._key)]
        return params + [("types", kind) for kind in TYPES.get(question.kind, ())]

    def parse(self, body: Any) -> list[dict[str, Any]]:
        entries = []
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
                raise TypeError("a field that is not text")
            if not all(isinstance(kind, str) for kind in entry["types"]):
                raise TypeError("a type that is not text")
            entries.append(entry)
        return entries

    def choose(self, answer: Any, name: str, kind: str) -> HypernymAnswer | None:
        """See :class:`Remote`: the first result of that name and type with a hypernym."""
        for entry in answer:
            if not _named(entry["name"], name) or ("Person" in entry["types"]) != (kind == "PERSON"):
                continue
            texts = [entry["description"], *_COPULA.findall(entry["article"])[:1], *type_words(entry["types"])]
            nouns = [noun for text in texts if (noun := self.words.noun(text)) and self.gate.suits(noun, kind)]
            if nouns:
                return HypernymAnswer(most_specific(nouns), f"google {entry['id'].replace('kg:', 'kg ', 1)}")
        return None


def _named(title: str, name: str) -> bool:
    """Return whether a result's name contains all words of the requested name ("Timberlake")."""
    requested, actual = ({word.strip(".,'’\"").lower() for word in text.split()} - {"the", ""} for text in (name, title))
    return bool(requested) and requested <= actual


def type_words(types: list[str]) -> list[str]:
    """Return schema.org types as words, the longest name (the most specific) first."""
    words = [" ".join(_CAMEL.findall(kind)).lower() for kind in types if kind not in ("Thing", "CreativeWork", "Intangible")]
    return sorted(words, key=lambda text: (-len(text), text))
