"""Refuse images before their body is fetched: by the answer's headers, then by the first bytes of the body.

A refusal is stored as a failure of its class, so that a replay gives the same result. Headers may be wrong: an accepted image is
still decoded (``images.image``) and checked against the same limits (:func:`check_size`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from components.web.images.head import FORMATS, find_exceeded_limit, guess_content, read_head
from components.web.settings import FetchSettings

PREFIX = 256 * 1024
"""Bytes in which a header is searched; camera JPEGs hold colour profiles and previews before it."""
WHOLE = "a whole " + " ".join(FORMATS)
"""The ledger's threshold for an answer that should be an image."""
_PLAIN = ("text/plain", "application/octet-stream", "binary/octet-stream", "application/binary", "application/x-binary")
"""Types that servers send for unknown files: the first bytes decide."""
_OTHER_GROUPS = ("text", "audio", "video", "font", "multipart", "message", "model")
_OTHER_SUBTYPES = ("json", "xml", "pdf", "zip", "gzip", "javascript", "wasm", "ecmascript", "rtf", "tar", "x-tar", "sql")


@dataclass(frozen=True)
class Refusal:
    """Why an image is refused, as the ledger states it."""

    rule: str
    """not_an_image | foreign_image | image_too_large | image_side | image_ratio."""
    value: str
    threshold: str


def check_headers(sent: Mapping[str, str], settings: FetchSettings) -> Refusal | None:
    """Return the refusal by the headers (lower-case names) of an answer to a request for an image; None to accept."""
    kind = sent.get("content-type", "").partition(";")[0].strip().lower()
    group, _, name = kind.partition("/")
    if kind not in _PLAIN and (group in _OTHER_GROUPS or (group == "application" and name.rpartition("+")[2] in _OTHER_SUBTYPES)):
        return Refusal("not_an_image", kind[:80], "an image type")
    length = parse_content_length(sent)
    # The header states the encoded size; an encoded body is measured while it is read.
    if length is not None and length > settings.max_image_bytes and not sent.get("content-encoding", ""):
        return Refusal("image_too_large", f"{length} bytes", f"{settings.max_image_bytes} bytes")
    return None


def parse_content_length(sent: Mapping[str, str]) -> int | None:
    """Return the Content-Length if it is valid."""
    text = sent.get("content-length", "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def check_prefix(prefix: bytes, settings: FetchSettings, *, last: bool) -> Refusal | Literal[False] | None:
    """Return the refusal by the first bytes of a body; None to accept, False while more bytes are needed."""
    head = read_head(prefix, last=last)
    if head is None:
        return False
    if head.format not in FORMATS:
        rule, value = ("foreign_image", head.format) if head.format else ("not_an_image", guess_content(prefix))
        return Refusal(rule, value, WHOLE)
    return check_size(head.width, head.height, settings) if head.width else None


def check_size(width: int, height: int, settings: FetchSettings) -> Refusal | None:
    """Return the refusal of an image that is too large to decode, too small, or too narrow; None to accept."""
    size = f"{width} x {height} px"
    if limit := find_exceeded_limit(width, height, pixels=settings.budget.image_pixels, side=settings.budget.image_side):
        return Refusal("image_too_large", size, limit)
    if settings.min_side and min(width, height) < settings.min_side:
        return Refusal("image_side", size, f"at least {settings.min_side} px")
    if settings.max_aspect and max(width, height) > settings.max_aspect * min(width, height):
        return Refusal("image_ratio", size, f"at most {settings.max_aspect:g}")
    return None


async def read_image(answer: Any, sent: Mapping[str, str], settings: FetchSettings) -> tuple[Refusal | None, bytes]:
    """Return the body of an image, or its refusal; after a refusal the rest is not read and the connection is closed.

    ``answer`` is an ``aiohttp.ClientResponse`` with the headers ``sent`` (lower-case names). Their splitting has no effect.
    """
    refusal, body, max_bytes = check_headers(sent, settings), bytearray(), settings.max_image_bytes
    if refusal is None:
        prefix_limit, next_check, undecided = min(PREFIX, max_bytes), 12, True
        async for piece in answer.content.iter_any():
            body += piece
            if undecided and len(body) >= min(next_check, prefix_limit):
                verdict = check_prefix(bytes(body[:prefix_limit]), settings, last=len(body) >= prefix_limit)
                undecided, refusal = verdict is False, verdict or None
                next_check = 2 * len(body)  # doubling bounds the work for a body that arrives in small pieces
            if refusal is None and len(body) > max_bytes:
                refusal = Refusal("image_too_large", f"over {max_bytes} bytes", f"{max_bytes} bytes")
            if refusal:
                break
        if undecided:
            refusal = check_prefix(bytes(body[:prefix_limit]), settings, last=True) or None
    if refusal is None:
        return None, bytes(body)
    # A small body is complete and its connection can be reused; the rest of any other body is not read.
    if not answer.content.is_eof():
        answer.close()
    return refusal, b""
