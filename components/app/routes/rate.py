"""Rating: one item a page, with GOOD, BAD and undo. Nothing that a rater gets tells where an item comes from."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from components.app.access import is_owner, protect
from components.app.files import media_response
from components.app.invitations import read_invitation
from components.app.pages import render_page
from components.app.raters import RATER, UNTIL, leave, rater_of, rating_items, rating_store, services_of
from components.ratings.running import datasets_with_items
from components.ratings.store import RefusedRatingError

router = APIRouter()
Rater = Annotated[str, Depends(rater_of)]
TASK = "/rate/task"
GUIDED, KEYS_OFF = "guided", "keys_off"
"""Keys of the session: the guidelines were read; single keys are switched off."""
NOTES = ("good", "bad", "undone", "late", "nothing")
"""What a page may say about the answer before it."""


def _to_task(note: str = "") -> Response:
    # The fragment moves the focus to the item, also without a script.
    return RedirectResponse(f"{TASK}{f'?after={note}' if note else ''}#item", 303)


@router.get("/rate/invitation")
def invitation(request: Request, token: str) -> Response:
    """Begin or resume a rater's session."""
    rater, until = read_invitation(request.app.state.settings.secret, token)
    rating_store(services_of(request)).join(rater)
    request.session[RATER], request.session[UNTIL] = rater, until
    return _to_task()


@router.get("/rate/guidelines")
def guidelines(request: Request, rater: Rater) -> Response:
    """Say what GOOD and BAD mean, and how the page is used."""
    return render_page(request, "rate_guidelines.html", keys_off=bool(request.session.get(KEYS_OFF)))


@router.post("/rate/guidelines", dependencies=[Depends(protect)])
def begin(request: Request, rater: Rater) -> Response:
    """Begin after reading the guidelines."""
    request.session[GUIDED] = True
    return _to_task()


@router.get(TASK)
def task(request: Request, rater: Rater, after: str = "") -> Response:
    """Show the rater's next item, or that there is none."""
    if not request.session.get(GUIDED):
        return RedirectResponse("/rate/guidelines", 303)
    services = services_of(request)
    store = rating_store(services)
    items = rating_items(services, store.dataset_of(rater))
    key = store.next_item(rater)
    progress = store.progress(rater)
    note = after if after in NOTES else ""
    if key is None:
        return render_page(request, "rate_finished.html", progress=progress, note=note)
    item = items.item(key)
    return render_page(
        request,
        "rate_task.html",
        image=key,
        spoken=bool(item["audio_sha256"]),
        caption=item["caption"],
        caption_language=item["language"],
        progress=progress,
        note=note,
        keys_off=bool(request.session.get(KEYS_OFF)),
    )


@router.post(TASK, dependencies=[Depends(protect)])
def answer(request: Request, rater: Rater, item: Annotated[str, Form()], verdict: Annotated[str, Form()]) -> Response:
    """Save an answer durably, then show the next item."""
    try:
        rating_store(services_of(request)).save(rater, item, verdict)
    except RefusedRatingError:
        return _to_task("late")
    return _to_task(verdict.lower())


@router.post("/rate/undo", dependencies=[Depends(protect)])
def undo(request: Request, rater: Rater) -> Response:
    """Take back the last answer and show its item again."""
    return _to_task("undone" if rating_store(services_of(request)).undo(rater) else "nothing")


@router.post("/rate/keys", dependencies=[Depends(protect)])
def keys(request: Request, rater: Rater) -> Response:
    """Switch single keys on or off."""
    request.session[KEYS_OFF] = not request.session.get(KEYS_OFF)
    return _to_task()


@router.post("/rate/leave", dependencies=[Depends(protect)])
def end(request: Request) -> Response:
    """Log the rater out of this browser."""
    leave(request)
    request.session.pop(GUIDED, None)
    return render_page(request, "left.html", explained="left_explained")


@router.get("/rate/image/{key}")
def image(request: Request, key: str) -> Response:
    """Send the image of an item that this rater was given."""
    return _media(request, key, "image/jpeg")


@router.get("/rate/audio/{key}")
def audio(request: Request, key: str) -> Response:
    """Send the speech of an item that this rater was given."""
    return _media(request, key, "audio/flac")


def _media(request: Request, key: str, media_type: str) -> Response:
    services = services_of(request)
    store = rating_store(services)
    if RATER in request.session:
        rater = rater_of(request)
        datasets = [store.dataset_of(rater)] if store.was_shown(rater, key) else []
    else:
        datasets = datasets_with_items(services.settings.root) if is_owner(request) else []
    for dataset in datasets:
        items = rating_items(services, dataset)
        if key in items and (data := items.image(key) if media_type.startswith("image") else items.audio(key)):
            return media_response(request, data, media_type)
    raise HTTPException(404, "there is nothing here")
