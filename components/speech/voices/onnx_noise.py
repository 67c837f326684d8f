"""Noise that a network draws, put into the network: an ONNX model rewritten so that what it says is a function of its inputs.

A ``RandomNormalLike`` node goes on where its last run ended, and a session offers no way to begin anew. Each is replaced by a
look-up in a table drawn once: frame t reads column t, and after the table's end its beginning again. Nodes of opset 15 alone
(Shape, Squeeze, Range, Mod, Gather). The file is edited as protocol buffers on the wire; nothing needs the ``onnx`` package.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

import numpy as np

COLUMNS = 4096
"""Frames of a table: 47 s of a voice of 22,050 Hz and 256 samples a frame, longer than any sentence that makes sense."""
SEED = 1
DRAWN = b"RandomNormalLike"
# Fields of onnx.proto3: of ModelProto, GraphProto, NodeProto, AttributeProto and TensorProto.
_GRAPH, _NODE, _INITIALIZER = 7, 1, 5
_INPUT, _OUTPUT, _NAME, _OPERATOR, _ATTRIBUTE = 1, 2, 3, 4, 5
_ATTRIBUTE_NAME, _ATTRIBUTE_INT, _ATTRIBUTE_TYPE, _TYPE_INT = 1, 3, 20, 2
_DIMS, _DATA_TYPE, _TENSOR_NAME, _RAW, _FLOAT, _INT64 = 1, 2, 8, 9, 1, 7
_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5


def fixed_noise(model: bytes, channels: Mapping[str, int]) -> bytes:
    """Return the model with tables in place of the noise that it draws.

    Args:
        model: an ONNX file whose nodes draw noise of shape (1, channels, frames), mean 0, deviation 1.
        channels: by the name of each node that draws.

    Raises:
        ValueError: it is no such file, or other nodes draw noise.
    """
    parts: list[bytes] = []
    for field, wire, value in _fields(model):
        parts.append(_written(field, wire, _graph(value, channels) if field == _GRAPH and isinstance(value, bytes) else value))
    return b"".join(parts)


def _graph(graph: bytes, channels: Mapping[str, int]) -> bytes:
    parts: list[bytes] = []
    found: list[str] = []
    for field, wire, value in _fields(graph):
        if field == _NODE and isinstance(value, bytes) and DRAWN in value:
            told = {name: text for name, _, text in _fields(value) if isinstance(text, bytes)}
            if told[_OPERATOR] == DRAWN:
                name = told[_NAME].decode()
                if name not in channels:
                    raise ValueError(f"the network draws noise at {name}, which was not expected")
                found.append(name)
                parts += [_written(_NODE, _BYTES, node) for node in _look_up(name, told[_INPUT], told[_OUTPUT])]
                parts += [_written(_INITIALIZER, _BYTES, table) for table in _tables(name, channels[name], len(found))]
                continue
        parts.append(_written(field, wire, value))
    if sorted(found) != sorted(channels):
        raise ValueError(f"the network draws noise at {found}, not at {sorted(channels)}")
    return b"".join(parts)


def _look_up(name: str, like: bytes, output: bytes) -> Iterator[bytes]:
    """Yield the nodes that put the first frames of the table, as many as ``like`` has, where the noise was."""
    at = name.encode()
    yield _node(b"Shape", [like], at + b"/count", start=2, end=3)
    yield _node(b"Squeeze", [at + b"/count"], at + b"/frames")
    yield _node(b"Range", [at + b"/0", at + b"/frames", at + b"/1"], at + b"/range")
    yield _node(b"Mod", [at + b"/range", at + b"/columns"], at + b"/at")
    yield _node(b"Gather", [at + b"/table", at + b"/at"], output, axis=2)


def _tables(name: str, channels: int, number: int) -> Iterator[bytes]:
    # The one generator whose numbers numpy promises never to change.
    noise = np.random.RandomState(SEED * 1000 + number).standard_normal((1, channels, COLUMNS)).astype("<f4")
    yield _tensor(f"{name}/table", noise.shape, _FLOAT, noise.tobytes())
    for end, value in (("0", 0), ("1", 1), ("columns", COLUMNS)):
        yield _tensor(f"{name}/{end}", (), _INT64, struct.pack("<q", value))


def _node(operator: bytes, inputs: list[bytes], output: bytes, **attributes: int) -> bytes:
    parts = [_written(_INPUT, _BYTES, each) for each in inputs]
    parts += [
        _written(_OUTPUT, _BYTES, output),
        _written(_NAME, _BYTES, output + b"/fixed"),
        _written(_OPERATOR, _BYTES, operator),
    ]
    for name, value in attributes.items():
        body = _written(_ATTRIBUTE_NAME, _BYTES, name.encode()) + _written(_ATTRIBUTE_INT, _VARINT, value)
        parts.append(_written(_ATTRIBUTE, _BYTES, body + _written(_ATTRIBUTE_TYPE, _VARINT, _TYPE_INT)))
    return b"".join(parts)


def _tensor(name: str, dims: tuple[int, ...], kind: int, raw: bytes) -> bytes:
    parts = [_written(_DIMS, _VARINT, size) for size in dims]
    parts += [_written(_DATA_TYPE, _VARINT, kind), _written(_TENSOR_NAME, _BYTES, name.encode()), _written(_RAW, _BYTES, raw)]
    return b"".join(parts)


def _fields(message: bytes) -> Iterator[tuple[int, int, bytes | int]]:
    """Number, wire type and value of each field; a value of four or eight bytes as it stands."""
    place = 0
    while place < len(message):
        key, place = _varint(message, place)
        field, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, place = _varint(message, place)
            yield field, wire, value
            continue
        if wire not in (_EIGHT, _BYTES, _FOUR):
            raise ValueError(f"no protocol buffer: wire type {wire}")
        size = {_EIGHT: 8, _FOUR: 4}.get(wire, 0)
        if wire == _BYTES:
            size, place = _varint(message, place)
        if place + size > len(message):
            raise ValueError("no protocol buffer: it ends within a field")
        yield field, wire, message[place : place + size]
        place += size


def _varint(message: bytes, place: int) -> tuple[int, int]:
    value = shift = 0
    while place < len(message):
        byte = message[place]
        value |= (byte & 0x7F) << shift
        place, shift = place + 1, shift + 7
        if byte < 0x80:
            return value, place
    raise ValueError("no protocol buffer: it ends within a number")


def _written(field: int, wire: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return _number(field << 3 | wire) + _number(value)
    return _number(field << 3 | wire) + (_number(len(value)) if wire == _BYTES else b"") + value


def _number(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
