"""Wikidata's query service as a source: one SPARQL query per batch of names.

Documented at https://www.mediawiki.org/wiki/Wikidata_Query_Service/User_Manual: POST, ``format=json``, a User-Agent with a
contact, 429 with Retry-After above the rate limit. SPARQL does not return the order of statements, so among occupations or
classes the lowest QID comes first (the older item, usually the simpler concept); only truthy statements (``wdt:``) count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from components.core.result_cache import ResultCache
from components.knowledge.kinds import HypernymAnswer
from components.knowledge.remote import KnowledgeSettings, Question, Remote, Request
from components.knowledge.wikidata.choosing import Candidate, Chooser

BATCH = 25
"""Names per query: the service stops a query after 60 s."""
_QUERY = """SELECT ?name ?item ?sites ?what ?class ?label ?above ?aboveLabel WHERE {
  VALUES ?name { %s }
  { ?item rdfs:label ?name } UNION { ?item skos:altLabel ?name }
  ?item wikibase:sitelinks ?sites . FILTER(?sites > 0)
  { ?item wdt:P31 ?class . BIND("P31" AS ?what) } UNION { ?item wdt:P106 ?class . BIND("P106" AS ?what) }
  ?class rdfs:label ?label . FILTER(LANG(?label) = "en")
  OPTIONAL { ?class wdt:P279 ?above . ?above rdfs:label ?aboveLabel . FILTER(LANG(?aboveLabel) = "en") }
}"""


class _Classes:
    """The classes of an answer."""

    def __init__(self, classes: Mapping[str, Any]) -> None:
        self._classes = classes

    def label(self, item: int) -> str:
        return str(self._classes.get(str(item), ["", []])[0])

    def above(self, item: int) -> list[int]:
        return list(self._classes.get(str(item), ["", []])[1])


class WikidataSparql(Remote):
    """The query service, or a mirror with the same vocabulary."""

    name = "wikidata"

    def __init__(self, settings: KnowledgeSettings, store: ResultCache, chooser: Chooser) -> None:
        super().__init__(settings, store)
        self.chooser = chooser

    def question(self, name: str, kind: str) -> str:
        return name  # the answer does not depend on the type

    def batches(self, questions: Mapping[str, Question]) -> Iterator[Request]:
        remaining = iter(questions.items())
        while batch := dict(islice(remaining, BATCH)):
            literals = dict.fromkeys(_literal(question.name) for question in batch.values())
            values = " ".join(f"{literal}@{language}" for literal in literals for language in ("en", "mul"))
            yield Request("POST", self.model, {}, {"query": _QUERY % values, "format": "json"}, batch)

    def parse(self, body: Any, batch: Mapping[str, Question]) -> dict[str, Any]:
        names: dict[str, dict[int, tuple[int, set[int], set[int]]]] = {question.name: {} for question in batch.values()}
        classes: dict[int, tuple[str, set[int]]] = {}
        for row in body["results"]["bindings"]:
            name, item, number = row["name"]["value"], _number(row["item"]), _number(row["class"])
            if name not in names:
                raise ValueError("an answer about another name")
            _, instance, jobs = names[name].setdefault(item, (int(row["sites"]["value"]), set(), set()))
            (jobs if row["what"]["value"] == "P106" else instance).add(number)
            label = row["label"]["value"]
            if not isinstance(label, str):
                raise TypeError("a label that is not text")
            above = classes.setdefault(number, (label, set()))[1]
            if "above" in row:
                above.add(_number(row["above"]))
                classes.setdefault(_number(row["above"]), (str(row["aboveLabel"]["value"]), set()))
        plain = {str(number): [label, sorted(above)] for number, (label, above) in sorted(classes.items())}
        return {key: _answer(names[question.name], plain) for key, question in batch.items()}

    def choose(self, answer: Any, name: str, kind: str) -> HypernymAnswer | None:
        candidates = [Candidate(*item) for item in answer["items"]]
        return self.chooser.choose(candidates, _Classes(answer["classes"]), kind)


def _answer(items: Mapping[int, tuple[int, set[int], set[int]]], classes: Mapping[str, Any]) -> dict[str, Any]:
    rows = [[item, sites, sorted(instance), sorted(jobs)] for item, (sites, instance, jobs) in sorted(items.items())]
    needed = {str(number) for row in rows for number in (*row[2], *row[3])}  # type: ignore[misc]
    needed |= {str(above) for number in needed for above in classes[number][1]}
    return {"items": rows, "classes": {number: classes[number] for number in sorted(needed)}}


def _literal(name: str) -> str:
    escaped = name.replace("\\", "\\\\").replace('"', '\\"')
    return '"' + "".join(char if char.isprintable() else " " for char in escaped) + '"'


def _number(term: Mapping[str, Any]) -> int:
    value = term["value"]
    prefix, _, number = value.rpartition("/Q")
    if term["type"] != "uri" or not prefix.startswith("http") or not number.isascii() or not number.isdigit():
        raise ValueError("no item")
    return int(number)
