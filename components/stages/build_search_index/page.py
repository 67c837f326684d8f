"""Results as pages: the nearest neighbours of drawn queries, and what one search found. No scripts, nothing from outside.

A page's cards are the same in both: a picture or a player, the words with their language, a rank, a score, and in words (never by
colour alone) whether it matches. ``neighbours.html`` names files beside it; a search's page holds its pictures and sound itself,
so that it can be sent to somebody.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from components.reporting.numbers import decimal
from components.reporting.pages import data_uri, render
from components.retrieval.search_items import IMAGE, SPEECH

if TYPE_CHECKING:
    from components.retrieval.queries import Query
    from components.retrieval.searcher import Searcher, SearchResult
    from components.stages.build_search_index.neighbours import Neighbourhood

LANGUAGES = {"en": "English", "es": "Spanish", "fr": "French", "pt": "Portuguese", "de": "German"}
KINDS = {IMAGE: "pictures", SPEECH: "spoken captions"}


@dataclass(frozen=True)
class Card:
    """One result, or a query, as a template shows it."""

    kind: str
    captions: list[dict[str, str]]
    picture: str = ""
    """Its address; empty where none is kept."""
    sound: str = ""
    rank: int = 0
    score: str = ""
    match: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def told(self) -> str:
        """Its words in one line, for who cannot see or has not heard it."""
        return " / ".join(dict.fromkeys(each["caption"] for each in self.captions))


def neighbours_html(dataset: str, model: dict[str, Any], searcher: Searcher, split: str, found: Sequence[Neighbourhood]) -> str:
    """Figure 4 as a page; pictures are addressed below ``search/``, sound below ``audio/``."""
    from components.retrieval.searcher import SEARCH

    def card(record: dict[str, Any], **told: Any) -> Card:
        picture = f"{SEARCH}/{record['thumbnail']}" if record["thumbnail"] else ""
        return _card(record, picture, sound_path(record) if record["kind"] == SPEECH else "", **told)

    shown = [
        (
            card(each.query),
            [
                (
                    kind,
                    [
                        card(n.found.item, rank=n.found.rank, score=decimal(n.found.score, 2), match=n.match)
                        for n in each.near[kind]
                    ],
                )
                for kind in (IMAGE, SPEECH)
            ],
        )
        for each in found
    ]
    hits = {kind: sum(any(n.match for n in each.near[kind]) for each in found) for kind in (IMAGE, SPEECH)}
    counts = {kind: _count(searcher, kind, split) for kind in (IMAGE, SPEECH)}
    return _render(
        "neighbours.html", dataset=dataset, model=model, about=searcher.description, split=split, shown=shown, hits=hits,
        counts=counts,
    )  # fmt: skip


def found_html(
    query: Query,
    name: str,
    searcher: Searcher,
    found: dict[str, list[SearchResult]],
    sound: Callable[[dict[str, Any]], bytes | None],
) -> str:
    """What one search found, as one file.

    Args:
        name: what the query is called.
        sound: the FLAC of an utterance, or None where it is not at hand.
    """

    def card(each: SearchResult) -> Card:
        record, path = each.item, searcher.folder / each.item["thumbnail"]
        picture = data_uri(path.read_bytes()) if record["thumbnail"] and path.is_file() else ""
        played = sound(record) if record["kind"] == SPEECH else None
        return _card(record, picture, data_uri(played) if played else "", rank=each.rank, score=decimal(each.score, 2))

    played = data_uri(query.data)
    asked = Card(query.kind, [], picture=played) if query.kind == IMAGE else Card(query.kind, [], sound=played)
    shown = [(kind, [card(each) for each in results]) for kind, results in found.items()]
    return _render("found.html", name=name, query=asked, about=searcher.description, shown=shown, notes=query.notes)


def sound_path(record: dict[str, Any]) -> str:
    """Where an utterance of the page lies beside it."""
    return f"audio/{record['key']}.flac"


def language_name(code: str) -> str:
    """A language in English, or its code."""
    return LANGUAGES.get(code, code)


def _card(record: dict[str, Any], picture: str, sound: str, **told: Any) -> Card:
    notes = []
    if record["kind"] == SPEECH:
        notes = [f"{record['seconds']:.1f} s", f"{'read by' if record['origin'] == 'human' else 'voice'} {record['voice']}"]
    return Card(record["kind"], record["captions"], picture, sound, notes=notes, **told)


def _count(searcher: Searcher, kind: str, split: str) -> int:
    columns = (searcher.index.items[name].to_pylist() for name in ("kind", "splits"))
    return sum(each == kind and split in splits for each, splits in zip(*columns, strict=True))


def _render(template: str, **values: Any) -> str:
    return render(Path(__file__).parent / "data", template, kinds=KINDS, language=language_name, **values)
