"""The queries of the page and their neighbours: drawn, searched for in all four pairings, and told why one matches.

Seed 003, section 4.3 and figure 4: 4 spoken captions and 4 pictures as queries, of each the 5 nearest pictures and the 5 nearest
spoken captions of the test split. Here the queries are drawn by their keys, so a seed gives the same ones whatever else is
indexed. The query itself is left out of its own neighbours; what repeats it (the same recording, another utterance of the same
picture, a near-duplicate picture) stays, and is named.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from components.core.seeded_rng import seeded_rng
from components.retrieval.search_items import IMAGE, SPEECH, Split
from components.stages.build_search_index.page import neighbours_html, sound_path

if TYPE_CHECKING:
    from components.execution.stage import Stage
    from components.retrieval.searcher import SearchResult
    from components.stages.build_search_index.building import Built

PAGE = "neighbours.html"


@dataclass(frozen=True)
class Neighbour:
    """One of a query's nearest."""

    found: SearchResult
    match: str
    """Why it is right: empty for what matches the query in nothing that is known."""


@dataclass(frozen=True)
class Neighbourhood:
    """A query, and its nearest pictures and utterances."""

    query: dict[str, Any]
    """The INDEXED record."""
    near: dict[str, list[Neighbour]]
    """Kind → the nearest first."""


class Matches:
    """What matches what within a split, as the model was taught it, and why."""

    def __init__(self, split: Split) -> None:
        pairs = split.pairs
        self.identity = dict(zip(pairs.sha256, pairs.picture_identity.tolist(), strict=True))
        self.groups: dict[str, set[str]] = {}
        for sha256, group in zip(
            pairs.utterances["image_sha256"].to_pylist(), pairs.utterances["group"].to_pylist(), strict=True
        ):
            self.groups.setdefault(sha256, set()).add(group)

    def why(self, query: dict[str, Any], item: dict[str, Any]) -> str:
        """Why ``item`` is a right answer to ``query``; empty where it is none."""
        one, other = query["image_sha256"], item["image_sha256"]
        if self.identity[one] != self.identity[other]:
            return ""
        if query["kind"] == item["kind"] == SPEECH and query["audio_sha256"] == item["audio_sha256"]:
            return "the same recording"
        if one == other:
            return (
                "of the same picture"
                if query["kind"] == item["kind"]
                else "its own picture"
                if item["kind"] == IMAGE
                else "says this picture"
            )
        texts = [{told["caption"] for told in each["captions"]} for each in (query, item)]
        if texts[0] & texts[1]:
            return "the same caption"
        return "a near-duplicate picture" if self.groups[one] & self.groups[other] else "through what matches both"


def draw_queries(records: list[dict[str, Any]], split: str, seed: int, count: int) -> list[int]:
    """The rows of ``count`` drawn utterances and then of as many pictures of a split, fewer where there are fewer."""
    rows: list[int] = []
    for kind in (SPEECH, IMAGE):
        of_kind = [row for row, record in enumerate(records) if record["kind"] == kind and split in record["splits"]]
        rows += heapq.nsmallest(count, of_kind, key=lambda row: seeded_rng(seed, records[row]["key"], "neighbours").random())
    return rows


def gather(built: Built, split: str, seed: int, queries: int, neighbours: int) -> list[Neighbourhood]:
    """The drawn queries with their neighbours of the same split."""
    items, searcher = built.items, built.searcher
    matches = Matches(next(each for each in items.splits if each.name == split))
    found = []
    for row in draw_queries(items.records, split, seed, queries):
        query, vector = items.records[row], np.array(searcher.index.embeddings[row])
        # A split of one pair has nothing beside the query.
        several = len(items) > 1
        near = searcher.find(vector, min(neighbours, len(items)), split=split, without=(row,)) if several else {}
        told = {kind: [Neighbour(each, matches.why(query, each.item)) for each in near.get(kind, [])] for kind in (IMAGE, SPEECH)}
        found.append(Neighbourhood(query, told))
    return found


def write_page(stage: Stage, built: Built) -> None:
    """Write ``neighbours.html`` and the sound that it plays; its pictures are those of ``search/``."""
    params = stage.params.page
    found = gather(built, params.split, params.seed, params.queries, params.neighbours)
    speech = stage.inputs["speech"]
    for record in [each.query for each in found] + [n.found.item for each in found for n in each.near[SPEECH]]:
        if record["kind"] == SPEECH:
            stage.write_file(sound_path(record), speech.read_media(record["media"]))
    stage.write_file(PAGE, neighbours_html(stage.dataset, built.model, built.searcher, params.split, found).encode())
    for kind in (IMAGE, SPEECH):
        share = [any(n.match for n in each.near[kind]) for each in found]
        stage.metric(f"neighbours.queries_with_a_matching_{kind}", sum(share))
