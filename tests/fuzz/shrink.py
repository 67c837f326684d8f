"""Minimisation of a failing input: pieces are removed as long as the fault stays the same.

libFuzzer's ``-minimize_crash`` accepts any crash; this keeps the fault that the file is named after.
"""

from __future__ import annotations

from pathlib import Path

from tests.fuzz.child import fault_name
from tests.fuzz.targets import TARGETS


def fault_of(target: str, data: bytes) -> str:
    """Return the name of the fault of an input; '' when its check passes."""
    try:
        TARGETS[target].check(data)
    except Exception as error:
        return fault_name(error)
    return ""


def shrink(target: str, data: bytes) -> bytes:
    """Return the smallest input with the same fault that removing pieces yields."""
    fault, size = fault_of(target, data), len(data) // 2
    while fault and size:
        at, smaller = 0, False
        while at < len(data):
            less = data[:at] + data[at + size :]
            if fault_of(target, less) == fault:
                data, smaller = less, True
            else:
                at += size
        size = min(size, len(data) // 2) if smaller and size == 1 else size // 2
    return data


def shrink_file(target: str, path: Path) -> str:
    """Replace a file by its minimised form; return a summary."""
    data = path.read_bytes()
    fault = fault_of(target, data)
    if not fault:
        return f"{path}: its check passes"
    small = shrink(target, data)
    path.write_bytes(small)
    return f"{path}: {fault}, {len(data)} bytes reduced to {len(small)}"
