"""Content digests: of bytes, of files, and of plain values in one canonical spelling."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any


def sha256_bytes(data: bytes) -> str:
    """The sha256 of ``data``, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """The sha256 of a file's content, read in pieces so that its size does not matter."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def canonical_json(value: Any) -> str:
    """``value`` as JSON with sorted keys and no spaces: equal values give equal text.

    Raises:
        TypeError: the value holds something JSON cannot spell (a set, an object).
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest_value(value: Any) -> str:
    """The sha256 of a plain value's canonical JSON."""
    return sha256_bytes(canonical_json(value).encode())
