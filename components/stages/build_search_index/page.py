"""HTML pages without scripts: nearest neighbours of random queries, and the results of one search.

A card shows an image or a player, captions with their language, a rank, a score, and a match in words as well as colour.
``neighbours.html`` links to files; the page of a search embeds its images and audio, so that it can be shared as one file.

CSC §4.3 and figure 4 show 4 spoken captions and 4 images as queries, each with its 5 nearest images and spoken captions.
Here queries are drawn by key, so a seed selects the same ones whatever else is indexed. A query is not its own
neighbour; its repetitions (the same recording, another utterance of the image, a near-duplicate image) are, with the reason.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from components.core.seeded_rng import seeded_rng
from components.reporting.pages import data_uri, render
from components.reporting.values import decimal
from components.search.items import IMAGE, SPEECH, Split
from components.search.searcher import SEARCH, Searcher, SearchResult

if TYPE_CHECKING:
    from components.execution.stage import Stage
    from components.search.queries import Query
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


PAGE = "neighbours.html"
LANGUAGES = {"en": "English", "es": "Spanish", "fr": "French", "pt": "Portuguese", "de": "German"}
KINDS = {IMAGE: "images", SPEECH: "spoken captions"}


@dataclass(frozen=True)
class Card:
    """A result or query as shown by the templates."""

    kind: str
    captions: list[dict[str, str]]
    image: str = ""
    """Its address; empty without a thumbnail."""
    sound: str = ""
    rank: int = 0
    score: str = ""
    match: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        """Its captions in one line, as a text alternative."""
        return " / ".join(dict.fromkeys(caption["caption"] for caption in self.captions))


def write_page(stage: Stage, built: Built) -> None:
    """Write ``neighbours.html`` and its audio files; its images are those of ``search/``."""
    params = stage.params.page
    neighbourhoods = gather(built, params.split, params.seed, params.queries, params.neighbours)
    speech = stage.inputs["speech"]
    for record in [each.query for each in neighbourhoods] + [n.result.item for each in neighbourhoods for n in each.near[SPEECH]]:
        if record["kind"] == SPEECH:
            stage.write_file(sound_path(record), speech.read_media(record["media"]))
    stage.write_file(PAGE, neighbours_html(stage.dataset, built.model, built.searcher, params.split, neighbourhoods).encode())
    for kind in (IMAGE, SPEECH):
        share = [any(n.match for n in each.near[kind]) for each in neighbourhoods]
        stage.metric(f"neighbours.queries_with_a_matching_{kind}", sum(share))


def neighbours_html(
    dataset: str, model: dict[str, Any], searcher: Searcher, split: str, neighbourhoods: Sequence[Neighbourhood]
) -> str:
    """Return figure 4 as a page, with images in ``search/`` and audio in ``audio/``."""

    def card(record: dict[str, Any], **fields: Any) -> Card:
        image = f"{SEARCH}/{record['thumbnail']}" if record["thumbnail"] else ""
        return _card(record, image, sound_path(record) if record["kind"] == SPEECH else "", **fields)

    def cards(near: Sequence[Neighbour]) -> list[Card]:
        return [card(n.result.item, rank=n.result.rank, score=decimal(n.result.score, 2), match=n.match) for n in near]

    shown = [(card(each.query), [(kind, cards(each.near[kind])) for kind in (IMAGE, SPEECH)]) for each in neighbourhoods]
    hits = {kind: sum(any(n.match for n in each.near[kind]) for each in neighbourhoods) for kind in (IMAGE, SPEECH)}
    counts = {kind: _count(searcher, kind, split) for kind in (IMAGE, SPEECH)}
    return _render(
        "neighbours.html", dataset=dataset, model=model, about=searcher.description, split=split, shown=shown, hits=hits,
        counts=counts,
    )  # fmt: skip


def search_html(
    query: Query,
    name: str,
    searcher: Searcher,
    results: dict[str, list[SearchResult]],
    sound: Callable[[dict[str, Any]], bytes | None],
) -> str:
    """Return the results of one search as a self-contained page.

    Args:
        name: name of the query.
        sound: returns the FLAC of an utterance, or None if it is not available.
    """

    def card(each: SearchResult) -> Card:
        record, path = each.item, searcher.folder / each.item["thumbnail"]
        image = data_uri(path.read_bytes()) if record["thumbnail"] and path.is_file() else ""
        played = sound(record) if record["kind"] == SPEECH else None
        return _card(record, image, data_uri(played) if played else "", rank=each.rank, score=decimal(each.score, 2))

    played = data_uri(query.data)
    query_card = Card(query.kind, [], image=played) if query.kind == IMAGE else Card(query.kind, [], sound=played)
    shown = [(kind, [card(each) for each in items]) for kind, items in results.items()]
    return _render("found.html", name=name, query=query_card, about=searcher.description, shown=shown, notes=query.notes)


def sound_path(record: dict[str, Any]) -> str:
    """Return the path of an utterance's audio, relative to the page."""
    return f"audio/{record['key']}.flac"


def _card(record: dict[str, Any], image: str, sound: str, **fields: Any) -> Card:
    notes = []
    if record["kind"] == SPEECH:
        notes = [f"{record['seconds']:.1f} s", f"{'read by' if record['origin'] == 'human' else 'voice'} {record['voice']}"]
    return Card(record["kind"], record["captions"], image, sound, notes=notes, **fields)


def _count(searcher: Searcher, kind: str, split: str) -> int:
    columns = (searcher.index.items[name].to_pylist() for name in ("kind", "splits"))
    return sum(each == kind and split in splits for each, splits in zip(*columns, strict=True))


def _render(template: str, **values: Any) -> str:
    return render(Path(__file__).parent / "data", template, kinds=KINDS, languages=LANGUAGES, **values)
