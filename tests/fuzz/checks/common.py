"""Assertions shared by several checks."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable
from dataclasses import fields, is_dataclass
from typing import Any

from components.web.html.page import Candidate
from components.web.urls import host_of, normalise

PAGE = "http://a.sample/folder/page.html?q"
LARGEST = 1 << 63
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f]")


def storable(value: Any) -> None:
    """Assert that a value fits a table or ledger: text encodes as UTF-8, numbers fit 64 bits."""
    if isinstance(value, str):
        value.encode()
    elif isinstance(value, dict):
        storable(list(value.items()))
    elif isinstance(value, (list, tuple, set, frozenset)):
        for one in value:
            storable(one)
    elif is_dataclass(value):
        for field in fields(value):
            storable(getattr(value, field.name))
    elif isinstance(value, int):
        assert -LARGEST <= value < LARGEST, "a number of more than 64 bits"


def shown(text: str) -> None:
    """Assert that a text has no control characters and no lone surrogates."""
    text.encode()
    assert not _CONTROLS.search(text), "control characters"


def address(url: str) -> None:
    """Assert that ``url`` is normalised and names a host."""
    assert normalise(url) == url, "an address changes when it is normalised again"
    assert host_of(url), "an address without a host"


def candidates(found: Iterable[Candidate]) -> None:
    """Assert the properties of the images of a web page."""
    for position, candidate in enumerate(found):
        assert candidate.position == position
        storable(candidate)
        shown(candidate.alt)
        shown(candidate.figcaption)
        if candidate.image_url is not None and not candidate.image_url.startswith("file:"):
            address(candidate.image_url)


_HANDLES: dict[str, int] = {}


def as_file(data: bytes, name: str = "input") -> str:
    """The path of a file in memory that holds ``data``; the next call of that name overwrites it."""
    if name not in _HANDLES:
        _HANDLES[name] = os.memfd_create(name)
    handle = _HANDLES[name]
    os.ftruncate(handle, 0)
    os.pwrite(handle, data, 0)
    return f"/proc/self/fd/{handle}"
