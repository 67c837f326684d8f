"""WAT records give the candidates of the pages they describe."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from components.web.archives import wat
from components.web.archives.encodings import BadRecord
from components.web.archives.wat import read_wat_page
from tests.support.web.archive_samples import dumped, envelope, read, record, urls


def test_a_wat_record_gives_its_image_links():
    page = read_wat_page(dumped(envelope()), "http://a.sample/x/y")
    result = [(c.image_url, c.alt, c.position, c.data_uri, c.has_alt) for c in page.candidates]
    assert result == [
        ("http://a.sample/x/a%20b.png", 'A "red" kite \\', 0, False, True),
        ("http://cdn.sample/c.png", "", 1, False, False),
        (None, "", 2, True, True),
    ]
    assert (page.language, page.statements) == ("un", ())


def test_base_and_language_of_a_wat_record():
    metas = [{"http-equiv": "Content-Language", "content": "pt-BR"}]
    page = read_wat_page(dumped(envelope(head={"Base": "http://b.sample/z/", "Metas": metas})), "http://a.sample/x/y")
    assert page.candidates[0].image_url == "http://b.sample/z/a%20b.png"
    assert page.language == "pt"


TEXT = st.text(max_size=12) | st.sampled_from(['"IMG@/src"', '{"path":"IMG@/src"', '"}]', '"Head":{', "\\", '\\"', "robots"])


LINK = st.fixed_dictionaries(
    {"path": st.sampled_from(["IMG@/src", "A@/href", "IMG@/data-src"]), "url": TEXT}, optional={"alt": TEXT, "title": TEXT}
)


@settings(max_examples=300, deadline=None)
@given(st.lists(LINK, max_size=6), TEXT, st.booleans())
def test_the_fast_link_reader_equals_a_full_parse(links, title, spaced):
    record_ = envelope(links, head={"Title": title, "Metas": [{"name": "a", "content": title}]})
    block = json.dumps(record_).encode() if spaced else dumped(record_)
    page = read_wat_page(block, "http://a.sample/x/y")
    bare = [replace(candidate, context=None) for candidate in page.candidates]
    assert bare == wat._candidates(links, "http://a.sample/x/y")
    assert all((candidate.context is not None) == bool(candidate.alt) for candidate in page.candidates)


def test_a_wat_record_tells_what_an_alt_text_repeats():
    headline, teaser = "Storm closes the harbour of Rotterdam", "Four ways to cook an egg"
    links = [{"path": "A@/href", "url": "/a", "text": "Home"}, {"path": "A@/href", "url": "/b", "text": teaser.upper()}]
    alts = [f"Photo: {headline}", teaser, "Home", "A boat at sea", "a boat at sea."]
    links += [{"path": "IMG@/src", "url": "/x", "alt": alt} for alt in alts]
    head = {"Title": f"{headline} | News", "Metas": [{"property": "og:title", "content": "A boat at sea"}]}
    page = read_wat_page(dumped(envelope(links, head=head)), "http://a.sample/")
    contexts = [candidate.context for candidate in page.candidates]
    assert [(c.heading, c.heading_kind, c.link_text, c.site_count) for c in contexts] == [
        (headline, "title", None, 1),
        (None, None, teaser.upper(), 1),
        (None, None, "Home", 1),
        ("A boat at sea", "og:title", None, 2),
        ("A boat at sea", "og:title", None, 2),
    ]


def test_other_metadata_is_skipped_and_broken_metadata_reported():
    assert read_wat_page(b'{"Envelope":{"Payload-Metadata":{"HTTP-Request-Metadata":{}}}}', "http://a.sample/") is None
    for broken in (
        dumped(envelope())[:-30],
        b'{"HTML-Metadata":1}',
        dumped(envelope(links=[3])),
        dumped(envelope(links={"a": 1})),
    ):
        with pytest.raises(BadRecord):
            read_wat_page(broken, "http://a.sample/")
    whole, cut = dumped(envelope()), dumped(envelope())[:-30]
    records_ = [record(body=body, kind="metadata", content_type="application/json") for body in (whole, cut, whole)]
    assert urls(read(b"".join(records_))) == ["http://a.sample/p", "bad_metadata", "http://a.sample/p"]
