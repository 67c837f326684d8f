"""Pages are rendered by one Jinja environment from one base template."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from components.core.text_encoding import csv_text
from components.reporting import figures, svg
from components.reporting.pages import data_uri, render
from tests.support import PROJECT

PAGE = """{% extends "base.html" %}
{% block title %}{{ name }}{% endblock %}
{% block body %}
<h1>{{ name }}</h1>
{% include "warnings.html" %}
<h2>{{ 1234 | count }}</h2>
{% endblock %}
"""


@pytest.fixture(scope="module")
def templates(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("templates")
    (folder / "page.html").write_text(PAGE)
    return folder


def test_text_is_escaped_and_the_style_comes_with_the_page(templates: Path) -> None:
    html = render(templates, "page.html", name="<b>&")
    assert "<b>" not in html and html.count("&lt;b&gt;&amp;") == 2
    assert "<style>" in html and "<link" not in html and "<h2>1,234</h2>" in html


def test_warnings_are_before_the_first_section_if_there_are_any(templates: Path) -> None:
    assert "warnings" not in render(templates, "page.html", name="a")
    html = render(templates, "page.html", name="a", warnings=["x < y"])
    assert html.index("</h1>") < html.index("x &lt; y") < html.index("1,234")


def test_every_written_page_extends_the_base_and_only_the_application_has_an_environment_of_its_own() -> None:
    components = PROJECT / "components"
    pages = [path for path in components.rglob("data/*.html") if path.parent.parent.name != "reporting"]
    parts = [path for path in pages if path.read_text().startswith('{% extends "base.html" %}')]
    assert {path.stem for path in set(pages) - set(parts)} == {"parts"} and len(parts) == 12
    made = {path.relative_to(components).as_posix(): path.read_text() for path in components.rglob("*.py")}
    made = {name: text for name, text in made.items() if "jinja2" in text}
    # That of the checks' pages is Great Expectations' own.
    assert sorted(made) == ["app/pages.py", "reporting/pages.py", "stages/check/pages.py"]
    assert "Environment" not in made["stages/check/pages.py"]


@pytest.mark.parametrize(
    ("start", "kind"),
    [
        (b"\xff\xd8\xff\xe0", "image/jpeg"),
        (b"RIFF....WEBP", "image/webp"),
        (b"RIFF....WAVE", "audio/wav"),
        (b"fLaC", "audio/flac"),
        (b"?", "application/octet-stream"),
    ],
)
def test_a_file_in_a_page_has_the_type_of_its_content(start: bytes, kind: str) -> None:
    assert data_uri(start).startswith(f"data:{kind};base64,")


@given(st.lists(st.tuples(st.text("a,\"'\n ", max_size=5), st.integers()), max_size=5))
def test_a_table_is_read_back_unchanged(rows: list[tuple[str, int]]) -> None:
    parsed = list(csv.reader(io.StringIO(csv_text(("text", "number"), rows), newline="")))
    assert parsed == [["text", "number"], *([text, str(number)] for text, number in rows)]


@given(st.floats(1e-3, 1))
def test_ticks_start_at_0_do_not_exceed_the_maximum_and_are_few(most: float) -> None:
    ticks = svg.ticks(most, (0.005, 0.01, 0.02, 0.05, 0.1), 6, 0.2)
    assert ticks[0] == 0 and ticks[-1] <= most * (1 + 1e-6) and len(ticks) <= 7


def test_labels_of_a_plot_are_text() -> None:
    drawn = svg.plot(10, 5, 'a "<b>"', [svg.text(1, 2, "<i>")])
    assert "<b>" not in drawn and "<i>" not in drawn and drawn.endswith("</svg>")


def test_equal_figures_are_equal_bytes() -> None:
    def png() -> bytes:
        with figures.drawing(height=1) as (_, (axes,), buffer):
            axes.plot([0, 1], [1, 0])
        return buffer.getvalue()

    assert png() == png() and png().startswith(b"\x89PNG")
