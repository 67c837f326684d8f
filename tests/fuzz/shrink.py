"""An input made as small as its fault allows: ever smaller pieces are left out while the fault stays the same.

libFuzzer's ``-minimize_crash`` keeps any crash; this keeps the fault that the file is named for.
"""

from __future__ import annotations

from pathlib import Path

from tests.fuzz.child import fault_name
from tests.fuzz.targets import TARGETS


def fault_of(target: str, data: bytes) -> str:
    """The name of the fault of an input; '' when all holds."""
    try:
        TARGETS[target].check(data)
    except Exception as error:
        return fault_name(error)
    return ""


def shrink(target: str, data: bytes) -> bytes:
    """The smallest input of the same fault that leaving out pieces leads to."""
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
    """Overwrite a file with its smaller form; says what was done."""
    data = path.read_bytes()
    fault = fault_of(target, data)
    if not fault:
        return f"{path}: nothing is wrong with it"
    small = shrink(target, data)
    path.write_bytes(small)
    return f"{path}: {fault}, {len(data)} bytes made {len(small)}"
