"""Images refused before their body is fetched: by the answer's headers, then by the first bytes of the body.

A refusal is stored as a failure of its class, so a replay of the snapshot says the same. Headers lie: what passes here is
still decoded and measured (``image``), and held to the same limits (:func:`out_of_range`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from components.web.budget import Budget
from components.web.images.head import read_head
from components.web.images.kinds import FORMATS, find_exceeded_limit, guess_content

PREFIX = 256 * 1024
"""Bytes within which a header is looked for; camera JPEGs hold colour profiles and previews before it."""
WHOLE = "a whole " + " ".join(FORMATS)
"""What an answer that should be an image is held to."""
_PLAIN = ("text/plain", "application/octet-stream", "binary/octet-stream", "application/binary", "application/x-binary")
"""What servers say of files they do not know: the first bytes decide."""
_NO_IMAGES = ("text", "audio", "video", "font", "multipart", "message", "model")
_NO_IMAGE = ("json", "xml", "pdf", "zip", "gzip", "javascript", "wasm", "ecmascript", "rtf", "tar", "x-tar", "sql")


@dataclass(frozen=True)
class Limits:
    """What an image may be; 0 switches off ``min_side`` and ``max_aspect``."""

    max_bytes: int
    min_side: int = 0
    """px of the smaller side."""
    max_aspect: float = 0.0
    """Larger side by smaller side."""
    max_pixels: int = Budget().image_pixels
    """px in all."""
    max_side: int = Budget().image_side
    """px of the larger side."""


@dataclass(frozen=True)
class Refusal:
    """Why an image is refused, in the ledger's words."""

    rule: str
    """not_an_image | foreign_image | image_too_large | image_side | image_ratio."""
    value: str
    threshold: str


def check_headers(sent: Mapping[str, str], limits: Limits) -> Refusal | None:
    """What the headers (lower-case names) of an answer to a request for an image say against it."""
    kind = sent.get("content-type", "").partition(";")[0].strip().lower()
    group, _, name = kind.partition("/")
    if kind not in _PLAIN and (group in _NO_IMAGES or (group == "application" and name.rpartition("+")[2] in _NO_IMAGE)):
        return Refusal("not_an_image", kind[:80], "an image type")
    length = parse_content_length(sent)
    # Of an encoded body the header tells the encoded size; that one is measured while it is read.
    if length is not None and length > limits.max_bytes and not sent.get("content-encoding", ""):
        return Refusal("image_too_large", f"{length} bytes", f"{limits.max_bytes} bytes")
    return None


def parse_content_length(sent: Mapping[str, str]) -> int | None:
    """The Content-Length, where there is a sound one."""
    text = sent.get("content-length", "").strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) < 19 else None


def check_prefix(prefix: bytes, limits: Limits, *, last: bool) -> Refusal | Literal[False] | None:
    """What the first bytes of a body say against it; None when nothing does, False while more of them are needed."""
    head = read_head(prefix, last=last)
    if head is None:
        return False
    if head.format not in FORMATS:
        rule, value = ("foreign_image", head.format) if head.format else ("not_an_image", guess_content(prefix))
        return Refusal(rule, value, WHOLE)
    return check_size(head.width, head.height, limits) if head.width else None


def check_size(width: int, height: int, limits: Limits) -> Refusal | None:
    """Whether an image of ``width`` × ``height`` px is too large to decode, too small, or too narrow."""
    size = f"{width} x {height} px"
    if limit := find_exceeded_limit(width, height, pixels=limits.max_pixels, side=limits.max_side):
        return Refusal("image_too_large", size, limit)
    if limits.min_side and min(width, height) < limits.min_side:
        return Refusal("image_side", size, f"at least {limits.min_side} px")
    if limits.max_aspect and max(width, height) > limits.max_aspect * min(width, height):
        return Refusal("image_ratio", size, f"at most {limits.max_aspect:g}")
    return None


async def read_image(answer: Any, sent: Mapping[str, str], limits: Limits) -> tuple[Refusal | None, bytes]:
    """The body of an image, or why it is refused; then the rest stays unread and its connection is closed.

    What comes out depends on the bytes and not on the pieces they come in.

    Args:
        answer: an ``aiohttp.ClientResponse`` whose headers have come.
        sent: its headers, lower-case names.
        limits: what an image may be.
    """
    refusal, body = check_headers(sent, limits), bytearray()
    if refusal is None:
        cap, look_at, open_question = min(PREFIX, limits.max_bytes), 12, True
        async for piece in answer.content.iter_any():
            body += piece
            if open_question and len(body) >= min(look_at, cap):
                found = check_prefix(bytes(body[:cap]), limits, last=len(body) >= cap)
                open_question, refusal = found is False, found or None
                look_at = 2 * len(body)  # a trickle is not read over and over
            if refusal is None and len(body) > limits.max_bytes:
                refusal = Refusal("image_too_large", f"over {limits.max_bytes} bytes", f"{limits.max_bytes} bytes")
            if refusal:
                break
        if open_question:
            refusal = check_prefix(bytes(body[:cap]), limits, last=True) or None
    if refusal is None:
        return None, bytes(body)
    # A small body has come with its headers and leaves a connection to use again; of any other the rest is not wanted.
    if not answer.content.is_eof():
        answer.close()
    return refusal, b""
