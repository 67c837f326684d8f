"""Drop pages that refuse to be collected, or that lack a consent the crawl requires; one rule for live and archived pages."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from components.core.ledger import dropped
from components.stages.crawl.sources.source_pages import SourcePage
from components.web.answers import Answers
from components.web.consent_policy import Statement, find_refusal, gives_consent, tdmrep_url
from components.web.urls import host_of


def read_consent(page: SourcePage, statements: Collection[Statement]) -> SourcePage:
    """Return a page with its consent, or the row that drops it for a refusal; ``statements`` are its headers' and meta tags'."""
    if refusal := find_refusal(statements):
        return _drop(page, *refusal, "not said", f"said {page.location}")
    return replace(page, consents=gives_consent(statements))


def require_consent(answers: Answers, page: SourcePage) -> SourcePage:
    """Return a page, or the row that drops it: ``tdmrep.json`` of its host reserves it, or it lacks a needed consent.

    A page's consent counts for the images of its host.

    Raises:
        NotFetched: what its host states is missing.
    """
    if page.row is None or page.row["rule"]:
        return page
    if answers.reserved(page.url):
        return _drop(page, "tdm_reserved", "tdmrep.json: 1", tdmrep_url(page.url), f"page {page.url}")
    if page.consents:
        images = (candidate.image_url or "" for candidate in page.candidates)
        answers.grant([image for image in images if host_of(image) == host_of(page.url)])
    elif answers.consent.opt_in and not answers.host_agrees(page.url):
        return _drop(page, "no_consent", "said nothing", "a yes", f"neither {page.location} nor by its host")
    return page


def _drop(page: SourcePage, rule: str, value: str, threshold: str, detail: str) -> SourcePage:
    return replace(page, row=dropped(page.url, rule, value, threshold, kind="page", detail=detail), candidates=[])
