"""Try the rules and the rewriting on the images of pages, each with its page around it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from components.core.errors import HearsightError
from components.stages.filter.cascade import PAGE_GROUPS
from components.tools.trial import Trial
from components.web.archives import summarize
from components.web.archives.any_input import read_input
from components.web.archives.reading import ArchivePage

TEXT = "caption, or dropped alt-text"
"""Main column of the table."""


def read_pages(paths: Iterable[str], problems: list[str]) -> Iterator[ArchivePage]:
    """Yield the pages of HTML files and archives; what could not be read is added to ``problems``, a line each."""
    for path in paths:
        skipped, found = Counter[str](), 0
        try:
            for page in read_input(path, skipped=skipped, context=True):
                if page.failure:
                    problems.append(f"{path}: {page.failure} at byte {page.offset}: {page.detail or page.url}")
                else:
                    found += 1
                    yield page
            if not found:
                problems.append(f"{path}: {summarize(found, skipped)}")
        except HearsightError as error:
            problems.append(str(error))


def judge_pages(trial: Trial, pages: Iterable[ArchivePage]) -> Iterator[tuple[ArchivePage, list[dict[str, Any]]]]:
    """Yield each page that has an image with an alt-text, with a result for each of them in the order of the page.

    A result is that of :meth:`Trial.of` with ``page``, ``image`` and ``position``.
    """
    for page in pages:
        candidates = [candidate for candidate in page.candidates if candidate.alt]
        subjects = [replace(trial.subject(each.alt), language=page.language, context=each.context) for each in candidates]
        if subjects:
            origins = [
                {"page": page.url, "image": each.image_url, "position": each.position, "alt": each.alt} for each in candidates
            ]
            yield page, [origin | result for origin, result in zip(origins, trial.judge(subjects, PAGE_GROUPS), strict=True)]


def table_row(result: Mapping[str, Any]) -> dict[str, str]:
    """Return a result as a row of a table for people: the caption of a kept text, or a dropped alt-text and what decided."""
    if result["rule"] is None:
        return {"verdict": "kept", TEXT: result["caption"], "value": ""}
    return {"verdict": result["rule"], TEXT: result["alt"], "value": str(result["value"])}


def summary_rows(results: Iterable[Mapping[str, Any]]) -> list[dict[str, str]]:
    """Return how many texts were kept, and how many each rule dropped, with their share."""
    verdicts = Counter(result["rule"] or "kept" for result in results)
    kept, total = verdicts.pop("kept", 0), sum(verdicts.values())
    rows = [("kept", kept), *sorted(verdicts.items(), key=lambda item: (-item[1], item[0]))]
    return [
        {"verdict": name, "texts": f"{count:,}", "share": f"{100 * count / max(1, total + kept):.1f} %"} for name, count in rows
    ]
