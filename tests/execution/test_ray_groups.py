"""Groups of ranks on the nodes of a real cluster: their environment, and what happens when one dies."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from components.core.errors import HearsightError
from components.execution import ray_groups
from components.execution.ray_engine import RayEngine
from components.execution.resources import Resources
from tests.execution import ray_work
from tests.support.execution.gpu_shares import shared_at_once

pytestmark = pytest.mark.long

TWO = Resources(gpus=2, nodes=2, processes=2)
PAIR = Resources(nodes=2)


@pytest.fixture(scope="module")
def engine(cluster: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[RayEngine]:
    root = tmp_path_factory.mktemp("groups")
    engine = RayEngine(cluster.address, cpus=0.25, wait=0.0)
    with engine.open(root, root / "lock", [root]):
        yield engine


def seen(folder: Path) -> list[dict[str, Any]]:
    return [json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))]


def test_each_rank_knows_its_place_and_sees_the_gpus_of_its_node(engine: RayEngine, tmp_path: Path) -> None:
    assert list(engine.run(partial(ray_work.meet, tmp_path), ["go"], TWO)) == [(0, 0)]
    ranks = seen(tmp_path)
    assert [(one["RANK"], one["NODE_RANK"], one["LOCAL_RANK"]) for one in ranks] == [
        ("0", "0", "0"), ("1", "0", "1"), ("2", "1", "0"), ("3", "1", "1"),
    ]  # fmt: skip
    assert {one["WORLD_SIZE"] for one in ranks} == {"4"}
    assert len({(one["MASTER_ADDR"], one["MASTER_PORT"]) for one in ranks}) == 1
    assert ranks[0]["node"] == ranks[1]["node"] != ranks[2]["node"] == ranks[3]["node"]
    assert {tuple(sorted(one["CUDA_VISIBLE_DEVICES"].split(","))) for one in ranks} == {("0", "1")}


def test_a_killed_rank_ends_the_others_and_the_group_is_placed_again(engine: RayEngine, tmp_path: Path) -> None:
    assert list(engine.run(partial(ray_work.meet, tmp_path), ["die once"], PAIR)) == [(0, 0)]
    assert len(seen(tmp_path)) == 4


@pytest.mark.slow
def test_deaths_without_a_checkpoint_end_the_run_and_others_do_not(engine: RayEngine, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(ray_groups, "DEATHS", 2)
    assert list(engine.run(partial(ray_work.meet, tmp_path), ["progress"], PAIR)) == [(0, 0)]
    with pytest.raises(HearsightError, match=r"^work, 0: a rank or its node died 2 times without a new checkpoint") as caught:
        list(engine.run(partial(ray_work.meet, tmp_path), ["die"], PAIR))
    assert "\n" not in str(caught.value) and len(list(tmp_path.glob("die-*.json"))) == 4


@pytest.mark.slow
def test_errors_of_ranks_keep_their_line_or_their_traceback(engine: RayEngine, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(ray_groups, "DEATHS", 1)
    with pytest.raises(HearsightError, match=r"^a/shard: is torn — make it again$"):
        list(engine.run(partial(ray_work.meet, tmp_path), ["correctable"], PAIR))
    with pytest.raises(RuntimeError, match="Connection closed by peer") as caught:
        list(engine.run(partial(ray_work.meet, tmp_path), ["break"], PAIR))
    assert "ray_work.py" in caught.value.__notes__[0]


@pytest.mark.parametrize(
    ("resources", "message"),
    [
        (Resources(nodes=9), r"has \d of 9 nodes with 1 core — start nodes"),
        (Resources(gpus=3), r"has 0 of 1 nodes with 1 core and 3 GPUs — start nodes"),
        (Resources(cpus=64), r"has 0 of 1 nodes with 64 cores — start nodes"),
    ],
)
def test_more_than_the_cluster_has_is_one_line(engine: RayEngine, tmp_path: Path, resources: Resources, message: str) -> None:
    with pytest.raises(HearsightError, match=message) as caught:
        list(engine.run(partial(ray_work.meet, tmp_path), ["go"], resources))
    assert "\n" not in str(caught.value) and not seen(tmp_path)


def test_items_that_need_a_gpu_never_share_one(engine: RayEngine, tmp_path: Path) -> None:
    held = [result for _, result in engine.run(partial(ray_work.hold_gpu, tmp_path), range(5), Resources(gpus=1, cpus=0))]
    assert len(held) == 5 and not shared_at_once(held) and all(len(gpus.split(",")) == 1 for gpus, _, _ in held)


def test_an_item_that_needs_no_gpu_sees_none(engine: RayEngine, tmp_path: Path) -> None:
    ((_, (gpus, _, _)),) = engine.run(partial(ray_work.hold_gpu, tmp_path), [0])
    assert gpus.endswith(":")


def test_auto_is_a_gpu_where_a_node_has_one(engine: RayEngine) -> None:
    assert [engine.device(name) for name in ("auto", "cpu", "gpu")] == ["gpu", "cpu", "gpu"]
