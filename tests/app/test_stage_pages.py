"""Pages that stages write, in a browser: none is wider than its window, and tables of checks break no word."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from playwright.sync_api import Page

from components.stages.check.pages import build
from components.stages.check.parts import of_frame
from components.stages.check.suites import validate
from components.stages.report.facts import Line, RunReport
from components.stages.report.pages import render_page
from tests.support.report import captioner_scores, scores

pytestmark = pytest.mark.long

WIDTHS = (1100, 1400)
LONG = "a" * 300
ENTRIES: list[dict[str, Any]] = [
    {"type": "expect_column_pair_values_a_to_be_greater_than_b", "column_A": "width", "column_B": "height", "or_equal": True},
    {"type": "expect_column_values_to_be_in_set", "column": "image_sha256", "value_set": [LONG]},
    {"type": "expect_column_value_lengths_to_be_between", "column": "image_sha256", "max_value": 2000, "severity": "warning"},
    {"type": "expect_column_value_lengths_to_be_between", "column": "image_sha256", "max_value": 2, "severity": "warning"},
]
BROKEN_WORDS = """() => {
  const found = [];
  for (const cell of document.querySelectorAll("th, td:nth-child(-n+3), td:nth-child(7)")) {
    for (const node of cell.childNodes) for (const word of node.textContent.matchAll(/\\S+/g)) {
      const range = document.createRange();
      range.setStart(node, word.index);
      range.setEnd(node, word.index + word[0].length);
      if (range.getClientRects().length > 1) found.push(word[0]);
    }
  }
  return found;
}"""


def overflow(page: Page) -> int:
    """By how many px the page is wider than its window."""
    return int(page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth"))


@pytest.fixture(scope="module")
def docs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Data Docs of long values: two expectations fail, one of them as a warning, and another warning is met."""
    frame = pd.DataFrame({"image_sha256": ["b" * 64], "width": [2], "height": [1], "key": ["k"], "file": ["f"]})
    suite = {"tables": {"shards": [{**entry, "why": "a reason of some words"} for entry in ENTRIES]}}
    folder = tmp_path_factory.mktemp("docs") / "docs"
    build(folder, "english/filter", validate(suite, Path("suite.json"), {"shards": of_frame(frame)}))
    return folder


@pytest.mark.parametrize("width", WIDTHS)
def test_tables_of_checks_break_no_word_and_fit_the_window(page: Page, docs: Path, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    page.goto((docs / "index.html").as_uri())
    assert page.evaluate(BROKEN_WORDS) == [] and overflow(page) <= 0
    page.goto((docs / "shards.html").as_uri())
    assert overflow(page) <= 0


def test_what_is_met_is_not_called_a_warning_and_what_would_happen_stands_beside_it(page: Page, docs: Path) -> None:
    page.goto((docs / "index.html").as_uri())
    assert "4 expectations: 1 failed, 1 warnings." in page.inner_text("p")
    rows = [row.locator("td").all_inner_texts() for row in page.locator("table").last.locator("tr").all()[1:]]
    found = sorted((cells[0], cells[6]) for cells in rows)
    assert found == [("failed", "stops"), ("met", "stops"), ("met", "warns"), ("warning", "warns")]


@pytest.mark.parametrize("width", WIDTHS)
def test_the_report_fits_the_window_with_long_texts_and_captioners(page: Page, width: int) -> None:
    report = RunReport("english", captioners=captioner_scores(), scores=scores())
    report.funnel = [Line("english", "filter", 100, 10, {"max_words": 90})]
    report.dropped = {"english/filter": {"max_words": [{"key": "k" * 16, "text": LONG, "value": LONG, "threshold": "<= 3"}]}}
    report.rewritten = [{"alt": LONG, "caption": LONG, "steps": [{"step": "case", "reason": LONG}]}]
    page.set_viewport_size({"width": width, "height": 900})
    page.set_content(render_page(report, []))
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    assert overflow(page) <= 0 and page.locator("pre").count() == 0
    cells = page.locator("tr", has_text="constant caption").locator("td").all_inner_texts()
    assert cells == ["constant caption", "0.250 (0.125 to 0.500)", "–"]
