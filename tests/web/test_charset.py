"""The charset of a page is the one that browsers find, and every reader of HTML uses it."""

from __future__ import annotations

import codecs
import time

import pytest
from hypothesis import strategies as st

from components.tools.describe.page import find_images
from components.web.archives.any_input import read_input
from components.web.charset import find_codec, parse_charset
from components.web.html.page import decode, read_page
from components.web.html.pairs import read_fast
from tests.support.web.archive_samples import read, record

LATE = b"<!DOCTYPE html><head>" + b"<link rel=x href=y>" * 100
DOCUMENTS = {
    b'<!-- <meta charset="iso-8859-1"> --><meta charset="utf-8">': "utf-8",
    b"<!--><meta charset=koi8-r>-->": "koi8-r",
    b"<!-- <meta charset=koi8-r>": "utf-8",
    b'<meta name="description" content="Write charset=iso-8859-1"><meta charset="utf-8">': "utf-8",
    b'<meta name="description" content="Write charset=iso-8859-1">': "utf-8",
    b"<meta http-equiv=refresh content='0; url=?charset=koi8-r'><meta charset=windows-1251>": "cp1251",
    b"<META CONTENT='text/html; charset = \"Shift_JIS\" ' HTTP-EQUIV=Content-Type>": "cp932",
    b"<meta http-equiv=content-type content='text/html; charset=koi8-r' charset=iso-8859-2>": "iso8859-2",
    b"<meta http-equiv=content-type content='text/html; charset=koi8-r' charset=unknown>": "utf-8",
    b"<meta charset=unknown><meta charset=koi8-r>": "koi8-r",
    b"<meta charset=koi8-r charset=iso-8859-2>": "koi8-r",
    b"<meta/charset=koi8-u >": "koi8-u",
    b"<meta charset='koi8-r": "utf-8",
    b"<metax charset=koi8-r>": "utf-8",
    b"<meta data-charset=koi8-r>": "utf-8",
    b'<a title="<meta charset=koi8-r>"><meta charset=big5>': "big5hkscs",
    b"<script>write('<meta charset=koi8-r>')</script><meta charset=windows-1251>": "cp1251",
    b"<title>The <meta charset=koi8-r> tag</title>": "utf-8",
    b"<script>x = 'charset=koi8-r'</script>": "utf-8",
    b"<meta charset=utf-16>": "utf-8",
    b"<meta charset=utf-16be>": "utf-8",
    b"<meta charset=x-user-defined>": "cp1252",
    b"<meta charset=utf-7>": "utf-8",
    b"<meta charset=rot13>": "utf-8",
    LATE + b"<meta charset=koi8-r>": "koi8-r",
    b"<head><!--" + b"x" * 3000 + b"--><meta charset=koi8-r>": "koi8-r",
    b"<head><script>" + b"x;" * 3000 + b"</script><meta charset=koi8-r>": "koi8-r",
    LATE + b"</head><meta charset=koi8-r>": "utf-8",
    b"<p>x</p>" * 300 + b"<meta charset=koi8-r>": "utf-8",
    b"<?xml version='1.0' encoding='koi8-r'?><html>": "koi8-r",
    b'<?xml version="1.0" encoding="utf-16"?><html>': "utf-8",
    b'<?xml version="1.0" encoding="koi8-r"?><meta charset=windows-1251>': "cp1251",
    "<?xml version='1.0'?><p>é".encode("utf-16-le"): "utf-16-le",
    codecs.BOM_UTF8 + b"<meta charset=koi8-r>": "utf-8",
    codecs.BOM_UTF16_BE + "<meta charset=koi8-r>".encode("utf-16-be"): "utf-16-be",
    b"<p>\xe9": "cp1252",
    b"<p>\xc3\xa9": "utf-8",
}
"""Document → codec. Chromium reads them so, except the four that state nothing and are UTF-8, which it reads as Windows-1252."""


@pytest.mark.parametrize("document", DOCUMENTS)
def test_the_charset_of_a_document_is_that_of_browsers(document):
    assert find_codec(document)[0].name == DOCUMENTS[document]


@pytest.mark.parametrize(
    ("labels", "codec"),
    [
        ("iso-8859-1 ascii latin1 us-ascii cp819 l1 x-cp1252", "cp1252"),
        ("shift_jis x-sjis windows-31j ms_kanji csShiftJIS", "cp932"),
        ("euc-kr ks_c_5601-1987 windows-949 korean ksc5601", "cp949"),
        ("gb2312 gbk x-gbk gb18030 chinese csGB2312 iso-ir-58", "gb18030"),
        ("big5 big5-hkscs x-x-big5 cn-big5", "big5hkscs"),
        ("tis-620 iso-8859-11 dos-874 windows-874", "cp874"),
        ("iso-8859-9 latin5 windows-1254 l5", "cp1254"),
        ("iso-8859-8-i logical iso-8859-8 visual hebrew", "iso8859-8"),
        ("macintosh mac x-mac-roman", "mac-roman"),
        ("utf8 unicode-1-1-utf-8 x-unicode20utf8", "utf-8"),
    ],
)
def test_labels_name_the_encodings_of_the_standard(labels, codec):
    for label in labels.split():
        for document, header in ((f"<meta charset=' {label.upper()}\n'>".encode(), None), (b"<p>", label)):
            assert find_codec(document, header)[0].name == codec, label


def test_a_mark_precedes_the_header_and_the_header_the_page():
    page = b"<meta charset=koi8-r>\xc1"
    assert find_codec(page, "iso-8859-2")[0].name == "iso8859-2"
    assert find_codec(page, "unknown")[0].name == find_codec(page, "")[0].name == "koi8-r"
    assert find_codec(codecs.BOM_UTF8 + page, "iso-8859-2") == (codecs.lookup("utf-8"), 3)
    assert find_codec("é".encode("utf-16-le"), "utf-16")[0].name == "utf-16-le"


@pytest.mark.parametrize(
    ("content_type", "charset"),
    [
        ("text/html; charset=utf-8", "utf-8"),
        ("text/html;CHARSET = 'koi8-r' ; x=y", "koi8-r"),
        ('text/html; charset="big5"', "big5"),
        ("text/html, text/html; charset=koi8-r, text/html", "koi8-r"),
        ("text/html; charset=", None),
        ("text/html", None),
        ("", None),
    ],
)
def test_the_charset_of_a_content_type(content_type, charset):
    assert parse_charset(content_type) == charset


ALT = "Um cão à beira-mar"
CASES = {
    "comment": (f'<!-- <meta charset="iso-8859-1"> --><meta charset="utf-8"><img src=a alt="{ALT}">', "utf-8"),
    "description": (f'<meta name=d content="charset=latin1"><meta charset=UTF8><img src=a alt="{ALT}">', "utf-8"),
    "utf-16": (f'<meta charset=utf-16><img src=a alt="{ALT}">', "utf-8"),
    "latin": (f'<meta charset=us-ascii><img src=a alt="{ALT}">', "cp1252"),
    "japanese": ('<meta charset=shift_jis><img src=a alt="①番の犬">', "cp932"),
    "korean": ('<meta charset=ks_c_5601-1987><img src=a alt="뷁 강아지">', "cp949"),
    "chinese": ('<meta charset=gb2312><img src=a alt="镕 一只狗">', "gb18030"),
    "nothing": (f'<img src=a alt="{ALT}">', "utf-8"),
}


@pytest.mark.parametrize("name", CASES)
def test_every_reader_of_html_uses_the_same_charset(name, tmp_path):
    text, codec = CASES[name]
    page, expected = text.encode(codec), text.rpartition('alt="')[2][:-2]
    (tmp_path / "page.html").write_bytes(page)
    pages = [read_page(page, "http://a.sample/"), read_fast(page, "http://a.sample/", context=False)]
    pages += read(record(body=page, status=("200 OK", [("Content-Type", "text/html")])))
    pages += read_input(str(tmp_path / "page.html"))
    assert [page.candidates[0].alt for page in pages] == [expected] * 4
    _, described, writable = find_images(page, "http://a.sample/", None)
    assert writable and described == codec


def test_bytes_that_an_encoding_lacks_become_replacement_characters():
    assert decode(b"<meta charset=shift_jis>\x87\x40\x81 !").endswith("①\ufffd !")
    assert set(decode(b"<meta charset=hz-gb-2312>~{<:Ky~}")) == {"\ufffd"}


@pytest.mark.parametrize(
    "piece",
    ["<", "<a ", "<a b='", "<!--", "<meta>", "<script>", "<style></style>", '<meta charset=x a="', "<!", "<?xml encoding=", "</"],
)
def test_no_document_makes_the_search_slow(piece):
    started = time.process_time()
    for document in (piece * 300_000, "<title></title>" + piece * 300_000, "<meta content='" + "charset  " * 300_000):
        find_codec(document.encode())
    assert time.process_time() - started < 5.0


LABELS = st.sampled_from(["windows-1251", "koi8-r", "ISO-8859-2", "utf-8"])  # the reference stops at an unknown one
QUOTED = st.sampled_from(["{}", "'{}'", '"{}"', " '{}' ", "\t{}"])
TYPE = st.sampled_from(["http-equiv=content-type", "http-equiv='Content-Type'", "http-equiv=refresh", "name=d", ""])
META = st.one_of(
    st.builds(lambda label, quoted, more: f"<meta {more} charset={quoted.format(label)}>", LABELS, QUOTED, TYPE),
    st.builds(lambda label, kind: f'<meta content="text/html; charset={label}" {kind}>', LABELS, TYPE),
)
