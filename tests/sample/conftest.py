"""The sample's packages and its server of posts."""

from __future__ import annotations

from pathlib import Path

import pytest

from components.sample.posts import PostsSite
from tests.support.sample.posts_material import build_packages


@pytest.fixture(scope="session")
def root(tmp_path_factory) -> Path:
    return build_packages(tmp_path_factory.mktemp("posts"))


@pytest.fixture(scope="session")
def site(root) -> PostsSite:
    return PostsSite(root)
