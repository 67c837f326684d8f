"""A stage computes with one numeric thread, also in libraries that were loaded before, so that results depend on no start."""

from __future__ import annotations

import os
import subprocess
import sys

from components.execution.engine import THREAD_LIMITS

SCRIPT = """
import numpy
from threadpoolctl import threadpool_info
from components.execution.engine import limit_threads
numpy.ones((200, 200)) @ numpy.ones((200, 200))
assert threadpool_info()
limit_threads()
assert {each["num_threads"] for each in threadpool_info()} == {1}, threadpool_info()
"""


def test_libraries_that_are_loaded_compute_with_one_thread() -> None:
    two = os.environ | dict.fromkeys(THREAD_LIMITS, "2")
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=two, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
