"""Captions as plain text: HTML decoded, emoji and invisible characters removed, letters composed (Unicode NFC), and, after
removals, one line without orphaned marks and with a final stop.

Captions of a table or a feed may be HTML, escaped once or twice. Every function is one pass; a third level of escaping remains.
Emoji are those of UTS #51 (emoji-data 16.0): flags, keycaps, ZWJ sequences, skin tones, tag sequences, pictographs, characters
with an emoji variation selector, and a server's custom emoji by short name (":libras:"). CJK, letters, digits, and signs such as
``© ® ™ ‼ ⁉ ℹ ↔ Ⓜ ㊗`` without a selector stay.
"""

from __future__ import annotations

import html
import re
import unicodedata

_IMAGES = (
    "\\u231a\\u231b\\u2328\\u23cf\\u23e9-\\u23f3\\u23f8-\\u23fa\\u25aa\\u25ab\\u25b6\\u25c0\\u25fb-\\u25fe"
    "\\u2600-\\u2605\\u2607-\\u2612\\u2614-\\u2685\\u2690-\\u2705\\u2708-\\u2712\\u2714\\u2716\\u271d\\u2721\\u2728\\u2733\\u2734"
    "\\u2744\\u2747\\u274c\\u274e\\u2753-\\u2755\\u2757\\u2763-\\u2767\\u2795-\\u2797\\u27a1\\u27b0\\u27bf\\u2934\\u2935"
    "\\u2b05-\\u2b07\\u2b1b\\u2b1c\\u2b50\\u2b55"
    "\\U0001f000-\\U0001f0ff\\U0001f10d-\\U0001f10f\\U0001f12f\\U0001f16c-\\U0001f171\\U0001f17e\\U0001f17f\\U0001f18e"
    "\\U0001f191-\\U0001f19a\\U0001f1ad-\\U0001f1e5\\U0001f201-\\U0001f20f\\U0001f21a\\U0001f22f\\U0001f232-\\U0001f23a"
    "\\U0001f23c-\\U0001f23f\\U0001f249-\\U0001f3fa\\U0001f400-\\U0001f53d\\U0001f546-\\U0001f64f\\U0001f680-\\U0001f6ff"
    "\\U0001f774-\\U0001f77f\\U0001f7d5-\\U0001f7ff\\U0001f80c-\\U0001f80f\\U0001f848-\\U0001f84f\\U0001f85a-\\U0001f85f"
    "\\U0001f888-\\U0001f88f\\U0001f8ae-\\U0001f8ff\\U0001f90c-\\U0001f93a\\U0001f93c-\\U0001f945\\U0001f947-\\U0001faff"
    "\\U0001fc00-\\U0001fffd"
)
"""``Extended_Pictographic`` without characters often used as text: letter-like signs, single arrows, CJK marks."""
_TEXTUAL = "\\u00a9\\u00ae\\u203c\\u2049\\u2122\\u2139\\u2194-\\u2199\\u21a9\\u21aa\\u2388\\u24c2\\u3030\\u303d\\u3297\\u3299"
_MODIFIER = "\\U0001f3fb-\\U0001f3ff"
_TAGS = "\\U000e0020-\\U000e007f"
_EMOJI = re.compile(
    f"[0-9#*]\\ufe0f?\\u20e3"
    f"|(?:[{_IMAGES}{_TEXTUAL}\\U0001f1e6-\\U0001f1ff{_MODIFIER}](?:(?<![{_TEXTUAL}])|(?=\\ufe0f))"
    f"[\\ufe0e\\ufe0f\\u20e3{_MODIFIER}{_TAGS}]*+\\u200d?)++"
)
PICTORIAL = f"{_IMAGES}{_TEXTUAL}\\U0001f1e6-\\U0001f1ff{_MODIFIER}{_TAGS}"
"""Part of a character class: a selector or joiner after these may belong to an emoji."""
_SHORT_NAME = re.compile(r"(?<![\w:]):(?=[0-9_]*+[A-Za-z])\w{2,40}+:(?![\w:])", re.ASCII)


def without_emoji(text: str) -> str:
    """Return the text with each run of emoji replaced by a space."""
    if ":" in text:
        text = _SHORT_NAME.sub(" ", text)
    return text if text.isascii() else _EMOJI.sub(" ", text)


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


_HASH = re.compile(r"(?<![^\W_])[#＃]++|[#＃]++(?=\w)")
_AT = re.compile(r"(?<![\w@＠])[@＠]++(?=\w)")
_HOLLOW = re.compile(r"\(\s*+\)|\[\s*+\]|\{\s*+\}|“\s*+”|«\s*+»|(?<!\S)\"\s++\"(?!\w)")
_BEFORE = re.compile(r"\s+([,;:!?…)\]}]|[”»](?!\w))|\s+(\.)(?!\w)")
"""A ” before a word may open a quotation: ”assim”."""
_AFTER_OPENING = re.compile(r"([(\[{“«])\s+")
_ORPHAN = re.compile(r"([,;:])(?:\s*+[,;:])++")
_WEAK = re.compile(r"(?<![,;:])[,;:]++\s*+(?=[.!?])")
_TWICE = re.compile(r"([.!?…])(?:\s+[.,;:])+")
_OMITTED = re.compile(r"^(?:\[(?:\.{2,3}|…)\]\s*+)++|(?:\s\[(?:\.{2,3}|…)\]\.?+)++$")
"""Signs at an end that text was left out: "[...]"."""
_EDGE = " \t\r\n\u2800.,;:-–—_|/\\*~•·●▪◦■□→➡»›>=+&^`´)]}…!?"
_END_EDGE = " \t\r\n\u2800,;:-–—_|/\\*~•·●▪◦■□→➡<>=+&^`´([{“«‹¿¡@＠"
_ENDS = ".!?…。！？"
_QUOTING = "\"'”’»)]}*"


def one_line(text: str) -> str:
    """Return the text with each run of white space as one space."""
    return " ".join(text.replace("\u2800", " ").split())


def fix_punctuation(text: str) -> str:
    """Return the text without spaces before commas, empty brackets, commas before full stops, and stray hash or at signs.

    Each rule makes one pass; :func:`components.stages.extract_descriptions.extract` repeats them until nothing changes.
    """
    text = _HASH.sub("", text)
    text = _AT.sub("", text)
    text = _HOLLOW.sub(" ", text)
    text = one_line(text)
    text = _TWICE.sub(r"\1", text)
    text = _ORPHAN.sub(r"\1", text)
    text = _WEAK.sub("", text)
    text = _BEFORE.sub(_moved, text)
    return _AFTER_OPENING.sub(r"\1", text)


def _moved(match: re.Match[str]) -> str:
    """Return the mark without the space before it; in "preto ,bonito" the space moves after it."""
    mark = match[1] or match[2]
    behind = match.string[match.end() : match.end() + 1]
    return f"{mark} " if mark in ",;:!?" and behind.isalpha() else mark


def clean_ends(text: str) -> str:
    """Return the text without stray marks at its ends, and with a final stop."""
    text = _OMITTED.sub("", text)
    begin = 0
    while begin < len(text) and text[begin] in _EDGE and not (text[begin] == "+" and text[begin + 1 : begin + 2].isdigit()):
        begin += 1
    text = text[begin:]
    surplus = {closer: text.count(closer) - text.count(opener) for opener, closer in ("()", "[]", "{}")}
    text = text[:-1] if text.endswith(".") and surplus.get(text[-2:-1], 0) > 0 else text
    end = len(text)
    while end and (text[end - 1] in _END_EDGE or surplus.get(text[end - 1], 0) > 0):
        if text[end - 1] in surplus:
            surplus[text[end - 1]] -= 1
        elif text[end - 1] in "([{":
            surplus[{"(": ")", "[": "]", "{": "}"}[text[end - 1]]] += 1
        end -= 1
    text = text[:end]
    bare = text.rstrip(_QUOTING)
    return text if not text or bare.endswith(tuple(_ENDS)) else text + "."
