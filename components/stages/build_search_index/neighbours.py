"""Queries of the page and their nearest neighbours in all four pairings, with the reasons of matches.

CSC §4.3 and figure 4 show 4 spoken captions and 4 images as queries, each with its 5 nearest images and spoken captions.
Here queries are drawn by key, so a seed selects the same ones whatever else is indexed. A query is not its own
neighbour; its repetitions (the same recording, another utterance of the image, a near-duplicate image) are, with the reason.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from components.core.seeded_rng import seeded_rng
from components.search.items import IMAGE, SPEECH, Split

if TYPE_CHECKING:
    from components.search.searcher import SearchResult
    from components.stages.build_search_index.building import Built


@dataclass(frozen=True)
class Neighbour:
    """A neighbour of a query."""

    result: SearchResult
    match: str
    """The reason why it matches the query; empty without a known match."""


@dataclass(frozen=True)
class Neighbourhood:
    """A query with its nearest images and utterances."""

    query: dict[str, Any]
    near: dict[str, list[Neighbour]]
    """Kind → neighbours, nearest first."""


class Matches:
    """Known matches within a split, as in training, with their reasons."""

    def __init__(self, split: Split) -> None:
        pairs = split.pairs
        self.identity = dict(zip(pairs.sha256, pairs.image_identity.tolist(), strict=True))
        self.groups: dict[str, set[str]] = {}
        columns = (pairs.utterances[name].to_pylist() for name in ("image_sha256", "group"))
        for sha256, group in zip(*columns, strict=True):
            self.groups.setdefault(sha256, set()).add(group)

    def reason(self, query: dict[str, Any], item: dict[str, Any]) -> str:
        """Return why ``item`` matches ``query``; empty if it does not."""
        one, other = query["image_sha256"], item["image_sha256"]
        if self.identity[one] != self.identity[other]:
            return ""
        if query["kind"] == item["kind"] == SPEECH and query["audio_sha256"] == item["audio_sha256"]:
            return "the same recording"
        if one == other:
            if query["kind"] == item["kind"]:
                return "of the same image"
            return "its own image" if item["kind"] == IMAGE else "says this image"
        texts = [{caption["caption"] for caption in record["captions"]} for record in (query, item)]
        if texts[0] & texts[1]:
            return "the same caption"
        return "a near-duplicate image" if self.groups[one] & self.groups[other] else "through other matches"


def draw_queries(records: list[dict[str, Any]], split: str, seed: int, count: int) -> list[int]:
    """Draw up to ``count`` utterances and then as many images of a split; return their rows."""
    rows: list[int] = []
    for kind in (SPEECH, IMAGE):
        of_kind = [row for row, record in enumerate(records) if record["kind"] == kind and split in record["splits"]]
        rows += heapq.nsmallest(count, of_kind, key=lambda row: seeded_rng(seed, records[row]["key"], "neighbours").random())
    return rows


def gather(built: Built, split: str, seed: int, queries: int, neighbours: int) -> list[Neighbourhood]:
    """Return the drawn queries with their neighbours of the same split."""
    items, searcher = built.items, built.searcher
    matches = Matches(next(indexed for indexed in items.splits if indexed.name == split))
    neighbourhoods = []
    for row in draw_queries(items.records, split, seed, queries):
        query, vector = items.records[row], np.array(searcher.index.embeddings[row])
        # An index of one item has no neighbours.
        several = len(items) > 1
        near = searcher.find(vector, min(neighbours, len(items)), split=split, without=(row,)) if several else {}
        neighbours_of = {
            kind: [Neighbour(item, matches.reason(query, item.item)) for item in near.get(kind, [])] for kind in (IMAGE, SPEECH)
        }
        neighbourhoods.append(Neighbourhood(query, neighbours_of))
    return neighbourhoods
