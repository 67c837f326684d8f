"""Read pages within their budget of CPU time, memory, images and links.

Crafted markup takes an HTML parser quadratic or cubic time (75 kB of misnested ``<b>``: 5 s) and gigabytes of memory. The
compiled parser cannot be interrupted, so pages that are not small are read in a child process with kernel limits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from components.execution.limits import ItemFailure, run_limited
from components.web.budget import Budget
from components.web.html.language import load_model
from components.web.html.machine_code import load_scanner
from components.web.html.page import Page, PageOverBudget, read_page

SMALL = 8_000
"""Bytes or characters up to which a page is read without a child: the worst known markup then takes 0.1 s and 150 MB."""
_REASONS = {"cpu": "out of CPU time", "memory": "out of memory", "crash": "the parser crashed"}

Result = TypeVar("Result")


class Source(NamedTuple):
    """A page to be read."""

    html: bytes | str
    url: str
    charset: str | None
    """Charset of its HTTP header."""
    agent: str = "hearsight"
    """Our product token; what the page states for it is read."""


def read_pages_within(sources: Sequence[Source], budget: Budget) -> list[Page | Exception]:
    """Read pages with ``read_page``; one child reads all that are not small. Returns as :func:`read_in_child`."""

    def read_source(source: Source) -> Page:
        return read_page(*source, most_images=budget.page_images, most_links=budget.page_links)

    outcomes = iter(read_in_child(read_source, [source for source in sources if len(source.html) > SMALL], budget))
    return [next(outcomes) if len(source.html) > SMALL else _outcome(read_source, source) for source in sources]


def read_in_child(read: Callable[[Source], Page], sources: Sequence[Source], budget: Budget) -> list[Page | Exception]:
    """Read pages in child processes with limits per page; a new child continues after a page that ended one.

    Returns:
        For each page its content, a :class:`PageOverBudget`, or any other exception, which is a defect.
    """
    if not sources:
        return []
    if not all(_may_state_language(source.html) for source in sources):
        load_model()  # once, not in each child
    load_scanner()
    read_outcome = partial(_outcome, read)
    outcomes = run_limited(read_outcome, sources, seconds=budget.page_seconds, memory=budget.page_memory)
    return [make_over_budget(outcome, budget) if isinstance(outcome, ItemFailure) else outcome for outcome in outcomes]


def _may_state_language(html: bytes | str) -> bool:
    return (b"lang=" if isinstance(html, bytes) else "lang=") in html[:4096]  # type: ignore[operator]


def _outcome(read: Callable[[Source], Page], source: Source) -> Page | Exception:
    try:
        return read(source)
    except MemoryError:
        raise
    except Exception as error:
        return error


def call_limited(read: Callable[[], Result], budget: Budget) -> Result:
    """Return the result of ``read``, called in a child process with the limits of a page.

    Raises:
        PageOverBudget: the child runs out of CPU time or memory, or crashes.
    """
    load_scanner()
    (result,) = run_limited(lambda _: read(), [None], seconds=budget.page_seconds, memory=budget.page_memory)
    if isinstance(result, ItemFailure):
        raise make_over_budget(result, budget)
    return result


def make_over_budget(over: ItemFailure, budget: Budget) -> PageOverBudget:
    """Return the error for a page that ended its child."""
    thresholds = {"cpu": f"{budget.page_seconds:g} s", "memory": f"{budget.page_memory} bytes"}
    return PageOverBudget(_REASONS[over.reason], thresholds.get(over.reason, "a page that can be read"))
