"""Labelled alt-texts are read alike from JSON lines and CSV; what cannot be read is named with its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.tools.labelled import read_labelled
from components.web.html.context import Context


def test_json_lines_and_csv_give_the_same_texts(tmp_path: Path) -> None:
    rows = [
        {"text": "A  dog, on a beach", "verdict": "keep", "page": "http://dogs.test/1", "heading": "A dog", "site_count": 2},
        {"text": "Dogs", "verdict": "drop", "site": "cats.test"},
    ]
    lines, table = tmp_path / "labelled.jsonl", tmp_path / "labelled.csv"
    lines.write_text("\n".join(map(json.dumps, rows)) + "\n\n")
    table.write_text(
        "text,verdict,page,site,heading,site_count\n"
        '"A  dog, on a beach",keep,http://dogs.test/1,,A dog,2\n'
        "Dogs,drop,,cats.test,,\n"
    )
    first, second = read_labelled(lines)
    assert (first.text, first.keep, first.site) == ("A dog, on a beach", True, "dogs.test")
    assert first.context == Context(heading="A dog", site_count=2)
    assert (second.keep, second.site, second.context) == (False, "cats.test", None)
    assert read_labelled(table) == [first, second]


def test_a_context_without_facts_is_a_known_page(tmp_path: Path) -> None:
    path = tmp_path / "labelled.jsonl"
    path.write_text('{"alt": "A dog", "verdict": "keep", "context": {"heading": null}}')
    assert read_labelled(path)[0].context == Context()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ('{"text": "A dog"}', "line 1 has no verdict"),
        ('{"verdict": "keep"}', "line 1 has no text"),
        ('{"text": "A dog", "verdict": "keep"}\n{broken', "line 2 is no JSON"),
        ("text,verdict\nA dog,perhaps", "line 2 has no verdict"),
    ],
)
def test_a_row_without_text_or_verdict_is_refused_with_its_line(content: str, problem: str, tmp_path: Path) -> None:
    path = tmp_path / "labelled"
    path.write_text(content)
    with pytest.raises(HearsightError) as error:
        read_labelled(path)
    assert problem.replace(" ", "") in str(error.value).replace(":", "").replace(" ", "")
