"""Compare texts of a page by signatures of their words, so that few are decoded; compiled into the scanner of ``tags``.

A signature has a bit for each word, so the words of a part are a subset; beside it stands their number.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from components.web.html.context import MIN_WORDS
from components.web.html.tag_codes import CAPTION, TITLE


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
def match(data, texts, marked_alts, marked_texts):  # type: ignore[no-untyped-def]
    """Mark with 1 each alt-text that may repeat a text, and each text that an alt-text may repeat.

    Args:
        data: uint8 with the normalised alt-texts, a line each.
        texts: int64, as ``close_text`` makes them.
        marked_alts, marked_texts: uint8, 0.
    """
    at, alt = 0, 0
    while at < len(data):
        end = at
        while end < len(data) and data[end] != 10:
            end += 1
        bits, words = sign(data, at, end)
        for row in range(len(texts)):
            kind = texts[row, 0]
            if kind < CAPTION and _may_repeat(bits, words, kind, texts[row, 3], texts[row, 4]):
                marked_alts[alt] = marked_texts[row] = 1
        at, alt = end + 1, alt + 1
