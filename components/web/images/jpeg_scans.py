"""Keep the scans of a progressive JPEG that decoding at an eighth of its size needs: the mean colours (ITU-T T.81, B and G).

A progressive file stores the mean of each 8×8 block first (the DC coefficients) and the detail in later scans, which hold most
bytes. Those are skipped once the file's structure is known to be complete: libjpeg finds no other fault in them either, since it
fills bad data with grey. In doubt nothing is removed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from components.web.images.head import FRAMES

_AFTER_SCAN = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
"""The marker that ends a scan: neither stuffing nor a restart."""
_BARE = frozenset([0x01, *range(0xD0, 0xD9)])
_MOST_SCANS = 100
"""Maximum scans; encoders write about ten. A file with more is decoded completely."""


class _Unsupported(Exception):
    """The file has a structure that this module does not handle."""


@dataclass
class _State:
    """The state after the markers read so far."""

    components: dict[int, int] = field(default_factory=dict)
    """Component → the DC bits still to come; -1 before its first scan."""
    tables: set[int] = field(default_factory=set)
    """Defined Huffman tables: 16 × class + number."""


def extract_mean_scans(data: bytes) -> bytes | None:
    """Return a JPEG with only the DC scans of ``data``; None when ``data`` is not a complete, plain progressive JPEG.

    Decoded at an eighth of its size it gives the brightness of ``data``, and nearly its colours: where they are stored at half
    size libjpeg uses some of their detail. Never raises.
    """
    try:
        return _extract(data)
    except (_Unsupported, IndexError):
        return None


def _extract(data: bytes) -> bytes:
    state, kept, position, scans = _State(), [data[:2]], 2, 0
    while True:
        if data[position] != 0xFF:
            raise _Unsupported
        marker = data[position + 1]
        if marker == 0xD9:
            break
        if marker in _BARE or marker in (0x00, 0xFF):
            raise _Unsupported
        length = int.from_bytes(data[position + 2 : position + 4], "big")
        end = position + 2 + length
        if length < 2 or end > len(data):
            raise _Unsupported
        segment = data[position + 4 : end]
        if marker == 0xDA:
            match = _AFTER_SCAN.search(data, end)
            scans += 1
            if match is None or scans > _MOST_SCANS:
                raise _Unsupported
            if _is_mean_scan(segment, state):
                kept.append(data[position : match.start()])
            position = match.start()
            continue
        if marker in FRAMES:
            _read_frame(marker, segment, state)
        elif marker == 0xC4:
            _read_tables(segment, state)
        elif marker == 0xCC:
            raise _Unsupported
        kept.append(_disable_smoothing(data[position:end]) if marker == 0xDB else data[position:end])
        position = end
    if not state.components or any(state.components.values()):
        raise _Unsupported
    return b"".join([*kept, b"\xff\xd9"])


def _read_frame(marker: int, segment: bytes, state: _State) -> None:
    if marker != 0xC2 or state.components or len(segment) != 6 + 3 * segment[5]:
        raise _Unsupported
    state.components = {segment[at]: -1 for at in range(6, len(segment), 3)}
    if len(state.components) != segment[5]:
        raise _Unsupported


def _read_tables(segment: bytes, state: _State) -> None:
    """Read Huffman tables and check them as libjpeg does: no more symbols than codes."""
    position = 0
    while position < len(segment):
        counts = segment[position + 1 : position + 17]
        free_codes = 1
        for count in counts:
            free_codes = 2 * free_codes - count
            if free_codes < 0:
                raise _Unsupported
        if len(counts) != 16 or sum(counts) > 256 or segment[position] & 0xEC or position + 17 + sum(counts) > len(segment):
            raise _Unsupported
        state.tables.add(segment[position])
        position += 17 + sum(counts)


def _is_mean_scan(segment: bytes, state: _State) -> bool:
    """Return whether a scan holds mean colours; check it against the rules of progression."""
    count = segment[0]
    if len(segment) != 4 + 2 * count:
        raise _Unsupported
    first, last, high, low = segment[-3], segment[-2], segment[-1] >> 4, segment[-1] & 15
    if (high and high != low + 1) or low > 13 or not count:
        raise _Unsupported
    for at in range(1, 1 + 2 * count, 2):
        component, tables = segment[at], segment[at + 1]
        bits_left = state.components.get(component)
        if first == 0:
            # A later DC scan refines the means bit by bit.
            if bits_left is None or last or bits_left != (high if high else -1) or (not high and tables >> 4 not in state.tables):
                raise _Unsupported
            state.components[component] = low
        elif bits_left in (None, -1) or count > 1 or not first <= last <= 63 or 16 + (tables & 15) not in state.tables:
            raise _Unsupported
    return first == 0


def _disable_smoothing(tables: bytes) -> bytes:
    """Return quantisation tables with one detail factor set to 0, so that libjpeg does not smooth the exact means."""
    content, position = bytearray(tables), 4
    while position < len(content):
        precision = content[position] >> 4
        step = 2 if precision else 1
        if precision > 1 or position + 1 + 64 * step > len(content):
            raise _Unsupported
        content[position + 1 + step : position + 1 + 2 * step] = bytes(step)
        position += 1 + 64 * step
    return bytes(content)
