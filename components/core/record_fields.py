"""Fields of Arrow schemas with their units, and the nested types that several stages' records have."""

from __future__ import annotations

import pyarrow as pa

STR, I32, I64, F32, F64 = pa.string(), pa.int32(), pa.int64(), pa.float32(), pa.float64()


def schema(*fields: pa.Field) -> pa.Schema:
    """Return a schema of fields."""
    return pa.schema(fields)


def list_of(*fields: pa.Field) -> pa.DataType:
    """Return the type of a list of structs."""
    return pa.list_(pa.struct(fields))


def field(name: str, kind: pa.DataType, unit: str = "", *, nullable: bool = False) -> pa.Field:
    """Return a field; ``unit`` stands in its metadata."""
    return pa.field(name, kind, nullable=nullable, metadata={"unit": unit} if unit else None)


LABELS = list_of(
    field("label", STR),
    field("confidence", F32, "0..1"),
    field("identifier", STR, "n + 8 digits (WordNet 3.0), or a Knowledge Graph id; empty for none"),
)
CONTEXT = pa.struct(
    [
        field("heading", STR, "title or heading of the page that the alt-text repeats; none for no such text", nullable=True),
        field("heading_kind", STR, "title, og:title, or h1 to h6", nullable=True),
        field("link_text", STR, "text of a link of the page that the alt-text repeats", nullable=True),
        field("link_url", STR, "where the link around the image leads", nullable=True),
        field("control", pa.bool_(), "whether the image is, or is in, a button", nullable=True),
        field("role", STR, "of the image", nullable=True),
        field("layout_width", I32, "px, if the page states it", nullable=True),
        field("layout_height", I32, "px, if the page states it", nullable=True),
        field("figcaption_agrees", pa.bool_(), "whether the figcaption has the alt-text's words", nullable=True),
        field("site_count", I32, "images of the site, in this crawl, with this alt-text", nullable=True),
    ]
)
"""All fields may be null, since Arrow refuses a null struct with fields that may not."""
STEPS = list_of(field("step", STR), field("before", STR), field("after", STR), field("reason", STR))
