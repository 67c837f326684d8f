"""Replace all networks by a small one."""

from __future__ import annotations

import pytest

from tests.support.train_captioner.project import SmallNetwork


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("components.stages.train_captioner.jobs.build", SmallNetwork)
    monkeypatch.setattr("components.models.trained_captioner.build", SmallNetwork)
