"""Checks of pages: HTML by tree and by scanner, srcset, addresses."""

from __future__ import annotations

import re
from ctypes import addressof, c_char
from functools import cache
from urllib.parse import urlsplit

import numpy as np

from tests.fuzz.checks.common import PAGE, address, candidates, shown, storable

HINTS = (None, "utf-8", "latin-1", "shift_jis", "gb2312", "utf-16", "utf-7", "iso-2022-jp", "idna", "nonsense")


def html(data: bytes) -> None:
    """A page is read without an error, what comes out can be used, and scanner and tree agree.

    An input that begins with NUL states its charset in its second byte.
    """
    from components.web.html.page import read_page
    from components.web.html.pairs import read_fast

    hint = None
    if data[:1] == b"\0" and len(data) > 1:
        hint, data = HINTS[data[1] % len(HINTS)], data[2:]
    _as_ints()
    page = read_page(data, PAGE, hint)
    candidates(page.candidates)
    storable(page)
    for link in page.links:
        address(link)
    fast = read_fast(data, PAGE, hint, context=False)
    assert fast.candidates == page.candidates, "scanner and tree disagree"
    assert fast.statements == page.statements, "scanner and tree disagree on statements"


def alts(data: bytes) -> None:
    """Alt-texts are written into every image that lacks one, or the page is not writable; no other byte changes.

    An input that begins with NUL states its charset as for :func:`html`.
    """
    from components.core.errors import HearsightError
    from components.tools.describe.image_tags import Alt, write_alts
    from components.tools.describe.page import find_images

    hint = None
    if data[:1] == b"\0" and len(data) > 1:
        hint, data = HINTS[data[1] % len(HINTS)], data[2:]
    try:
        images, codec, writable = find_images(data, PAGE, hint)
    except HearsightError:
        return  # too many images
    assert all((image.tag is not None) == writable for image in images)
    tags = [tag for image in images for tag in (image.tag, image.twin) if tag is not None]
    mark = '"><script>é猫'
    written = write_alts(data, [Alt(tag, mark, "proposed") for tag in tags], codec)
    added = (
        b" "
        + write_alts(b"<img>", [Alt(tag._replace(insert_at=4, attributes={}), mark, "proposed") for tag in tags[:1]], codec)[5:-1]
    )
    assert written.replace(added, b"") == data.replace(added, b""), "another byte has changed"
    if writable:
        again, *_ = find_images(written, PAGE, hint)
        assert not again, "an image still lacks its alt-text"


@cache
def _as_ints() -> None:
    """Run the scanner with Python integers when interpreted, as numba uses them; numpy's would overflow."""
    from numba import config

    if not config.DISABLE_JIT:
        return
    from components.web.html import machine_code, page_context, scan, tags, word_signs

    def view(place, *shape):
        size = 8 * shape[0] * shape[-1] if len(shape) > 1 else shape[0]
        array = np.frombuffer((c_char * size).from_address(addressof(place._obj)), np.int64 if shape[1:] else np.uint8)
        return array.reshape(shape)

    def find_tags(data, size, agent, agent_size, rows, most_rows, texts, most_texts, buffer, state):
        numbers = view(state, 1, tags.STATE_SIZE)[0]
        tables = view(rows, most_rows, 3), view(texts, most_texts, 5), view(buffer, size + 64)
        numbers[:3] = tags.find_tags(data, agent, *tables, numbers)

    def match(data, size, texts, count, marked_alts, alts, marked_texts):
        word_signs.match(data, view(texts, count, 5), view(marked_alts, alts), view(marked_texts, count))

    functions = machine_code.MachineCode(find_tags, match, None)
    for module in (scan, page_context):
        module.load_scanner = lambda: functions


def srcset(data: bytes) -> None:
    """Check that every srcset candidate is an address of the attribute with a valid size."""
    from components.web.html.offers import parse_srcset

    text = data.decode("utf-8", "surrogateescape")
    at = 0
    for width, density, url in parse_srcset(text):
        assert 0 <= width < 10**6 and 0 <= density < 10**5
        assert url and not re.search(r"[ \t\r\n\f]", url)
        at = text.index(url, at) + len(url)


def urls(data: bytes) -> None:
    """An address (the second line is the page's) has one spelling, one host for every reader, and one way to be joined."""
    from yarl import URL

    from components.web.html.resolve import Resolver
    from components.web.urls import is_private, make_absolute

    reference, _, base = data.decode("utf-8", "surrogateescape").partition("\n")
    base = base or PAGE
    result = make_absolute(reference, base)
    assert Resolver(base)(reference) == result, "the fast resolver disagrees"
    is_private(reference)
    if result is None:
        return
    shown(result)
    address(result)
    host = urlsplit(result).hostname or ""
    is_private(host)
    # What is asked for is what was judged.
    assert (URL(result, encoded=True).raw_host or "") == host, "two readers of an address see two hosts"
