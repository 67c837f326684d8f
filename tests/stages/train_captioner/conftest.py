"""The small network stands for every name, so that the tests are of training alone."""

from __future__ import annotations

import pytest

from tests.stages.train_captioner.support import SmallNetwork


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.models.captioners.build", SmallNetwork)
    monkeypatch.setattr("components.models.trained.build", SmallNetwork)
