"""Search by voice, text or image."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Form, Request, UploadFile
from starlette.responses import Response

from components.app.access import is_file, protect, require_owner
from components.app.engines import Engines, SearchEngine
from components.app.pages import language_of, render_page, status_of
from components.app.uploads import limit_image, limit_sound, turns_of
from components.core.errors import HearsightError
from components.reporting.pages import data_uri
from components.search.queries import Query, parse_query
from components.search.searcher import KINDS, SearchResult
from components.tools.describe.speech import LONGEST_QUERY, speak_query
from components.tools.describe.voices import spoken_languages

router = APIRouter(prefix="/search", dependencies=[Depends(require_owner)])
COUNTS = (5, 10, 20)
ENGLISH = "en"
SHOWN_BYTES = 2 << 20
"""Largest query that its results repeat, in bytes."""


@dataclass(frozen=True)
class Asked:
    """The fields of the form, kept beside the results."""

    index: str = ""
    text: str = ""
    text_language: str = ""
    kind: str = "both"
    count: int = COUNTS[0]
    only: str = ""
    """Language of the captions; empty for all."""


@dataclass(frozen=True)
class Card:
    """A result as the page shows it."""

    rank: int
    captions: list[dict[str, str]]
    image: str
    sounds: list[str]
    """The address of each caption's speech."""
    about: str

    @property
    def text(self) -> str:
        """The captions in one line."""
        return " / ".join(dict.fromkeys(caption["caption"] for caption in self.captions))


def engines_of(request: Request) -> Engines:
    """Return the application's search engines."""
    services = request.app.state.services
    engines: Engines = services.get("search engines", lambda: Engines(services))
    return engines


@router.get("")
def form(request: Request) -> Response:
    """Show the form, and begin to load the model of the first index."""
    engines = engines_of(request)
    index, language = next(iter(engines.datasets), ""), language_of(request)
    if index:
        engines.preload(index)
    return _page(request, Asked(index, text_language=language if language in spoken_languages() else ENGLISH))


@router.post("", dependencies=[Depends(protect)])
def search(
    request: Request,
    index: Annotated[str, Form()],
    file: Annotated[UploadFile | None, File()] = None,
    text: Annotated[str, Form()] = "",
    text_language: Annotated[str, Form()] = "",
    kind: Annotated[str, Form()] = "both",
    count: Annotated[int, Form()] = COUNTS[0],
    only: Annotated[str, Form()] = "",
) -> Response:
    """Show what is nearest to a file or a spoken text; what is wrong with it is said above the form."""
    asked = Asked(index, text, text_language, kind if kind in KINDS else "both", count if count in COUNTS else COUNTS[0], only)
    try:
        if is_file(file):
            engines_of(request).get(index)  # loads its model before the turn
            return turns_of(request.app.state.services).run_upload(lambda: _answer(request, asked, file.file.read()))
        return _answer(request, asked, b"")
    except HearsightError as error:
        return _page(request, asked, error=error, status=status_of(error))


@router.get("/speech/{dataset}/{key}/{number}")
def speech(request: Request, dataset: str, key: str, number: int) -> Response:
    """Send the speech of a caption of the index."""
    sound = engines_of(request).get(dataset).sound(key, number)
    return Response(sound.flac, media_type="audio/flac")


def _answer(request: Request, asked: Asked, data: bytes) -> Response:
    query, voice = _query(asked, data)
    engine = engines_of(request).get(asked.index)
    started = time.perf_counter()
    kinds = KINDS if asked.kind == "both" else (asked.kind,)
    found = engine.search(query, asked.count, kinds, asked.only)
    seconds = time.perf_counter() - started
    values: dict[str, Any] = {
        "query": query,
        "shown": data_uri(query.data) if len(query.data) <= SHOWN_BYTES else "",
        "voice": voice,
        "notes": [note for note in (*query.notes, engine.searcher.encoder.note(query)) if note],
        "engine": engine,
        "seconds": seconds,
        "results": {kind: [_card(engine, result) for result in results] for kind, results in found.items()},
    }
    return _page(request, asked, **values)


def _query(asked: Asked, data: bytes) -> tuple[Query, str]:
    """Return the query, and the voice that spoke it; a file goes before a text."""
    if data:
        limit_image(data)
        limit_sound(data)
        return parse_query(data, "the file"), ""
    if asked.text.strip():
        spoken = speak_query(asked.text, asked.text_language)
        return spoken.query, spoken.voice
    raise HearsightError("nothing was asked", hint="speak, choose a file, or write what is in the image")


def _card(engine: SearchEngine, result: SearchResult) -> Card:
    item, path = result.item, engine.searcher.folder / result.item["thumbnail"]
    image = data_uri(path.read_bytes()) if item["thumbnail"] and path.is_file() else ""
    sounds = [f"/search/speech/{engine.dataset}/{item['key']}/{number}" for number in range(len(item["captions"]))]
    return Card(result.rank, item["captions"], image, sounds, item["origin"])


def _page(request: Request, asked: Asked, status: int = 200, **values: Any) -> Response:
    engines = engines_of(request)
    empty: dict[str, Any] = {
        "query": None,
        "engine": None,
        "error": None,
        "results": {},
        "notes": [],
        "voice": "",
        "shown": "",
        "seconds": 0.0,
    }
    return render_page(
        request,
        "search.html",
        status,
        asked=asked,
        datasets=engines.datasets,
        ready=engines.is_ready(asked.index),
        languages_of_text=spoken_languages(),
        counts=COUNTS,
        kinds=KINDS,
        longest=LONGEST_QUERY,
        **(empty | values),
    )
