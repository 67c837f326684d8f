"""Drawn faults: a run under each, and again without it, ends as an uninterrupted one, and every failure is seen."""

from __future__ import annotations

import random
from collections.abc import Iterator

import pytest

from components.execution.input_watch import InputWatch
from tests.faults.fault import World
from tests.faults.scenario import KINDS, draw_kind, run_fault
from tests.faults.world import build_world
from tests.support import THOROUGH

COUNT = 200
"""Faults of `make test-all`, of every kind in turn."""
QUICK = (("kill", 0), ("kill", 7), ("corrupt", 0), ("full", 2), ("clock", 3), ("edit", 4))
"""Faults of `make test-long`, each of about a second: a run that ends at the stage that is struck."""

pytestmark = [pytest.mark.long, pytest.mark.timeout(7200)]


@pytest.fixture(scope="module")
def world(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """A finished project for faults to strike."""
    world = build_world(tmp_path_factory.mktemp("faults"), quick=not THOROUGH)
    yield world
    world.close()


def hold(world: World, kind: str, seed: int) -> None:
    outcome = run_fault(world, kind, seed)
    assert not outcome.problems, f"{outcome.command}\n{outcome.about}: {outcome.problems}\n{outcome.log}"


@pytest.mark.skipif(THOROUGH, reason="`make test-all` draws more")
@pytest.mark.parametrize(("kind", "seed"), QUICK)
def test_a_run_under_a_fault_ends_as_an_uninterrupted_one(world: World, kind: str, seed: int) -> None:
    hold(world, kind, seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", (1, 4, 6))
def test_a_flow_whose_parts_are_killed_is_finished_by_the_next(world: World, seed: int) -> None:
    hold(world, "flow", seed)  # the server, a stage, the flow itself: minutes each, since Prefect's client waits


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(COUNT))
def test_every_drawn_fault_is_survived_and_seen(world: World, seed: int) -> None:
    hold(world, draw_kind(seed), seed)


def test_the_harness_reports_a_result_of_mixed_inputs(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(InputWatch, "require_unchanged", lambda *_: None)
    seeds = (seed for seed in range(100) if "of split" in KINDS["edit"](random.Random(f"edit/{seed}"), world).about)
    assert any(
        "another manifest" in problem
        for seed in [next(seeds), next(seeds)]
        for problem in run_fault(world, "edit", seed).problems
    )


def test_a_seed_draws_the_same_fault_again(world: World) -> None:
    for kind in ("kill", "corrupt", "edit", "clock", "full"):
        drawn = {KINDS[kind](random.Random(f"{kind}/5"), world).about for _ in range(2)}
        assert len(drawn) == 1
