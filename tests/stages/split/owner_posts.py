"""Posts of owners, and their split by the stage."""

from __future__ import annotations

from pathlib import Path
from typing import Any, cast

import pytest

from components.core.errors import HearsightError
from components.core.params import parse_settings
from components.core.stage_output import StageOutput
from components.stages.split import ByOwner, Params
from components.stages.split.run import run
from tests.support import make_output, make_stage, row

SETTINGS = ByOwner(sides="ours")
SHARES = {"train": 0.6, "validation": 0.2, "test": 0.2}
DAYS = ("2026-11-01T00:00:00Z", "2026-11-02T00:00:00Z", "2026-11-03T00:00:00Z")


def record(number: int, owner: str, group: str = "", day: int = 0, posted: str = "") -> dict[str, Any]:
    key = f"{number:016x}"
    return row("dedup", key=key, group=group or key, owner=owner, collected=DAYS[day] if day >= 0 else "", posted=posted)


def split(root: Path, rows: list[dict[str, Any]], params: Params = SETTINGS, shards: int = 2) -> Any:
    source = make_output(root, "dedup", [rows[n::shards] for n in range(shards)], dataset="posts")
    stage = make_stage(root, "split", "posts", params, {"input": source})
    run(stage)
    stage.finish()
    return stage


def splits_by_key(stage: Any) -> dict[str, str]:
    return {r["key"]: r["split"] for r in StageOutput(stage.out).table().to_pylist()}


def splits_by_owner(stage: Any) -> dict[str, set[str]]:
    splits: dict[str, set[str]] = {}
    for r in StageOutput(stage.out).table().to_pylist():
        if r["owner"]:
            splits.setdefault(r["owner"], set()).add(r["split"])
    return splits


def refusal(tmp_path: Path, **changed: Any) -> str:
    with pytest.raises(HearsightError) as caught:
        split(
            tmp_path,
            [record(1, "o1")],
            cast(Params, parse_settings(Params, SETTINGS.plain() | changed, "params.yaml: english.split")),
        )
    assert "\n" not in str(caught.value)
    return str(caught.value)
