"""Helpers of the tests of the Ray engine."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from components.core.errors import HearsightError
from components.execution.ray_engine import RayEngine


def free_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def refusal(engine: RayEngine, lock: Path, folders: list[Path]) -> str:
    """The one line with which the engine refuses to open."""
    with pytest.raises(HearsightError) as caught, engine.open(lock, folders):
        pass
    assert "\n" not in str(caught.value)
    return str(caught.value)
