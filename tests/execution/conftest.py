"""The Ray cluster that tests of the engine share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.execution.ray_support import loopback_cluster


@pytest.fixture(scope="session")
def cluster() -> Iterator[Any]:
    """Three nodes of one core on loopback."""
    with loopback_cluster(3) as made:
        yield made
