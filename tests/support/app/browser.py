"""How a browser is started, and what axe finds on its page."""

from __future__ import annotations

from typing import Any

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

OPTIONS = [
    "--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--disable-sync",
    "--no-first-run", "--disable-dev-shm-usage",
]  # fmt: skip
RULES = {"runOnly": {"type": "tag", "values": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}}
"""WCAG 2.2 at level AA, and the practices that axe recommends."""


def assert_accessible(page: Page) -> None:
    """Fail with the violations of WCAG 2.2 AA that axe finds on the page."""
    # After a click elements may be there before the style sheet is.
    page.wait_for_load_state("load")
    results: Any = Axe().run(page, options=RULES)
    assert results.violations_count == 0, results.generate_report()
