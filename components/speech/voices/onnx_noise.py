"""Replaces the noise that an ONNX model draws by tables, so that its output is a function of its inputs.

A ``RandomNormalLike`` node continues its sequence from run to run, and a session cannot reset it. Each is replaced by a
look-up in a table drawn once: frame t reads column t modulo the table's length. Uses only nodes of opset 15 (Shape, Squeeze,
Range, Mod, Gather). The file is edited as protocol buffers; the ``onnx`` package is not needed.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from functools import cache
from typing import Any

import numpy as np
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import DecodeError
from google.protobuf.message_factory import GetMessageClass

COLUMNS = 4096
"""Frames of a table: 47 s at 22,050 Hz and 256 samples a frame, longer than any sentence."""
SEED = 1
NOISE_OPERATOR = "RandomNormalLike"
_FLOAT, _INT64, _INT_ATTRIBUTE = 1, 7, 2
"""Types of tensors and of attributes in ONNX."""
_FIELDS = {
    "ModelProto": {"graph": (7, "GraphProto")},
    "GraphProto": {"node": (1, "NodeProto*"), "initializer": (5, "TensorProto*")},
    "NodeProto": {
        "input": (1, "string*"), "output": (2, "string*"), "name": (3, "string"), "op_type": (4, "string"),
        "attribute": (5, "AttributeProto*"),
    },
    "AttributeProto": {"name": (1, "string"), "i": (3, "int64"), "type": (20, "int32")},
    "TensorProto": {"dims": (1, "int64*"), "data_type": (2, "int32"), "name": (8, "string"), "raw_data": (9, "bytes")},
}  # fmt: skip
"""Message of onnx.proto → the fields that are read or written, with number and type ("*": repeated); others stay as they are."""


def replace_noise(model: bytes, channels: Mapping[str, int]) -> bytes:
    """Return the model with tables in position of noise nodes.

    Args:
        model: an ONNX file whose nodes draw noise of shape (1, channels, frames), mean 0, deviation 1.
        channels: noise node's name → channels.

    Raises:
        ValueError: the file cannot be parsed, or its noise nodes are not those of ``channels``.
    """
    try:
        parsed = _messages()["ModelProto"].FromString(model)
    except DecodeError as error:
        raise ValueError(f"not a protocol buffer: {error}") from None
    graph, nodes, replaced = parsed.graph, [], list[str]()
    for node in graph.node:
        if node.op_type != NOISE_OPERATOR:
            nodes.append(node)
            continue
        if node.name not in channels:
            raise ValueError(f"the network draws noise at {node.name}, which is not expected")
        replaced.append(node.name)
        nodes += _look_up(node.name, node.input[0], node.output[0])
        graph.initializer.extend(_tables(node.name, channels[node.name], len(replaced)))
    if sorted(replaced) != sorted(channels):
        raise ValueError(f"the network draws noise at {replaced}, not at {sorted(channels)}")
    del graph.node[:]
    graph.node.extend(nodes)
    serialised: bytes = parsed.SerializeToString(deterministic=True)
    return serialised


def _look_up(at: str, like: str, output: str) -> Iterator[Any]:
    """Yield the nodes that output as many frames of the table as ``like`` has."""
    yield _node("Shape", [like], f"{at}/count", start=2, end=3)
    yield _node("Squeeze", [f"{at}/count"], f"{at}/frames")
    yield _node("Range", [f"{at}/0", f"{at}/frames", f"{at}/1"], f"{at}/range")
    yield _node("Mod", [f"{at}/range", f"{at}/columns"], f"{at}/at")
    yield _node("Gather", [f"{at}/table", f"{at}/at"], output, axis=2)


def _tables(at: str, channels: int, number: int) -> Iterator[Any]:
    # The only generator whose sequence numpy guarantees not to change.
    noise = np.random.RandomState(SEED * 1000 + number).standard_normal((1, channels, COLUMNS)).astype("<f4")
    tensor = _messages()["TensorProto"]
    yield tensor(name=f"{at}/table", dims=noise.shape, data_type=_FLOAT, raw_data=noise.tobytes())
    for end, value in (("0", 0), ("1", 1), ("columns", COLUMNS)):
        yield tensor(name=f"{at}/{end}", data_type=_INT64, raw_data=struct.pack("<q", value))


def _node(operator: str, inputs: list[str], output: str, **attributes: int) -> Any:
    settings = [{"name": name, "i": value, "type": _INT_ATTRIBUTE} for name, value in attributes.items()]
    return _messages()["NodeProto"](op_type=operator, name=f"{output}/fixed", input=inputs, output=[output], attribute=settings)


@cache
def _messages() -> dict[str, Any]:
    """Return name → class of the messages in :data:`_FIELDS`."""
    file = FileDescriptorProto(name="onnx.proto")
    for name, fields in _FIELDS.items():
        message = file.message_type.add(name=name)
        for field, (number, kind) in fields.items():
            plain = kind.removesuffix("*")
            own = {"type_name": plain} if plain in _FIELDS else {}
            message.field.add(
                name=field,
                number=number,
                type=FieldDescriptorProto.Type.Value(f"TYPE_{'MESSAGE' if own else plain.upper()}"),
                label=FieldDescriptorProto.LABEL_OPTIONAL if kind == plain else FieldDescriptorProto.LABEL_REPEATED,
                **own,
            )
    pool = DescriptorPool()
    pool.Add(file)
    return {name: GetMessageClass(pool.FindMessageTypeByName(name)) for name in _FIELDS}
