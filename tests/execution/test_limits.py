"""A function over untrusted input costs no more than its budget, and ends nothing but itself."""

from __future__ import annotations

import os
import signal
import subprocess
import sys

import psutil
import pytest

from components.execution.limits import ItemFailure, run_limited

MEMORY = 1 << 28


def work(what: str) -> str:
    if what == "cpu":
        while True:
            pass
    if what == "memory":
        return str(len(bytearray(2 * MEMORY)))
    if what == "crash":
        os.kill(os.getpid(), signal.SIGSEGV)
    if what == "exit":
        os._exit(3)
    if what == "error":
        raise ValueError("no such thing")
    return what.upper()


def limited(*items: str) -> list[str | ItemFailure]:
    return run_limited(work, items, seconds=0.5, memory=MEMORY)


def test_each_item_has_its_result_in_order():
    assert limited("a", "b", "c") == ["A", "B", "C"]
    assert limited() == []


@pytest.mark.long
@pytest.mark.parametrize("fault", ["cpu", "memory", "crash", "exit"])
def test_an_item_over_its_limit_loses_no_other_item(fault):
    reason = {"exit": "crash"}.get(fault, fault)
    assert limited("a", fault, "b", fault) == ["A", ItemFailure(reason), "B", ItemFailure(reason)]


def test_memory_that_the_parent_keeps_is_not_beyond_the_limit():
    """In a process of its own: kept memory would stay for all tests after this one."""
    code = """
from components.execution.process import keep_freed_memory
from tests.execution.test_limits import MEMORY, limited

keep_freed_memory()
freed = [bytearray(MEMORY // 2) for _ in range(7)]
del freed
print(limited("a", "memory", "b"))
"""
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip() == str(["A", ItemFailure("memory"), "B"])


def test_an_error_of_the_function_is_raised_here():
    with pytest.raises(ValueError, match="no such thing"):
        limited("a", "error", "b")


def test_no_child_process_remains():
    before = set(psutil.Process().children())
    limited("a", "cpu", "crash", "b")
    assert set(psutil.Process().children()) <= before


def test_changes_made_in_the_child_are_lost():
    seen: list[int] = []
    assert run_limited(lambda item: seen.append(item) or len(seen), [1, 2], seconds=5, memory=MEMORY) == [1, 2]
    assert seen == []


def test_large_results_arrive_whole():
    assert [len(result) for result in run_limited(lambda size: b"x" * size, [10, 5_000_000], seconds=5, memory=MEMORY)] == [
        10,
        5_000_000,
    ]
