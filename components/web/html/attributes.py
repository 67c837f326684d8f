"""Replace the character references in an attribute's value as an HTML parser does.

Follows the HTML standard's tokenizer (13.2.5.72–13.2.5.80, references inside attributes), which differs from
``html.unescape``: ``&copy=1`` in an address is no copyright sign.
"""

from __future__ import annotations

import html.entities
import re

_REFERENCE = re.compile(r"&(?:#(?:[xX]([0-9a-fA-F]++)|([0-9]++));?|([a-zA-Z][a-zA-Z0-9]*+)(;?))")
_NAMED = html.entities.html5
# 13.2.5.80: what the numbers 80 to 9F (hexadecimal) stand for, which is Windows-1252 where that defines them.
_WINDOWS = {n: bytes([n]).decode("cp1252") for n in range(0x80, 0xA0) if n not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}


def unescape_attribute(value: str) -> str:
    """An attribute's value with line ends made ``\\n`` and its character references replaced."""
    if "\r" in value:
        value = value.replace("\r\n", "\n").replace("\r", "\n")
    return _REFERENCE.sub(_referred, value) if "&" in value else value


def _referred(match: re.Match[str]) -> str:
    hexadecimal, decimal, name, semicolon = match.groups()
    if name:
        if semicolon:
            whole = _NAMED.get(name + ";")
            return match.group() if whole is None else whole
        # An old name without its semicolon counts, unless it goes on or an equals sign follows.
        legacy = _NAMED.get(name)
        return match.group() if legacy is None or match.string[match.end() : match.end() + 1] == "=" else legacy
    digits = (hexadecimal or decimal).lstrip("0")
    if len(digits) > 7:
        return "\ufffd"
    number = int(digits or "0", 16 if hexadecimal else 10)
    if number == 0 or number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        return "\ufffd"
    return _WINDOWS.get(number) or chr(number)
