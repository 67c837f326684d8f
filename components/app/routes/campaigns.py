"""The owner's page of ratings: how far each is, invitations, and rating oneself."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request
from starlette.responses import RedirectResponse, Response

from components.app import files
from components.app.access import protect, require_owner
from components.app.invitations import DAYS, invitation, invitation_link
from components.app.pages import render_page
from components.app.raters import RATER, UNTIL, rating_items, rating_store, services_of
from components.core.errors import HearsightError
from components.ratings.running import datasets_with_items, own_rater
from components.ratings.summaries import CampaignProgress
from components.stages import evaluate_ratings

router = APIRouter(dependencies=[Depends(require_owner)])
MOST_INVITATIONS = 50


@router.get("/rate")
def campaigns(request: Request) -> Response:
    """Show how far each rating is."""
    return _page(request)


@router.post("/rate/invitations", dependencies=[Depends(protect)])
def invite(
    request: Request, dataset: Annotated[str, Form()], count: Annotated[int, Form()], days: Annotated[int, Form()]
) -> Response:
    """Make links for new raters and show them, this one time."""
    if not 1 <= count <= MOST_INVITATIONS:
        raise HearsightError(f"between 1 and {MOST_INVITATIONS} people can be invited at once", hint="choose another number")
    settings, services = request.app.state.settings, services_of(request)
    invitation(settings.secret, "", days)  # refuses a wrong number of days before raters are made
    rating_items(services, dataset)
    raters = rating_store(services).invite(dataset, count)
    # A proxy on another machine is not believed that it was asked by HTTPS.
    address = str(request.base_url.replace(scheme="https") if settings.https else request.base_url)
    links = [invitation_link(address, invitation(settings.secret, rater, days)) for rater in raters]
    return _page(request, invited=dataset, links=links, days=days)


@router.post("/rate/self", dependencies=[Depends(protect)])
def rate_oneself(request: Request, dataset: Annotated[str, Form()]) -> Response:
    """Let the owner rate, too, as the rater of this project's terminal."""
    services = services_of(request)
    rating_items(services, dataset)
    request.session[RATER] = own_rater(services.settings.root, rating_store(services), dataset)
    request.session[UNTIL] = 0  # the owner needs no invitation
    return RedirectResponse("/rate/task#item", 303)


def _page(request: Request, **values: Any) -> Response:
    services = services_of(request)
    datasets = datasets_with_items(services.settings.root)
    for dataset in datasets:
        rating_items(services, dataset)
    found = {campaign.dataset: campaign for campaign in rating_store(services).campaigns()}
    shown: list[CampaignProgress] = [found[dataset] for dataset in datasets]
    defaults: dict[str, Any] = {"invited": "", "links": [], "days": DAYS}
    return render_page(
        request,
        "rate.html",
        campaigns=shown,
        results=partial(_results, services.settings.root),
        local=request.app.state.settings.local,
        **(defaults | values),
    )


def _results(root: Path, dataset: str) -> str:
    """Return the address of the page that counts the ratings in files; empty if there is none."""
    page = root / "data" / dataset / "evaluate_ratings" / evaluate_ratings.PAGE
    return files.address(root, page) if page.is_file() else ""
