"""A caption as plain text: HTML decoded, characters that show nothing gone, letters composed (Unicode NFC).

Captions of a table or a feed may come as HTML, once or twice escaped; those of an app hold what its keyboard left.
Every function is one pass; a text escaped three times keeps what is left of it.
"""

from __future__ import annotations

import html
import re
import unicodedata

from components.stages.extract_descriptions.emoji import PICTORIAL

_ENTITY = re.compile(r"&(?:#[0-9]{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")
"""With its semicolon only: "?x=1&copy=2" is a link and no sign of rights."""
_ATTRIBUTES = r"(?:\s[^<>=]*+=[^<>]*+)?\s?/?>"
_BREAK = re.compile(rf"(?i)<(?:br|/p|/div|/li|p|div|li){_ATTRIBUTES}")
_TAG = re.compile(rf"(?i)</?(?:a|span|b|i|u|em|strong|ul|ol){_ATTRIBUTES}")
_CONTROLS = "\\x00-\\x08\\x0e-\\x1b\\x7f-\\x84\\x86-\\x9f"
_HIDDEN = re.compile(
    f"[{_CONTROLS}\\u00ad\\u034f\\u061c\\u180b-\\u180f\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u206f\\ufeff\\ufff9-\\ufffb"
    "\\U0001bca0-\\U0001bca3\\U0001d173-\\U0001d17a\\U000e0001]"
)
"""Controls, soft hyphens, zero-width spaces, marks of direction and of annotation."""
_JOINING = (
    "\\u0600-\\u08ff\\u0900-\\u0dff\\u0e00-\\u109f\\u1700-\\u18af\\u1900-\\u1cff\\ua800-\\uabff\\ufb50-\\ufdff\\ufe70-\\ufefc"
    "\\U00010a00-\\U00011fff\\U0001e900-\\U0001e95f"
)
"""Scripts whose letters joiners shape: Arabic, Syriac, N'Ko, the Indic ones, those of South-East Asia, Mongolian."""
_LOOSE_JOINER = re.compile(f"(?<![{_JOINING}{PICTORIAL}\\ufe0f])[\\u200c\\u200d]")
_LOOSE_SELECTOR = re.compile(f"(?<![{PICTORIAL}#*0-9])[\\ufe00-\\ufe0f]|(?<=[#*0-9])[\\ufe00-\\ufe0f](?!\\u20e3)")
_STRAY_JOINER = re.compile(f"(?<![{_JOINING}])[\\u200c\\u200d]")
_IDEOGRAPHS = "\\u3400-\\u9fff\\uf900-\\ufaff\\U00020000-\\U0003ffff"
_STRAY = re.compile(f"[\\ufe00-\\ufe0f\\u20e3\\U000e0000-\\U000e007f]|(?<![{_IDEOGRAPHS}])[\\U000e0100-\\U000e01ef]")


def without_html(text: str) -> str:
    """Entities decoded, twice escaped ones too; breaks and paragraphs are line breaks, other tags of running text go."""
    if "&" in text:
        text = _decoded(_decoded(text))
    if "<" in text:
        text = _TAG.sub("", _BREAK.sub("\n", text))
    return text


def _decoded(text: str) -> str:
    return _ENTITY.sub(lambda match: html.unescape(match[0]), text)


def without_invisible(text: str) -> str:
    """The text in NFC, without characters that show nothing; those that are part of an emoji go with it."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", _LOOSE_SELECTOR.sub("", _LOOSE_JOINER.sub("", _HIDDEN.sub("", text))))
    return _HIDDEN.sub("", text)


def without_strays(text: str) -> str:
    """What emoji leave: selectors, keycaps and tags of no picture, joiners of no script that needs them."""
    return text if text.isascii() else unicodedata.normalize("NFC", _STRAY_JOINER.sub("", _STRAY.sub("", text)))
