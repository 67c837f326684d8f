"""Collect the texts of a page's title, headings, links and figcaptions; compiled into the scanner of ``tags``.

While one of them is open, the page's text is copied to a buffer: tags of blocks become a space, other tags and comments a mark.
So texts inside each other share it. ``state`` holds what is open, as int64. A text ends at its own end tag, at the start of the
next of its kind, or at the page's end; one longer than ``MOST`` is no headline and left out, a figcaption is cut.
"""

from __future__ import annotations

from numba import njit

from components.web.html.context import CAPTION_LIMIT, LIMIT
from components.web.html.tag_codes import CAPTION, DEEPEST_FIGURE, LINK, NOSCRIPT, STACK, TITLE
from components.web.html.tag_kinds import BUTTON, FIGCAPTION, FIGURE, HEADING, A
from components.web.html.tag_syntax import end_of_tag, read_link
from components.web.html.word_signs import sign

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
    OWNER,
    FIGURES,
    DEPTH,
) = range(16)
"""Fields of ``state``: number of open texts; filled part of the buffer; texts so far; whether in ``<noscript>``; titles so far;
start of the open heading (-1: none) and its level; start of the open link's text; bounds of the ``href`` of the link around (-1:
none) and whether it acts as a button; whether in a ``<button>``; start of the open figcaption and its figure; figures so far, how
many are open, and after ``STACK`` the number of each."""
MOST = 4 * LIMIT
"""Bytes of the longest text of a heading or link."""
MOST_OF_CAPTION = 4 * CAPTION_LIMIT


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
        add_text_row(texts, state, kind, start, min(end, start + MOST_OF_CAPTION), state[OWNER], 0)
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
        state[OWNER] = state[STACK + state[DEPTH]]
        open_text(CAPTION_TEXT, state)


@njit
def close_element(kind, buffer, texts, state):  # type: ignore[no-untyped-def]
    """End what an end tag closes of the texts and surroundings of images."""
    if kind == A:
        close_text(LINK_TEXT, LINK, buffer, texts, state)
        state[LINK_HREF], state[ACTS] = -1, 0
    elif kind == HEADING:
        close_text(HEADING_TEXT, state[LEVEL], buffer, texts, state)
    elif kind == BUTTON:
        state[BUTTONS] = 0
    elif kind == NOSCRIPT:
        state[HIDDEN] = 0
    elif kind in (FIGCAPTION, FIGURE):
        close_text(CAPTION_TEXT, CAPTION, buffer, texts, state)
        if kind == FIGURE and state[DEPTH]:
            state[DEPTH] -= 1


@njit
def open_element(data, word, name_end, end, kind, buffer, texts, state):  # type: ignore[no-untyped-def]
    """Begin what a start tag opens of these; return the position after the tag."""
    if kind == A:
        close_text(LINK_TEXT, LINK, buffer, texts, state)
        after, state[LINK_HREF], state[HREF_END], state[ACTS] = read_link(data, name_end, end)
        if state[LINK_HREF] >= 0:
            open_text(LINK_TEXT, state)
        return after
    if kind == HEADING:
        close_text(HEADING_TEXT, state[LEVEL], buffer, texts, state)
        state[LEVEL] = data[word + 1] - 48
        open_text(HEADING_TEXT, state)
    elif kind == BUTTON:
        state[BUTTONS] = 1
    elif kind == FIGURE:
        open_figure(buffer, texts, state)
    elif kind == FIGCAPTION:
        open_caption(buffer, texts, state)
    return end_of_tag(data, name_end, end)


@njit
def add_title(data, name_end, end, stop, buffer, texts, state):  # type: ignore[no-untyped-def]
    """Add the text of the page's first title."""
    at = end_of_tag(data, name_end, end)
    if at >= 0 and not state[TITLES]:
        state[TITLES], start = 1, state[SIZE]
        state[OPEN] += 1
        add_text(data, at, min(stop, at + MOST), buffer, state)
        state[OPEN] -= 1
        bits, words = sign(buffer, start, state[SIZE])
        add_text_row(texts, state, TITLE, start, state[SIZE], bits, words)
