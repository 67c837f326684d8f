"""Collect the texts of a page's title, headings, links and figcaptions; compiled into the scanner of ``tags``.

While one of them is open, the page's text is copied to a buffer: tags of blocks become a space, other tags and comments a mark.
So texts inside each other share it. ``state`` holds what is open, as int64. A text ends at its own end tag, at the start of the
next of its kind, or at the page's end; one longer than ``MOST`` is no headline and left out, a figcaption is cut.

Words are compared by signatures first, so that few texts are decoded: a signature has a bit for each word (``|``-ed, so the words
of a part are a subset), beside their number.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from components.web.html.context import CAPTION_LIMIT, LIMIT, MIN_WORDS

TITLE, LINK, CAPTION = 0, 7, 8
"""Kinds of texts; those of headings are their level, 1 to 6."""
(
    OPEN,
    SIZE,
    COUNT,
    HIDDEN,
    TITLES,
    HEADING_TEXT,
    LEVEL,
    LINK_TEXT,
    LINK_HREF,
    HREF_END,
    ACTS,
    BUTTONS,
    CAPTION_TEXT,
    FIGURE,
    FIGURES,
    DEPTH,
) = range(16)
"""Fields of ``state``: number of open texts; filled part of the buffer; texts so far; whether in ``<noscript>``; titles so far;
start of the open heading (-1: none) and its level; start of the open link's text; bounds of the ``href`` of the link around (-1:
none) and whether it acts as a button; whether in a ``<button>``; start of the open figcaption and its figure; figures so far, how
many are open, and after ``STACK`` the number of each."""
STACK, DEEPEST_FIGURE = 16, 62
STATE_SIZE = STACK + DEEPEST_FIGURE + 2
MOST = 4 * LIMIT
"""Bytes of the longest text of a heading or link."""
MOST_OF_CAPTION = 4 * CAPTION_LIMIT
GAP, INLINE = 32, 1
"""Bytes that stand for the tag of a block, and for another tag or a comment."""


@njit
def reset(state):  # type: ignore[no-untyped-def]
    state[:] = 0
    for field in (HEADING_TEXT, LINK_TEXT, LINK_HREF, CAPTION_TEXT):
        state[field] = -1


@njit
def add_text(data, at, stop, buffer, state):  # type: ignore[no-untyped-def]
    """Copy text to the buffer if something is open; close what has become too long."""
    if state[HIDDEN]:
        return
    size = state[SIZE]
    for i in range(at, stop):
        buffer[size] = data[i]
        size += 1
    state[SIZE] = size
    for field in (HEADING_TEXT, LINK_TEXT):
        if state[field] >= 0 and size - state[field] > MOST:
            state[field] = -1
            state[OPEN] -= 1


@njit
def add_byte(byte, buffer, state):  # type: ignore[no-untyped-def]
    buffer[state[SIZE]] = byte
    state[SIZE] += 1


@njit
def open_text(field, state):  # type: ignore[no-untyped-def]
    state[field] = state[SIZE]
    state[OPEN] += 1


@njit
def close_text(field, kind, buffer, texts, state):  # type: ignore[no-untyped-def]
    """Add an open text to ``texts`` as kind, start, end, signature and number of words; of a figcaption its figure instead."""
    start, end = state[field], state[SIZE]
    if start < 0:
        return
    state[field] = -1
    state[OPEN] -= 1
    if kind == CAPTION:
        add_text_row(texts, state, kind, start, min(end, start + MOST_OF_CAPTION), state[FIGURE], 0)
    else:
        bits, words = sign(buffer, start, end)
        if words:
            add_text_row(texts, state, kind, start, end, bits, words)


@njit
def add_text_row(texts, state, kind, start, end, signature, words):  # type: ignore[no-untyped-def]
    """Add a row unless the table is full; the count goes on, so that the caller can make a larger one."""
    row = state[COUNT]
    if row < len(texts):
        texts[row, 0], texts[row, 1], texts[row, 2], texts[row, 3], texts[row, 4] = kind, start, end, signature, words
    state[COUNT] += 1


@njit
def close_all(buffer, texts, state):  # type: ignore[no-untyped-def]
    close_text(HEADING_TEXT, state[LEVEL], buffer, texts, state)
    close_text(LINK_TEXT, LINK, buffer, texts, state)
    close_text(CAPTION_TEXT, CAPTION, buffer, texts, state)


@njit
def open_figure(buffer, texts, state):  # type: ignore[no-untyped-def]
    close_text(CAPTION_TEXT, CAPTION, buffer, texts, state)
    state[FIGURES] += 1
    state[DEPTH] = min(state[DEPTH] + 1, DEEPEST_FIGURE)
    state[STACK + state[DEPTH]] = state[FIGURES]


@njit
def open_caption(buffer, texts, state):  # type: ignore[no-untyped-def]
    close_text(CAPTION_TEXT, CAPTION, buffer, texts, state)
    if state[DEPTH]:
        state[FIGURE] = state[STACK + state[DEPTH]]
        open_text(CAPTION_TEXT, state)


@njit
def _is_mark(data, at, end):  # type: ignore[no-untyped-def]
    """Return the size of the UTF-8 sequence at ``at`` if it separates words, 0 for an apostrophe's minus its size, else 0.

    U+0080 to U+00BF, U+2000 to U+2FFF and U+3000 to U+303F separate; U+2018 and U+2019 are apostrophes.
    """
    first = data[at]
    if first == 0xC2:
        return 2
    if end - at > 2 and first == 0xE2:
        return -3 if data[at + 1] == 0x80 and 0x98 <= data[at + 2] <= 0x99 else 3
    return 3 if first == 0xE3 and end - at > 2 and data[at + 1] == 0x80 else 0


@njit
def sign(data, at, end):  # type: ignore[no-untyped-def]
    """Return the signature of a text and the number of its words; of one with character references minus those that are sure.

    A word's bit depends on its ASCII letters without case and its number of other characters.
    """
    bits, words, unsure = np.int64(0), 0, False
    while at < end:
        hashed, letters, doubtful = np.int64(0), 0, False
        while at < end:  # a word
            byte = data[at]
            if 97 <= (byte | 32) <= 122 or 48 <= byte <= 57:
                hashed = (hashed * 31 + ((byte | 32) if byte > 57 else byte)) & 0x3FFFFFF
                letters += 1
            elif byte == 39 or byte == 96:
                pass
            elif byte > 127:
                mark = _is_mark(data, at, end)
                if mark > 0:
                    break
                if mark < 0:
                    at += 2
                elif byte >= 0xC0:
                    hashed, letters = (hashed * 31 + 1) & 0x3FFFFFF, letters + 1
            else:
                break
            at += 1
        if at < end and data[at] == 38:
            unsure = doubtful = True
        if letters and not doubtful:
            bits |= np.int64(1) << (hashed % 63)
            words += 1
        if at < end:
            if data[at] == 38:  # a character reference: its name is no word, and what follows may belong to the word before
                at += 1
                while at < end and (97 <= (data[at] | 32) <= 122 or 48 <= data[at] <= 57 or data[at] == 35):
                    at += 1
                at += at < end and data[at] == 59
                while at < end and (97 <= (data[at] | 32) <= 122 or 48 <= data[at] <= 57 or data[at] > 127 or data[at] == 39):
                    at += 1
            else:
                at += max(1, _is_mark(data, at, end))
    return bits, -words - 1 if unsure else words


@njit
def _may_repeat(bits, words, kind, other, others):  # type: ignore[no-untyped-def]
    """Return whether an alt-text may repeat a text of the page; ``others`` as ``sign`` gives it."""
    if kind == TITLE:  # any part of it, without the name of the site
        common = bits & other
        for _ in range(2):
            common &= common - 1
        return bits & ~other == 0 or common != 0
    if others < 0:
        held = other & ~bits == 0
        return (held and -others - 1 <= words) or (words >= MIN_WORDS and -others - 1 <= 2 * words)
    if others == words:
        return other == bits
    if others < words:
        return others >= MIN_WORDS and 2 * others >= words and other & ~bits == 0
    return words >= MIN_WORDS and 2 * words >= others and bits & ~other == 0


@njit
def match(data, texts, found):  # type: ignore[no-untyped-def]
    """Find the texts that alt-texts may repeat.

    Args:
        data: uint8 with the normalised alt-texts, a line each.
        texts: int64, as ``close_text`` makes them.
        found: int64 rows (number of the line, row of the text), to be filled.

    Returns:
        The number of rows found, which may be more than ``found`` holds.
    """
    count, at, alt = 0, 0, 0
    while at < len(data):
        end = at
        while end < len(data) and data[end] != 10:
            end += 1
        bits, words = sign(data, at, end)
        for row in range(len(texts)):
            kind = texts[row, 0]
            if kind < CAPTION and _may_repeat(bits, words, kind, texts[row, 3], texts[row, 4]):
                if count < len(found):
                    found[count, 0], found[count, 1] = alt, row
                count += 1
        at, alt = end + 1, alt + 1
    return count
