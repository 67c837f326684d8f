"""Data Docs hold texts of the web: whatever a record says, the page shows it and nothing of it becomes an element."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from selectolax.lexbor import LexborHTMLParser

from components.stages.check.pages import build
from components.stages.check.parts import of_frame
from components.stages.check.suites import validate

HOSTILE = '</td><img class="evil" src=x onerror=alert(1)><script class="evil">alert(1)</script><a class="evil" href="//a.b">'
LONG, PAIR = HOSTILE * 20, HOSTILE + "$PARAMETER ${v__1} &amp; {{ 7 * 7 }}"
UNMET: list[dict[str, Any]] = [
    {"type": "expect_column_values_to_be_in_set", "column": "text", "value_set": ["a"]},
    {"type": "expect_column_values_to_be_in_set", "column": "text", "value_set": ["a"], "severity": "warning"},
    {"type": "expect_column_values_to_match_regex", "column": "text", "regex": "^<b class='evil'>$"},
    {"type": "expect_column_values_to_be_unique", "column": "text"},
    {"type": "expect_column_value_lengths_to_be_between", "column": "text", "min_value": 1, "max_value": 2},
    {"type": "expect_column_pair_values_to_be_equal", "column_A": "text", "column_B": "other"},
    {"type": "expect_compound_columns_to_be_unique", "column_list": ["text", "other"]},
    {"type": "expect_column_distinct_values_to_be_in_set", "column": "text", "value_set": ["a", HOSTILE + "set"]},
    {"type": "expect_column_most_common_value_to_be_in_set", "column": "text", "value_set": ["a"]},
    {"type": "expect_table_row_count_to_be_between", "min_value": 100},
]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The pages of a table whose every text is hostile."""
    texts = [HOSTILE, HOSTILE, LONG, PAIR, "<!-- " + HOSTILE]
    rows = {"text": texts, "other": [*texts[1:], "x"], "key": texts, "file": texts}
    suite = {"tables": {"shards": [{**entry, "why": f"{HOSTILE} is why"} for entry in UNMET]}}
    folder = tmp_path_factory.mktemp("docs") / "docs"
    build(folder, HOSTILE, validate(suite, Path("suite.json"), {"shards": of_frame(pd.DataFrame(rows))}))
    return sorted(folder.glob("*.html"))


def test_no_value_of_a_record_becomes_an_element(pages: list[Path]) -> None:
    assert [page.name for page in pages] == ["index.html", "shards.html"]
    for page in pages:
        tree = LexborHTMLParser(page.read_text(encoding="utf-8"))
        found = [node.html for node in tree.css(".evil, script, [onerror], [href*='a.b']")]
        assert not found, f"{page.name}: {found[0]}"
        assert tree.body is not None and '<img class="evil"' in tree.body.text(), "the text is there to be read"


def test_pages_run_no_script_and_ask_no_other_host(pages: list[Path]) -> None:
    for page in pages:
        tree = LexborHTMLParser(page.read_text(encoding="utf-8"))
        policy = tree.css_first('head > meta[http-equiv="Content-Security-Policy"]')
        assert policy is not None and "default-src 'none'" in str(policy.attributes["content"])
        assert not tree.css("script, link, iframe, object, [src^='http']")
