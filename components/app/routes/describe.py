"""Describe an image or the images of a page: captions with their confidence, what the models cannot do, and reading aloud."""

from __future__ import annotations

import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import BoundedSemaphore, Lock, Thread
from typing import Annotated, Any

from fastapi import APIRouter, Depends, File, Form, Request, UploadFile
from starlette.exceptions import HTTPException
from starlette.responses import Response

from components.app.access import is_file, protect, require_owner
from components.app.invitations import sign, verify
from components.app.pages import language_of, render_page, status_of
from components.app.uploads import BusyError, T, limit_image, turns_of
from components.core.errors import HearsightError
from components.core.printing import json_line
from components.reporting.pages import data_uri
from components.search.index import INDEX as INDEX_FILE
from components.search.searcher import INDEX
from components.tools.describe.describer import Describer, Description
from components.tools.describe.page import DescribedPage
from components.tools.describe.settings import place_of_images
from components.tools.describe.sources import describe_address
from components.tools.describe.speech import say
from components.tools.describe.voices import default_voice
from components.tools.describe.wording import LANGUAGES

router = APIRouter(prefix="/describe", dependencies=[Depends(require_owner)])
SPEECH, SPEECH_SECONDS = "speech", 3600
"""Purpose and life of the links that read a caption aloud."""
MOST_PAGES = 20
"""Described pages that are kept for downloads, the last ones."""
MOST_IMAGES_OF_PAGE = 50
"""Images of a page that are described while somebody waits for the answer; a site gets a request a second."""
ADDRESSES_AT_ONCE = 2
SHOWN_BYTES = 2 << 20
"""Largest image that the answer repeats, in bytes."""
DOWNLOADS = {"html": "text/html", "json": "application/json"}


class DescribedPages:
    """The last described pages by an unguessable name; safe for threads."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._pages: OrderedDict[str, tuple[str, DescribedPage]] = OrderedDict()

    def keep(self, address: str, page: DescribedPage) -> str:
        """Keep a page and return its name; the oldest one is dropped."""
        name = secrets.token_urlsafe(16)
        with self._lock:
            self._pages[name] = (address, page)
            while len(self._pages) > MOST_PAGES:
                self._pages.popitem(last=False)
        return name

    def find(self, name: str) -> tuple[str, DescribedPage] | None:
        """Return the address and the page of a name."""
        with self._lock:
            return self._pages.get(name)


def _pages_of(request: Request) -> DescribedPages:
    pages: DescribedPages = request.app.state.services.get("described pages", DescribedPages)
    return pages


def _describer(request: Request, language: str) -> Describer:
    """Return the describer of a language of captions, with notes in the language of the interface.

    It is loaded at its first use, and again when the settings or the index that it quotes have changed, as in a takedown.
    """
    interface, services = language_of(request), request.app.state.services
    if language not in LANGUAGES:
        raise HearsightError(f"'{language}' is not a language here", hint=f"choose {', '.join(LANGUAGES)}")

    root = services.settings.root

    def opened() -> tuple[Describer, list[int]]:
        describer = Describer.open(root, language, interface=interface)
        return describer, _stamp(root, describer)

    describer: Describer
    name = f"describer {language} {interface}"
    describer, _ = services.get_current(name, opened, lambda loaded: _stamp(root, loaded[0]) == loaded[1])
    return describer


def _stamp(root: Path, describer: Describer) -> list[int]:
    """Return the times of the last changes to the settings and to the index that is quoted; 0 without one."""
    paths = (root / "params.yaml", describer.found.folder / INDEX / INDEX_FILE)
    return [path.stat().st_mtime_ns if path.is_file() else 0 for path in paths]


@router.get("")
def form(request: Request) -> Response:
    """Show the form, and begin to load the model for captions in the language of the interface."""
    language = language_of(request)

    def load() -> None:
        try:
            _describer(request, language)
        except HearsightError:
            pass  # the first description says why

    Thread(target=load, name=f"describer {language}", daemon=True).start()
    return _page(request, language)


@router.post("", dependencies=[Depends(protect)])
def describe(
    request: Request,
    captions: Annotated[str, Form()] = "en",
    address: Annotated[str, Form(max_length=2000)] = "",
    file: Annotated[UploadFile | None, File()] = None,
) -> Response:
    """Show the description of an uploaded image, or of what an address names."""
    try:
        return _answer(request, captions, address.strip(), file)
    except HearsightError as error:
        return _page(request, captions, status=status_of(error), address=address, error=error)


@router.get("/speech/{token}")
def speech(request: Request, token: str) -> Response:
    """Send a caption as speech; only captions that this application wrote have such links."""
    text, language = verify(request.app.state.settings.secret, SPEECH, token, SPEECH_SECONDS)
    return Response(say(text, default_voice(language)).clip.flac, media_type="audio/flac")


@router.get("/page/{name}.{kind}")
def download(request: Request, name: str, kind: str) -> Response:
    """Send a described page with its alt-texts, or its proposals as JSON, as a file."""
    found = _pages_of(request).find(name)
    if found is None or kind not in DOWNLOADS:
        raise HTTPException(404, "there is no such description any more; describe the page again")
    address, page = found
    about = {"page": address, "images": [proposal.plain() for proposal in page.proposals]}
    content = page.html() if kind == "html" else (json_line(about) + "\n").encode()
    # The page is somebody else's: saved, and if a browser opens it here anyway, without scripts and without this origin.
    headers = {
        "content-disposition": f'attachment; filename="described.{kind}"',
        "content-security-policy": "sandbox; default-src 'none'",
        "content-type": DOWNLOADS[kind],
    }
    return Response(content, headers=headers)


@contextmanager
def _address_slot(request: Request) -> Iterator[None]:
    """Hold one of the places for addresses, so that slow sites never take the threads that raters need.

    Raises:
        BusyError: all places are taken.
    """
    slots: BoundedSemaphore = request.app.state.services.get("address slots", lambda: BoundedSemaphore(ADDRESSES_AT_ONCE))
    if not slots.acquire(blocking=False):
        raise BusyError("other addresses are being described", hint="try again in a minute")
    try:
        yield
    finally:
        slots.release()


def _answer(request: Request, captions: str, address: str, file: UploadFile | None) -> Response:
    if not is_file(file) and not address:
        raise HearsightError("nothing was given", hint="choose an image, or give an address")
    describer = _describer(request, captions)
    turns = turns_of(request.app.state.services)
    found: Description | DescribedPage
    if is_file(file):

        def read() -> tuple[bytes, Description]:
            data = file.file.read()
            limit_image(data)
            return data, describer.describe(data, "the image")

        data, found = turns.run_upload(read)
        shown = data_uri(data) if len(data) <= SHOWN_BYTES else ""
        return _page(request, captions, description=found, shown=shown, aloud=_aloud(request, found))

    def in_turn(image: bytes, work: Callable[[], T]) -> T:
        limit_image(image)
        return turns.run_image_of_address(work)

    with _address_slot(request):
        root = request.app.state.settings.root
        at, found = describe_address(describer.run_by(in_turn), address, root=root, most=MOST_IMAGES_OF_PAGE)
    if isinstance(found, Description):
        return _page(request, captions, address=address, description=found, aloud=_aloud(request, found))
    name = _pages_of(request).keep(at, found)
    described = [(one, _aloud(request, one.description)) for one in found.proposals]
    limits = next(((one.trained_on, *one.limits) for proposal in found.proposals if (one := proposal.description)), ())
    return _page(request, captions, address=address, page=found, at=at, name=name, described=described, limits=limits)


def _aloud(request: Request, description: Description | None) -> str:
    """Return the address of the speech of a description; empty without a text."""
    if description is None or not description.alt:
        return ""
    return f"/describe/speech/{sign(request.app.state.settings.secret, SPEECH, [description.alt, description.language])}"


def _page(request: Request, captions: str, status: int = 200, **values: Any) -> Response:
    empty: dict[str, Any] = {
        "description": None, "page": None, "error": None, "address": "", "shown": "", "aloud": "", "at": "", "name": "",
        "described": [], "limits": (), "sent_to": place_of_images(request.app.state.settings.root),
    }  # fmt: skip
    return render_page(request, "describe.html", status, captions=captions, caption_languages=LANGUAGES, **(empty | values))
