"""Captions as plain text: HTML decoded, invisible characters removed, letters composed (Unicode NFC).

Captions of a table or a feed may be HTML, escaped once or twice. Every function is one pass; a third level of escaping remains.
"""

from __future__ import annotations

import html
import re
import unicodedata

from components.stages.extract_descriptions.emoji import PICTORIAL

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
"""Entities with their semicolon only: "?x=1&copy=2" is a link and no copyright sign."""
_ATTRIBUTES = r"(?:\s[^<>=]*+=[^<>]*+)?\s?/?>"
_BREAK = re.compile(rf"(?i)<(?:br|/p|/div|/li|p|div|li){_ATTRIBUTES}")
_TAG = re.compile(rf"(?i)</?(?:a|span|b|i|u|em|strong|ul|ol){_ATTRIBUTES}")
_CONTROLS = "\\x00-\\x08\\x0e-\\x1b\\x7f-\\x84\\x86-\\x9f"
_HIDDEN = re.compile(
    f"[{_CONTROLS}\\u00ad\\u034f\\u061c\\u180b-\\u180f\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb"
    "\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a\\U000e0001]"
)
"""Controls, soft hyphens, zero-width spaces, direction and annotation marks."""
_JOINING = (
    "\\u0600-\\u08ff\\u0900-\\u0dff\\u0e00-\\u109f\\u1700-\\u18af\\u1900-\\u1cff\\ua800-\\uabff\\ufb50-\\ufdff\\ufe70-\\ufefc"
    "\\U00010a00-\\U00011fff\\U0001e900-\\U0001e95f"
)
"""Scripts that joiners shape: Arabic, Syriac, N'Ko, Indic and South-East Asian scripts, Mongolian."""
_LOOSE_JOINER = re.compile(f"(?<![{_JOINING}{PICTORIAL}\\ufe0f])[\\u200c\\u200d]")
_LOOSE_SELECTOR = re.compile(f"(?<![{PICTORIAL}#*0-9])[\\ufe00-\\ufe0f]|(?<=[#*0-9])[\\ufe00-\\ufe0f](?!\\u20e3)")
_STRAY_JOINER = re.compile(f"(?<![{_JOINING}])[\\u200c\\u200d]")
_IDEOGRAPHS = "\\u3400-\\u9fff\\uf900-\\ufaff\\U00020000-\\U0003ffff"
_STRAY = re.compile(f"[\\ufe00-\\ufe0f\\u20e3\\U000e0000-\\U000e007f]|(?<![{_IDEOGRAPHS}])[\\U000e0100-\\U000e01ef]")


def without_html(text: str) -> str:
    """Return the text with entities decoded up to twice, breaks as line breaks, and other inline tags removed."""
    if "&" in text:
        text = _decoded(_decoded(text))
    if "<" in text:
        text = _TAG.sub("", _BREAK.sub("\n", text))
    return text


def _decoded(text: str) -> str:
    return _ENTITY.sub(lambda match: html.unescape(match[0]), text)


def without_invisible(text: str) -> str:
    """Return the text in NFC without invisible characters, except those of emoji."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", _LOOSE_SELECTOR.sub("", _LOOSE_JOINER.sub("", _HIDDEN.sub("", text))))
    return _HIDDEN.sub("", text)


def without_strays(text: str) -> str:
    """Return the text without what removed emoji leave: selectors, keycaps, tags, and joiners outside joining scripts."""
    return text if text.isascii() else unicodedata.normalize("NFC", _STRAY_JOINER.sub("", _STRAY.sub("", text)))
