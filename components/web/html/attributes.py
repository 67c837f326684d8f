"""Replace the character references in an attribute's value as an HTML parser does.

Follows the HTML standard's tokenizer for attributes (13.2.5.72–13.2.5.80), which differs from ``html.unescape``: ``&copy=1`` in
an address is not a copyright sign.
"""

from __future__ import annotations

import html.entities
import re

_REFERENCE = re.compile(r"&(?:#(?:[xX]([0-9a-fA-F]++)|([0-9]++));?|([a-zA-Z][a-zA-Z0-9]*+)(;?))")
_NAMED = html.entities.html5
# 13.2.5.80: the numbers 80 to 9F (hexadecimal) are Windows-1252 where that defines them.
_WINDOWS = {n: bytes([n]).decode("cp1252") for n in range(0x80, 0xA0) if n not in (0x81, 0x8D, 0x8F, 0x90, 0x9D)}


def unescape_attribute(value: str) -> str:
    """Return the value with line ends replaced by ``\\n`` and character references replaced."""
    if "\r" in value:
        value = value.replace("\r\n", "\n").replace("\r", "\n")
    return _REFERENCE.sub(_replace_reference, value) if "&" in value else value


def _replace_reference(match: re.Match[str]) -> str:
    hexadecimal, decimal, name, semicolon = match.groups()
    if name:
        if semicolon:
            character = _NAMED.get(name + ";")
            return match.group() if character is None else character
        # A legacy name needs no semicolon, unless an equals sign follows.
        legacy = _NAMED.get(name)
        return match.group() if legacy is None or match.string[match.end() : match.end() + 1] == "=" else legacy
    digits = (hexadecimal or decimal).lstrip("0")
    if len(digits) > 7:
        return "\ufffd"
    number = int(digits or "0", 16 if hexadecimal else 10)
    if number == 0 or number > 0x10FFFF or 0xD800 <= number <= 0xDFFF:
        return "\ufffd"
    return _WINDOWS.get(number) or chr(number)
