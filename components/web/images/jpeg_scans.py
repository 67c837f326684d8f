"""What of a progressive JPEG an eighth of its size needs: the scans of the mean colours (ITU-T T.81, annexes B and G).

A progressive file tells the mean of every 8×8 block first (its DC coefficients) and then, in scans that hold most of the bytes,
the detail. libjpeg works through all of them even when it is asked for one pixel a block. Here the others are stepped
over, once the file's structure is known to be whole: libjpeg finds no other fault in them either, since it fills bad data with
grey and goes on. In doubt nothing is left out, and the decoder judges. Not in scope: decoding (``image``).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_AFTER_SCAN = re.compile(rb"\xff[^\x00\xd0-\xd7\xff]")
"""What ends a scan: a marker that is neither stuffing nor a restart."""
_OTHER_FRAMES = frozenset(range(0xC0, 0xD0)) - {0xC4, 0xCC, 0xC8}
_BARE = frozenset([0x01, *range(0xD0, 0xD9)])
_MOST_SCANS = 100
"""Encoders write about ten. A file of more is decoded wholly, so that it costs here what it costs whoever uses the picture."""


class _Doubt(Exception):
    """The file is not what this module understands."""


@dataclass
class _State:
    """What the markers so far have said."""

    components: dict[int, int] = field(default_factory=dict)
    """Component → the bits of its DC that are still to come; -1 before its first scan."""
    tables: set[int] = field(default_factory=set)
    """Huffman tables defined: 16 × class + number."""


def extract_mean_scans(data: bytes) -> bytes | None:
    """A JPEG of the DC scans of ``data`` alone; None when ``data`` is not a whole progressive JPEG, or not a plain one.

    Decoded at an eighth of its size it gives the brightness that ``data`` gives, and colours nearly so (where they are
    stored at half the size libjpeg uses some of their detail). Never raises.
    """
    try:
        return _means_only(data)
    except (_Doubt, IndexError):
        return None


def _means_only(data: bytes) -> bytes:
    state, kept, at, scans = _State(), [data[:2]], 2, 0
    while True:
        if data[at] != 0xFF:
            raise _Doubt
        marker = data[at + 1]
        if marker == 0xD9:
            break
        if marker in _BARE or marker in (0x00, 0xFF):
            raise _Doubt
        length = int.from_bytes(data[at + 2 : at + 4], "big")
        end = at + 2 + length
        if length < 2 or end > len(data):
            raise _Doubt
        segment = data[at + 4 : end]
        if marker == 0xDA:
            found = _AFTER_SCAN.search(data, end)
            scans += 1
            if found is None or scans > _MOST_SCANS:
                raise _Doubt
            if _scan(segment, state):
                kept.append(data[at : found.start()])
            at = found.start()
            continue
        if marker in _OTHER_FRAMES:
            _frame(marker, segment, state)
        elif marker == 0xC4:
            _tables(segment, state)
        elif marker == 0xCC:
            raise _Doubt
        kept.append(_unsmoothed(data[at:end]) if marker == 0xDB else data[at:end])
        at = end
    if not state.components or any(state.components.values()):
        raise _Doubt
    return b"".join([*kept, b"\xff\xd9"])


def _frame(marker: int, segment: bytes, state: _State) -> None:
    if marker != 0xC2 or state.components or len(segment) != 6 + 3 * segment[5]:
        raise _Doubt
    state.components = {segment[at]: -1 for at in range(6, len(segment), 3)}
    if len(state.components) != segment[5]:
        raise _Doubt


def _tables(segment: bytes, state: _State) -> None:
    """Huffman tables, held to what libjpeg holds them to: as many symbols as there are codes for."""
    at = 0
    while at < len(segment):
        counts = segment[at + 1 : at + 17]
        room = 1
        for count in counts:
            room = 2 * room - count
            if room < 0:
                raise _Doubt
        if len(counts) != 16 or sum(counts) > 256 or segment[at] & 0xEC or at + 17 + sum(counts) > len(segment):
            raise _Doubt
        state.tables.add(segment[at])
        at += 17 + sum(counts)


def _scan(segment: bytes, state: _State) -> bool:
    """Whether a scan is one of mean colours; each is held to the rules of progression."""
    count = segment[0]
    if len(segment) != 4 + 2 * count:
        raise _Doubt
    first, last, high, low = segment[-3], segment[-2], segment[-1] >> 4, segment[-1] & 15
    if (high and high != low + 1) or low > 13 or not count:
        raise _Doubt
    for at in range(1, 1 + 2 * count, 2):
        name, tables = segment[at], segment[at + 1]
        before = state.components.get(name)
        if first == 0:
            # A later scan of the means refines them bit by bit.
            if before is None or last or before != (high if high else -1) or (not high and tables >> 4 not in state.tables):
                raise _Doubt
            state.components[name] = low
        elif before in (None, -1) or count > 1 or not first <= last <= 63 or 16 + (tables & 15) not in state.tables:
            raise _Doubt
    return first == 0


def _unsmoothed(tables: bytes) -> bytes:
    """Quantisation tables with one factor of the detail made 0, so that libjpeg does not smooth means it knows exactly."""
    content, at = bytearray(tables), 4
    while at < len(content):
        wide = content[at] >> 4
        step = 2 if wide else 1
        if wide > 1 or at + 1 + 64 * step > len(content):
            raise _Doubt
        content[at + 1 + step : at + 1 + 2 * step] = bytes(step)
        at += 1 + 64 * step
    return bytes(content)
