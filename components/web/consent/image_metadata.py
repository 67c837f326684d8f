"""Read statements about use inside JPEG, PNG and WebP files; nothing is decoded and no signature is checked.

IPTC's Data Mining (PLUS) stands in XMP, in these files always UTF-8. "Training and data mining" assertions stand in C2PA's
manifest store, JUMBF boxes (ISO 19566-5) in APP11 segments of JPEG, the ``caBX`` chunk of PNG and the ``C2PA`` chunk of WebP;
those of ingredients count too.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Iterator
from contextlib import suppress

from components.web.consent.cbor import decode_cbor
from components.web.consent.statements import C2PA, PLUS, Statement
from components.web.images.head import ShortHeader, walk_jpeg

_MOST_PARTS, _MOST_BOXES, _DEEPEST = 20_000, 10_000, 16
_LONGEST = 1 << 24
"""Bytes of metadata that are read."""
_XMP, _EXTENDED = b"http://ns.adobe.com/xap/1.0/\x00", b"http://ns.adobe.com/xmp/extension/\x00"
_PROPERTY, _CLOSING = re.compile(r"[:<]DataMining\b"), re.compile(r"/[\w.-]*:$")
_MOST_VALUES, _LONGEST_VALUE = 100, 4000
_ATTRIBUTE = re.compile(r"""\s*=\s*(?:"([^"<]*)"|'([^'<]*)')""")
_ELEMENT = re.compile(r"((?:\s[^<>]*)?)(?:/>|>(.*?)</(?:[\w.-]+:)?DataMining\s*>)", re.S)
_REFERENCE = re.compile(r"""\b(?:resource|value)\s*=\s*(?:"([^"<>]*)"|'([^'<>]*)')""")
_MARKUP = re.compile(r"<!--.*?-->|<!\[CDATA\[|\]\]>|<[^<>]*>", re.S)
_LABELS = ("c2pa.training-mining", "cawg.training-mining")
_UNREADABLE = "unreadable"


def read_image_statements(data: bytes) -> list[Statement]:
    """Return the statements in an image file; nothing raises, and a statement that cannot be read is kept as unreadable."""
    statements: list[Statement] = []
    boxes: dict[int, list[tuple[int, bytes]]] = {}
    xmp: list[bytes] = []
    size = 0
    for kind, content in _parts(data):
        size += len(content)
        if size > _LONGEST:  # what is beyond may hold a refusal
            statements.append(Statement(PLUS if kind == "xmp" else C2PA, f"{kind} over {_LONGEST} bytes", _UNREADABLE))
            break
        if kind == "xmp":
            xmp.append(content)
        elif kind == "jumbf":
            boxes.setdefault(0, []).append((0, content))
        elif len(content) > 16:  # APP11: JP, box instance, packet number, then the box's header in each packet
            number = int.from_bytes(content[4:8], "big")
            header = 8 if content[8:12] != b"\x00\x00\x00\x01" else 16
            boxes.setdefault(int.from_bytes(content[2:4], "big"), []).append(
                (number, content[8 if number == 1 else 8 + header :])
            )
    statements += _read_xmp(b"".join(xmp).decode("utf-8", "replace")) if xmp else []
    for packets in boxes.values():
        store = b"".join(packet for _, packet in sorted(packets, key=lambda packet: packet[0]))
        is_meant = any(label.encode() in store for label in _LABELS)
        statements += _read_boxes(store) or ([Statement(C2PA, "C2PA", _UNREADABLE)] if is_meant else [])
    return list(dict.fromkeys(statements))


def _parts(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Yield the parts of a file that hold XMP (xmp), JUMBF boxes (jumbf) or packets of them (packet)."""
    if data[:2] == b"\xff\xd8":
        yield from _jpeg_parts(data)
    elif data[:8] == b"\x89PNG\r\n\x1a\n":
        for kind, content in _chunks(data, 8, "big", 4):
            if kind == b"caBX":
                yield "jumbf", content
            elif kind == b"iTXt" and content.startswith(b"XML:com.adobe.xmp\x00"):
                yield "xmp", _read_itxt(content[18:])
            elif kind == b"IEND":
                return
    elif data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        for kind, content in _chunks(data, 12, "little", 0):
            if kind in (b"XMP ", b"C2PA"):
                yield "xmp" if kind == b"XMP " else "jumbf", content


def _jpeg_parts(data: bytes) -> Iterator[tuple[str, bytes]]:
    with suppress(ShortHeader):
        for marker, start, end in walk_jpeg(data):
            if marker not in (0xE1, 0xEB):
                continue
            content = data[start:end]
            if content.startswith(_XMP):
                yield "xmp", content[len(_XMP) :]
            elif content.startswith(_EXTENDED):
                yield "xmp", content[len(_EXTENDED) + 40 :]
            elif marker == 0xEB and content.startswith(b"JP"):
                yield "packet", content


def _chunks(data: bytes, at: int, order: str, checksum: int) -> Iterator[tuple[bytes, bytes]]:
    """Yield (name, content) of the chunks of a PNG, or of a WebP, whose size follows the name and is padded."""
    for _ in range(_MOST_PARTS):
        if len(data) < at + 8:
            return
        first, second = data[at : at + 4], data[at + 4 : at + 8]
        size = int.from_bytes(first, "big") if order == "big" else int.from_bytes(second, "little")
        yield second if order == "big" else first, data[at + 8 : at + 8 + size]
        at += 8 + size + (checksum if order == "big" else size & 1)


def _read_itxt(content: bytes) -> bytes:
    """Return the text of a PNG's iTXt chunk, whose keyword is removed: flag, method, language, translation, text."""
    _, _, text = content[2:].partition(b"\x00")[2].partition(b"\x00")
    if content[:1] != b"\x01":
        return text
    try:
        return zlib.decompressobj().decompress(text, _LONGEST + 1)
    except zlib.error:
        return b""


def _read_xmp(text: str) -> list[Statement]:
    """Return each value of the property; XMP writes one as an attribute, or in an element: as text, a resource or a list."""
    values: list[str] = []
    found = _PROPERTY.search(text)
    while found and len(values) < _MOST_VALUES:
        start, end = found.span()
        limit = end + _LONGEST_VALUE
        if found[0] == "<" or not _CLOSING.search(text, max(0, start - 64), start + 1):
            attribute, element = _ATTRIBUTE.match(text, end, limit), _ELEMENT.match(text, end, limit)
            if attribute:
                values.append(attribute[1] or attribute[2] or "")
            elif element:
                content = element[2] or ""
                pieces = [*map("".join, _REFERENCE.findall(f"{element[1]}{content}")), *_MARKUP.split(content)]
                values += list(filter(str.strip, pieces)) or ([_UNREADABLE] if content.strip() else [])
                end = element.end()
            else:
                values.append(_UNREADABLE)
        found = _PROPERTY.search(text, end)
    values += [_UNREADABLE] if found else []
    return [Statement(PLUS, "XMP plus:DataMining", value.strip()) for value in values if value.strip()]


def _read_boxes(data: bytes) -> list[Statement]:
    """Return the assertions in JUMBF boxes."""
    statements: list[Statement] = []
    pending = [(0, len(data), 0, "")]
    for _ in range(_MOST_BOXES):
        if not pending:
            break
        at, end, depth, label = pending.pop()
        if end - at < 8:
            continue
        size, kind, start = int.from_bytes(data[at : at + 4], "big"), data[at + 4 : at + 8], at + 8
        if size == 1:
            size, start = int.from_bytes(data[at + 8 : at + 16], "big"), at + 16
        stop = min(at + size, end) if size >= start - at else end
        if kind == b"jumb" and depth < _DEEPEST:
            pending += [(stop, end, depth, label), (start, stop, depth + 1, "")]
            continue
        if kind == b"jumd" and data[start + 16 : start + 17] and data[start + 16] & 2:
            label = data[start + 17 : stop].partition(b"\x00")[0].decode("utf-8", "replace")
        elif label.startswith(_LABELS) and kind in (b"cbor", b"json"):
            statements.append(Statement(C2PA, f"C2PA {label[:80]}", _read_entries(kind, data[start:stop])))
        pending.append((stop, end, depth, label))
    else:  # what is beyond may hold a refusal
        statements.append(Statement(C2PA, "C2PA", _UNREADABLE))
    return statements


def _read_entries(kind: bytes, content: bytes) -> str:
    """Return an assertion's entries as JSON."""
    try:
        found = decode_cbor(content) if kind == b"cbor" else json.loads(content)
        return json.dumps(found.get("entries", found), sort_keys=True, default=repr)
    except (ValueError, AttributeError, RecursionError):
        return _UNREADABLE
