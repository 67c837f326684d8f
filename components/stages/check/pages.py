"""Data Docs of an output: Great Expectations' page of results for each table, and an index of every expectation.

Pages use Great Expectations' renderers without its site builder, which compiles its templates for every page and copies a
megabyte of fonts and images to each site.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from components.core.files import publish_folder
from components.stages.check.verdicts import ExpectationResult, TableResult, arguments_of, columns_of

STYLE = (
    "body{font:15px/1.5 sans-serif;margin:2em;max-width:75em}table{border-collapse:collapse}"
    "td,th{text-align:left;vertical-align:top;padding:.2em 1em .2em 0;border-top:1px solid #ddd}"
    # Names of expectations and values of the web may be longer than the page is wide; other words stay whole.
    "td{overflow-wrap:anywhere;min-width:6em}.checks td{min-width:0}"
    "@media(min-width:60em){.checks td:nth-child(-n+3),.checks td:nth-child(7){overflow-wrap:normal}"
    ".checks td:nth-child(4){min-width:27em}.checks td:nth-child(6){min-width:14em}}"
    # Great Expectations' pages have an icon font's marks, and a banner of its newsletter over the results.
    '.fa-check-circle::before{content:"✓"}.fa-times::before{content:"✗"}.fa-exclamation-triangle::before{content:"!"}'
    "footer{display:none}"
    ".failed td:first-child{color:#a40000;font-weight:bold}.warning td:first-child{color:#8a5a00;font-weight:bold}"
)
POLICY = (
    '<meta http-equiv="Content-Security-Policy" '
    """content="default-src 'none'; style-src 'unsafe-inline'; img-src data:; form-action 'none'; base-uri 'none'">"""
)
"""Values of the web stand in these pages: even if one were not escaped, no script would run and no other host would be asked."""
RANDOM_ID = re.compile(r'\bid="[^"]*([0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12})')
"""Names of a page's elements, which are drawn anew each time."""


def build(docs: Path, name: str, results: Sequence[TableResult]) -> None:
    """Write ``index.html`` and ``<table>.html`` in place of the old site."""

    def fill(folder: Path) -> None:
        for result in results:
            (folder / f"{result.table}.html").write_text(table_page(result), encoding="utf-8")
        (folder / "index.html").write_text(_index(name, results), encoding="utf-8")

    publish_folder(docs, fill, lambda _: False, durable=False)


@cache
def _renderer_and_view() -> tuple[Any, Any]:
    """Return a renderer and a view, which keeps its compiled templates while the process lives."""
    # Imported here: Great Expectations takes seconds to load.
    from great_expectations.render.renderer.page_renderer import ValidationResultsPageRenderer
    from great_expectations.render.view import DefaultJinjaPageView
    from jinja2 import pass_context

    class EscapingView(DefaultJinjaPageView):
        """Great Expectations' view, but a plain text is text: its own writes the values of tables and lists as HTML."""

        @pass_context
        def render_content_block(self, context: Any, content_block: Any, *arguments: Any, **options: Any) -> Any:
            """Return the HTML of one block; texts, alone or in a list, are escaped."""
            if isinstance(content_block, str):
                return html.escape(content_block)
            if isinstance(content_block, list):
                content_block = [
                    html.escape(str(part)) if isinstance(part, str) or not hasattr(part, "get") else part
                    for part in content_block
                ]
            return super().render_content_block(context, content_block, *arguments, **options)

    return ValidationResultsPageRenderer(run_info_at_end=True), EscapingView()


def table_page(result: TableResult) -> str:
    """Return Great Expectations' page of one table's results, without scripts, files of other hosts, times and random ids."""
    renderer, view = _renderer_and_view()
    result.outcome.meta["batch_markers"] = {}  # the time of loading, and a fingerprint of the frame
    page: str = view.render(renderer.render(result.outcome))
    page = re.sub(r"<script\b.*?</script>|<link\b[^>]*>|<img\b[^>]*>", "", page, flags=re.DOTALL)
    page = page.replace("<head>", f"<head>{POLICY}<style>{STYLE}</style>", 1)
    for number, name in enumerate(dict.fromkeys(RANDOM_ID.findall(page))):
        page = page.replace(name, f"id-{number}")
    # The renderer links to pages of the site builder's layout.
    return re.sub(r'"(?:\.\./)+(?:index|expectations/[^"]*)\.html"', '"index.html"', page)


def _index(name: str, results: Sequence[TableResult]) -> str:
    judged = [verdict for result in results for verdict in result.judged]
    failed = sum(1 for verdict in judged if verdict.failure and not verdict.is_warning)
    warnings = sum(1 for verdict in judged if verdict.failure and verdict.is_warning)
    unmet = "".join(_row(verdict) for verdict in judged if verdict.failure)
    head = '<table class="checks"><tr><th>result<th>table<th>columns<th>expectation<th>found<th>why<th>if not met</tr>'
    body = f"<h2>Not met</h2>{head}{unmet}</table>" if unmet else ""
    for result in results:
        rows = "".join(_row(verdict) for verdict in result.judged)
        body += f'<h2><a href="{result.table}.html">{html.escape(result.table)}</a></h2>{head}{rows}</table>'
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8">{POLICY}<title>{html.escape(name)}: checks</title>'
        f"<style>{STYLE}</style><h1>{html.escape(name)}</h1><p>{len(judged)} expectations: {failed} failed, {warnings} warnings. "
        f"A failure stops the pipeline; a warning is about a measured figure and does not.</p>{body}</html>\n"
    )


def _row(judged: ExpectationResult) -> str:
    state = ("warning" if judged.is_warning else "failed") if judged.failure else "met"
    entry = judged.entry
    found = judged.failure.detail if judged.failure else ""
    expected = " ".join(filter(None, (entry["type"], arguments_of(entry))))
    consequence = "warns" if judged.is_warning else "stops"
    cells = (state, judged.table, columns_of(entry), expected, found, entry["why"], consequence)
    return f'<tr class="{state}">' + "".join(f"<td>{html.escape(cell)}" for cell in cells) + "</tr>"
