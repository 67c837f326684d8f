"""SHA-256 digests of bytes, files and JSON values."""

from __future__ import annotations

import hashlib
import json
import re
from pathlib import Path
from typing import Any


def sha256_bytes(data: bytes) -> str:
    """Return the sha256 of ``data`` in hexadecimal."""
    return hashlib.sha256(data).hexdigest()


def sha256_file(path: Path) -> str:
    """Return the sha256 of a file's content, read in blocks."""
    with path.open("rb") as handle:
        return hashlib.file_digest(handle, "sha256").hexdigest()


def is_digest(value: object) -> bool:
    """Return whether a value is a sha256 in hexadecimal."""
    return isinstance(value, str) and re.fullmatch("[0-9a-f]{64}", value) is not None


def canonical_json(value: Any) -> str:
    """Return ``value`` as JSON with sorted keys and no spaces: equal values give equal text.

    Raises:
        TypeError: the value holds something that JSON cannot represent (a set, an object).
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest_value(value: Any) -> str:
    """Return the sha256 of a value's canonical JSON."""
    return sha256_bytes(canonical_json(value).encode())
