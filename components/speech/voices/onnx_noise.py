"""Replaces the noise that an ONNX model draws by tables, so that its output is a function of its inputs.

A ``RandomNormalLike`` node continues its sequence from run to run, and a session cannot reset it. Each is replaced by a
look-up in a table drawn once: frame t reads column t modulo the table's length. Uses only nodes of opset 15 (Shape, Squeeze,
Range, Mod, Gather). The file is edited as protocol buffers; the ``onnx`` package is not needed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping

import numpy as np

COLUMNS = 4096
"""Frames of a table: 47 s at 22,050 Hz and 256 samples a frame, longer than any sentence."""
SEED = 1
NOISE_OPERATOR = b"RandomNormalLike"
# Field numbers of onnx.proto3: ModelProto, GraphProto, NodeProto, AttributeProto and TensorProto.
_GRAPH, _NODE, _INITIALIZER = 7, 1, 5
_INPUT, _OUTPUT, _NAME, _OPERATOR, _ATTRIBUTE = 1, 2, 3, 4, 5
_ATTRIBUTE_NAME, _ATTRIBUTE_INT, _ATTRIBUTE_TYPE, _TYPE_INT = 1, 3, 20, 2
_DIMS, _DATA_TYPE, _TENSOR_NAME, _RAW, _FLOAT, _INT64 = 1, 2, 8, 9, 1, 7
_VARINT, _EIGHT, _BYTES, _FOUR = 0, 1, 2, 5


def replace_noise(model: bytes, channels: Mapping[str, int]) -> bytes:
    """Return the model with tables in position of noise nodes.

    Args:
        model: an ONNX file whose nodes draw noise of shape (1, channels, frames), mean 0, deviation 1.
        channels: noise node's name → channels.

    Raises:
        ValueError: the file cannot be parsed, or its noise nodes are not those of ``channels``.
    """
    parts: list[bytes] = []
    for field, wire, value in _fields(model):
        parts.append(
            _encode_field(field, wire, _replace_nodes(value, channels) if field == _GRAPH and isinstance(value, bytes) else value)
        )
    return b"".join(parts)


def _replace_nodes(graph: bytes, channels: Mapping[str, int]) -> bytes:
    parts: list[bytes] = []
    replaced: list[str] = []
    for field, wire, value in _fields(graph):
        if field == _NODE and isinstance(value, bytes) and NOISE_OPERATOR in value:
            node_fields = {number: text for number, _, text in _fields(value) if isinstance(text, bytes)}
            if node_fields[_OPERATOR] == NOISE_OPERATOR:
                name = node_fields[_NAME].decode()
                if name not in channels:
                    raise ValueError(f"the network draws noise at {name}, which is not expected")
                replaced.append(name)
                look_up = _look_up(name, node_fields[_INPUT], node_fields[_OUTPUT])
                parts += [_encode_field(_NODE, _BYTES, node) for node in look_up]
                parts += [_encode_field(_INITIALIZER, _BYTES, table) for table in _tables(name, channels[name], len(replaced))]
                continue
        parts.append(_encode_field(field, wire, value))
    if sorted(replaced) != sorted(channels):
        raise ValueError(f"the network draws noise at {replaced}, not at {sorted(channels)}")
    return b"".join(parts)


def _look_up(name: str, like: bytes, output: bytes) -> Iterator[bytes]:
    """Yield the nodes that output as many frames of the table as ``like`` has."""
    at = name.encode()
    yield _node(b"Shape", [like], at + b"/count", start=2, end=3)
    yield _node(b"Squeeze", [at + b"/count"], at + b"/frames")
    yield _node(b"Range", [at + b"/0", at + b"/frames", at + b"/1"], at + b"/range")
    yield _node(b"Mod", [at + b"/range", at + b"/columns"], at + b"/at")
    yield _node(b"Gather", [at + b"/table", at + b"/at"], output, axis=2)


def _tables(name: str, channels: int, number: int) -> Iterator[bytes]:
    # The only generator whose sequence numpy guarantees not to change.
    noise = np.random.RandomState(SEED * 1000 + number).standard_normal((1, channels, COLUMNS)).astype("<f4")
    yield _tensor(f"{name}/table", noise.shape, _FLOAT, noise.tobytes())
    for end, value in (("0", 0), ("1", 1), ("columns", COLUMNS)):
        yield _tensor(f"{name}/{end}", (), _INT64, struct.pack("<q", value))


def _node(operator: bytes, inputs: list[bytes], output: bytes, **attributes: int) -> bytes:
    parts = [_encode_field(_INPUT, _BYTES, name) for name in inputs]
    parts += [
        _encode_field(_OUTPUT, _BYTES, output),
        _encode_field(_NAME, _BYTES, output + b"/fixed"),
        _encode_field(_OPERATOR, _BYTES, operator),
    ]
    for name, value in attributes.items():
        body = _encode_field(_ATTRIBUTE_NAME, _BYTES, name.encode()) + _encode_field(_ATTRIBUTE_INT, _VARINT, value)
        parts.append(_encode_field(_ATTRIBUTE, _BYTES, body + _encode_field(_ATTRIBUTE_TYPE, _VARINT, _TYPE_INT)))
    return b"".join(parts)


def _tensor(name: str, dims: tuple[int, ...], kind: int, raw: bytes) -> bytes:
    parts = [_encode_field(_DIMS, _VARINT, size) for size in dims]
    parts += [
        _encode_field(_DATA_TYPE, _VARINT, kind),
        _encode_field(_TENSOR_NAME, _BYTES, name.encode()),
        _encode_field(_RAW, _BYTES, raw),
    ]
    return b"".join(parts)


def _fields(message: bytes) -> Iterator[tuple[int, int, bytes | int]]:
    """Yield number, wire type and value of each field; values of four or eight bytes undecoded."""
    position = 0
    while position < len(message):
        key, position = _decode_varint(message, position)
        field, wire = key >> 3, key & 7
        if wire == _VARINT:
            value, position = _decode_varint(message, position)
            yield field, wire, value
            continue
        if wire not in (_EIGHT, _BYTES, _FOUR):
            raise ValueError(f"not a protocol buffer: wire type {wire}")
        size = {_EIGHT: 8, _FOUR: 4}.get(wire, 0)
        if wire == _BYTES:
            size, position = _decode_varint(message, position)
        if position + size > len(message):
            raise ValueError("not a protocol buffer: it ends within a field")
        yield field, wire, message[position : position + size]
        position += size


def _decode_varint(message: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while position < len(message):
        byte = message[position]
        value |= (byte & 0x7F) << shift
        position, shift = position + 1, shift + 7
        if byte < 0x80:
            return value, position
    raise ValueError("not a protocol buffer: it ends within a number")


def _encode_field(field: int, wire: int, value: bytes | int) -> bytes:
    if isinstance(value, int):
        return _encode_varint(field << 3 | wire) + _encode_varint(value)
    return _encode_varint(field << 3 | wire) + (_encode_varint(len(value)) if wire == _BYTES else b"") + value


def _encode_varint(value: int) -> bytes:
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)
