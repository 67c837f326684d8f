"""Wikidata's query service as a source: names in batches, one SPARQL query each.

Documented at https://www.mediawiki.org/wiki/Wikidata_Query_Service/User_Manual: POST, ``format=json``, a User-Agent that tells
whom to write to, 429 with Retry-After for who asks too much. SPARQL does not tell the order of statements, so among occupations
or classes the lowest QID stands first (the older item, mostly the plainer concept); the truthy ones (``wdt:``) count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import islice
from typing import Any

from components.core.result_cache import ResultCache
from components.knowledge.kinds import Known
from components.knowledge.remote import Manners, Question, Remote, Request
from components.knowledge.wikidata.choosing import Candidate, Chooser

BATCH = 25
"""Names a query: the service stops a query after 60 s."""
_QUERY = """SELECT ?name ?item ?sites ?what ?class ?label ?above ?aboveLabel WHERE {
  VALUES ?name { %s }
  { ?item rdfs:label ?name } UNION { ?item skos:altLabel ?name }
  ?item wikibase:sitelinks ?sites . FILTER(?sites > 0)
  { ?item wdt:P31 ?class . BIND("P31" AS ?what) } UNION { ?item wdt:P106 ?class . BIND("P106" AS ?what) }
  ?class rdfs:label ?label . FILTER(LANG(?label) = "en")
  OPTIONAL { ?class wdt:P279 ?above . ?above rdfs:label ?aboveLabel . FILTER(LANG(?aboveLabel) = "en") }
}"""


class _Classes:
    """The classes that came with an answer."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        self.told = told

    def label(self, item: int) -> str:
        return str(self.told.get(str(item), ["", []])[0])

    def above(self, item: int) -> list[int]:
        return list(self.told.get(str(item), ["", []])[1])


class WikidataSparql(Remote):
    """The query service, or a mirror with the same vocabulary."""

    name = "wikidata"

    def __init__(self, endpoint: str, manners: Manners, store: ResultCache, chooser: Chooser) -> None:
        super().__init__(endpoint, manners, store)
        self.chooser = chooser

    def question(self, name: str, kind: str) -> str:
        """See :class:`Remote`: the answer does not depend on the type."""
        return name

    def batches(self, questions: Mapping[str, Question]) -> Iterator[Request]:
        """See :class:`Remote`."""
        waiting = iter(questions.items())
        while batch := dict(islice(waiting, BATCH)):
            literals = dict.fromkeys(_literal(each.name) for each in batch.values())
            values = " ".join(f"{literal}@{language}" for literal in literals for language in ("en", "mul"))
            yield Request("POST", self.model, {}, {"query": _QUERY % values, "format": "json"}, batch)

    def parse(self, body: Any, batch: Mapping[str, Question]) -> dict[str, Any]:
        """See :class:`Remote`."""
        names: dict[str, dict[int, tuple[int, set[int], set[int]]]] = {each.name: {} for each in batch.values()}
        classes: dict[int, tuple[str, set[int]]] = {}
        for row in body["results"]["bindings"]:
            name, item, number = row["name"]["value"], _number(row["item"]), _number(row["class"])
            if name not in names:
                raise ValueError("an answer about another name")
            _, instance, jobs = names[name].setdefault(item, (int(row["sites"]["value"]), set(), set()))
            (jobs if row["what"]["value"] == "P106" else instance).add(number)
            label = row["label"]["value"]
            if not isinstance(label, str):
                raise TypeError("a label that is no text")
            above = classes.setdefault(number, (label, set()))[1]
            if "above" in row:
                above.add(_number(row["above"]))
                classes.setdefault(_number(row["above"]), (str(row["aboveLabel"]["value"]), set()))
        plain = {str(number): [label, sorted(above)] for number, (label, above) in sorted(classes.items())}
        return {key: _answer(names[each.name], plain) for key, each in batch.items()}

    def choose(self, answer: Any, name: str, kind: str) -> Known | None:
        """See :class:`Remote`."""
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
