"""Tables that a spreadsheet or a person saved: quotation marks of cells, line breaks in them, encodings and line ends."""

from __future__ import annotations

import csv
import gzip
import io
import json
import logging

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.core.errors import HearsightError
from components.stages.crawl.posts.exported import read_export
from components.stages.crawl.sources.layouts import layout_named
from tests.support.crawl.exported import line as exported_post
from tests.support.crawl.sets import WEB
from tests.support.crawl.tables import captions, crawled, pets, rules

__all__ = ["crawled"]

SPREADSHEET = (
    "A red ball on a table\tp1.jpg\n"
    '"A boy says ""hello"" to a dog"\tp2.jpg\n'
    "Um cão à beira-mar\tp3.jpg\n"
    '"A sign\nwith two lines"\tp4.jpg\n'
)
MEANT = [
    ("A red ball on a table", "p1.jpg"),
    ('A boy says "hello" to a dog', "p2.jpg"),
    ("Um cão à beira-mar", "p3.jpg"),
    ("A sign with two lines", "p4.jpg"),
]
ENCODINGS = ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"]


def read(path, content: bytes | str, layout: str = "tsv", quotes="auto") -> list[tuple[str, str]]:
    """Return caption and image, or rule and line, of the rows of a file."""
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    rows = layout_named(layout, quotes=quotes).rows(path, "set")
    return [(row.rule, str(row.number)) if row.rule else (row.caption, row.file or row.url) for row in rows]


@pytest.mark.parametrize("ends", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("encoding", ENCODINGS)
def test_a_spreadsheets_table_is_read_as_it_shows_it(tmp_path, encoding, ends):
    content = SPREADSHEET.replace("\n", ends).encode(encoding)
    assert read(tmp_path / "captions.tsv", content) == MEANT
    assert read(tmp_path / "captions.tsv.gz", gzip.compress(content)) == MEANT


CELL = st.text(
    st.characters(codec="utf-8", exclude_characters="\r\0", exclude_categories=["Cc", "Zl", "Zp"]), min_size=1
) | st.text(alphabet='ab "\t\n,;', min_size=1)


@settings(max_examples=150, deadline=None)
@given(cells=st.lists(CELL.filter(lambda cell: not ("\t" in cell and "\n" in cell)), min_size=1, max_size=8), data=st.data())
def test_what_a_csv_writer_quotes_is_read_again(tmp_path_factory, cells, data):
    quoting = data.draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    target = io.StringIO()
    writer = csv.writer(target, dialect="excel-tab", quoting=quoting)
    writer.writerows([cell, f"p{number}.jpg"] for number, cell in enumerate(cells))
    rows = read(tmp_path_factory.mktemp("set") / "captions.tsv", target.getvalue(), quotes="spreadsheet")
    assert [(" ".join(caption.split()), file) for caption, file in rows] == [
        (" ".join(cell.split()), f"p{number}.jpg") for number, cell in enumerate(cells)
    ]
    if any(set(cell) & set('\t\n"') for cell in cells):
        assert read(tmp_path_factory.mktemp("set") / "captions.tsv", target.getvalue()) == rows


@settings(max_examples=150, deadline=None)
@given(cells=st.lists(CELL, min_size=1, max_size=8), data=st.data())
def test_a_file_of_commas_semicolons_or_tabs_is_read_as_csv(tmp_path_factory, cells, data):
    target = io.StringIO()
    delimiter, ends = data.draw(st.sampled_from(",;\t")), data.draw(st.sampled_from(["\n", "\r\n"]))
    quoting = data.draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL]))
    writer = csv.writer(target, delimiter=delimiter, quoting=quoting, lineterminator=ends)
    header = [["Caption", "path"]] * data.draw(st.booleans())
    writer.writerows([*header, *([cell, f"p{number}.jpg"] for number, cell in enumerate(cells))])
    rows = read(tmp_path_factory.mktemp("set") / "captions.csv", target.getvalue(), "csv")
    assert rows == [(" ".join(cell.split()), f"p{number}.jpg") for number, cell in enumerate(cells)]


def test_a_row_of_csv_that_does_not_fit_is_a_ledger_row_with_its_line(tmp_path):
    content = b'A dog, on a beach,a.jpg\n"Two\nboats",b.jpg\nA kite,c.jpg\n\xff,d.jpg\nA cat,\n"A ""red"" ball",e.jpg\n'
    assert read(tmp_path / "captions.csv", content, "csv") == [
        ("missing_field", "1"),
        ("Two boats", "b.jpg"),
        ("A kite", "c.jpg"),
        ("bad_encoding", "5"),
        ("missing_field", "6"),
        ('A "red" ball', "e.jpg"),
    ]


def test_a_cell_of_csv_that_is_not_closed_is_a_one_line_error_with_its_line(tmp_path):
    with pytest.raises(HearsightError, match=r"set: line 2: cannot be read as CSV .* — close the quotation mark") as caught:
        read(tmp_path / "captions.csv", 'A dog,a.jpg\n"A kite,b.jpg\nA cat,c.jpg\n', "csv")
    assert "\n" not in str(caught.value)


PUBLISHED = [
    '"hello" he said',
    'a sign that reads " welcome "',
    '" i am not sure',
    '"wet floor"',
    'a 5" pipe',
    '"',
    '""',
    '""best"" of all',
    "a kite",
]


@pytest.mark.parametrize("layout", ["cc3m", "cc12m", "tsv", "cc3m_labels"])
def test_quotation_marks_of_a_published_table_stay(tmp_path, layout):
    forms = {"cc12m": "{url}\t{caption}", "tsv": "{caption}\t{file}", "cc3m_labels": "{caption}\t{url}\t\t\t"}
    images = [{"url": f"{WEB}/{number}.jpg", "file": f"{number}.jpg"} for number in range(len(PUBLISHED))]
    pairs = list(zip(PUBLISHED, images, strict=True))
    lines = [forms.get(layout, "{caption}\t{url}").format(caption=caption, **image) for caption, image in pairs]
    expected = [(caption, image["file" if layout == "tsv" else "url"]) for caption, image in pairs]
    assert read(tmp_path / "set.tsv", "\n".join(lines) + "\n", layout) == expected


def test_the_rows_of_the_rarer_kind_are_left_out(tmp_path):
    torn = '"hello" he said\tp5.jpg\n'
    assert read(tmp_path / "a.tsv", SPREADSHEET + torn) == [*MEANT, ("unclear_quotes", "6")]
    assert read(tmp_path / "b.tsv", torn * 3 + SPREADSHEET) == [
        *[('"hello" he said', "p5.jpg")] * 3,
        MEANT[0],
        ("unclear_quotes", "5"),
        MEANT[2],
        ("unclear_quotes", "7"),
    ]


def test_no_half_caption_of_a_cell_that_is_not_closed_is_kept(tmp_path):
    cut = '"A sign\nwith two lines\tp4.jpg\nA kite\tp5.jpg\n'
    for quotes in ("auto", "spreadsheet"):
        assert read(tmp_path / "a.tsv", SPREADSHEET + cut, quotes=quotes) == [
            *MEANT,
            ("unclear_quotes", "6"),
            ("A kite", "p5.jpg"),
        ]
    assert read(tmp_path / "b.tsv", cut) == [("unclear_quotes", "1"), ("A kite", "p5.jpg")]
    assert read(tmp_path / "c.tsv", SPREADSHEET + '"A sign') == [*MEANT, ("unclear_quotes", "6")]


def test_the_setting_decides_before_the_file_does(tmp_path):
    assert read(tmp_path / "a.tsv", SPREADSHEET, quotes="none")[1] == ('"A boy says ""hello"" to a dog"', "p2.jpg")
    content = '"wet floor"\tp1.jpg\na 5" pipe\tp2.jpg\n"hello" he said\tp3.jpg\n'
    assert read(tmp_path / "b.tsv", content, quotes="spreadsheet") == [
        ("wet floor", "p1.jpg"), ('a 5" pipe', "p2.jpg"), ("unclear_quotes", "3"),
    ]  # fmt: skip


def test_unclear_rows_are_one_warning_that_names_the_setting(crawled, tmp_path, caplog):
    pets(
        tmp_path / "pets",
        header="",
        more='"A ""kite"""\timages/0 ü.jpg\n"so" it is\timages/1 ü.jpg\n"no" it is\timages/2 ü.jpg',
    )
    with caplog.at_level(logging.WARNING):
        output = crawled("pets/captions.tsv")
    assert len(captions(output)) == 8 and rules(output) == ["unclear_quotes"]
    warnings = [record.getMessage() for record in caplog.records if "quot" in record.getMessage()]
    assert len(warnings) == 1 and "1 rows" in warnings[0] and "crawl.source.quotes" in warnings[0]
    forced = crawled("pets/captions.tsv", quotes="none", snapshot="forced")
    assert captions(forced)[-3:] == ['"A ""kite"""', '"so" it is', '"no" it is'] and rules(forced) == []


@pytest.mark.parametrize("encoding", ENCODINGS)
def test_documents_in_any_encoding_are_read(tmp_path, encoding):
    posts = [exported_post(number) for number in (1, 2)]
    path = tmp_path / "posts.jsonl"
    path.write_bytes("\r\n".join(json.dumps(post, ensure_ascii=False) for post in posts).encode(encoding))
    pages = list(read_export(path, "posts.jsonl", ["pracegover"]))
    assert [page.row["rule"] for page in pages if page.row and page.row["rule"]] == [] and {page.post for page in pages} == {
        "p1",
        "p2",
    }
    document = [{"user": "ana", "filename": "a.jpg", "caption": "Um cão à beira-mar.", "date": ""}]
    (tmp_path / "dataset.json").write_bytes(json.dumps(document, ensure_ascii=False).encode(encoding))
    (row,) = layout_named("pracegover").rows(tmp_path / "dataset.json", "dataset.json")
    assert (row.caption, row.file) == ("Um cão à beira-mar.", "a.jpg")
