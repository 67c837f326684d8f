"""Drop pages that refuse to be used, or that lack a consent the crawl requires; one rule for live and archived pages."""

from __future__ import annotations

from dataclasses import replace

from components.core.ledger import dropped
from components.stages.crawl.sources.source_pages import SourcePage
from components.web.answers import Answers
from components.web.urls import host_of


def read_consent(answers: Answers, page: SourcePage) -> SourcePage:
    """Return a page, or the row that drops it for a refusal in its headers or tags."""
    if page.statements and page.row and not page.row["rule"] and (refusal := answers.refuse(page.statements, page.url)):
        return _drop(page, *refusal, "not said", f"said {page.location}")
    return page


def require_consent(answers: Answers, page: SourcePage) -> SourcePage:
    """Return a page, or the row that drops it: its host refuses its use, or it lacks a needed consent.

    A page's consent counts for the images of its host.

    Raises:
        NotFetched: what its host states is missing.
    """
    if page.row is None or page.row["rule"]:
        return page
    if refusal := answers.refuse_host(page.url):
        return _drop(page, *refusal, f"page {page.url}")
    if page.statements and answers.consents(page.statements, page.url):
        images = (candidate.image_url or "" for candidate in page.candidates)
        answers.grant([image for image in images if host_of(image) == host_of(page.url)])
    elif answers.consent.opt_in and not answers.host_agrees(page.url):
        return _drop(page, "no_consent", "said nothing", "a yes", f"neither {page.location} nor by its host")
    return page


def _drop(page: SourcePage, rule: str, value: str, threshold: str, detail: str) -> SourcePage:
    return replace(page, row=dropped(page.url, rule, value, threshold, kind="page", detail=detail), candidates=[])
