"""Items of every table with people's ratings, and the stage over them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from components.core.params import parse_settings
from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from components.stages.evaluate_ratings import Params
from components.stages.evaluate_ratings.run import run
from tests.support import leave_warning, make_output, make_stage, row
from tests.support.ratings.rated import item, use, votes_of

MODEL, DUAL = "english-t2t8x8-0", "both-100-0"


def results(query: str, first: int, known: int) -> list[dict[str, Any]]:
    """Five results of a query, of which one is known."""
    place = {"direction": "speech_to_image"}
    return [
        item(first + rank, use("retrieval", DUAL, query, rank=rank, known=rank == known, **place), raters=5)
        for rank in range(1, 6)
    ]


ITEMS = [
    item(0, use("dataset", "english", "r0"), use("model", MODEL, "r0")),
    item(1, use("dataset", "english", "r1"), use("dataset", "english", "r2")),
    item(2, use("dataset", "english", "r3")),
    item(3, use("model", MODEL, "r1")),
    item(4, use("truth", "english", "r0"), raters=5),
    item(5, use("truth", "english", "r0"), raters=5, crop="centre"),
    item(6, use("dataset", "english", "r4"), crop="centre"),
    *results("q0.0", 10, known=1),
    *results("q1.0", 20, known=4),
]
VOTES = {
    0: "ggb",
    1: "gbb",
    2: "gg",
    3: "bbb",
    4: "ggggg",
    5: "gbbbb",
    6: "ggg",
    11: "ggggg",
    12: "ggbbb",
    13: "bbbbb",
    14: "gggbb",
}
VOTES |= {15: "bbbbb", **{20 + rank: "bbbbb" for rank in range(1, 6)}}


def evaluated(
    root: Path,
    ratings: dict[int, str] = VOTES,
    automatic: bool = True,
    warned: bool = False,
    judged: Sequence[dict[str, Any]] = (),
    **settings: Any,
) -> Stage:
    inputs = {"items": make_output(root, "build_rating_items", [ITEMS[:4], ITEMS[4:]])}
    people = [one for n, letters in ratings.items() for one in votes_of(n, letters)]
    inputs["input"] = make_output(root, "import_ratings", [[*people, *judged]])
    if warned:
        leave_warning(inputs["input"])
    if automatic:
        about = {"model": MODEL, "references": ["a"], "output": "b"}
        written = [row("evaluate_captioners", key=f"r{n}", test="english", cider_d=float(n), **about) for n in range(4)]
        written.append(row("evaluate_captioners", key="r0", test="cleaned", cider_d=9.0, **about))
        inputs["captioners"] = make_output(root, "evaluate_captioners", [written], dataset="captioners")
        asked = {"model": DUAL, "direction": "speech_to_image", "crop": "centre"}
        ranks = [row("evaluate_retrieval", key=f"q{n}.0", query=f"q{n}", rank=n + 1, **asked) for n in range(10)]
        inputs["retrieval"] = make_output(root, "evaluate_retrieval", [ranks])
    params = parse_settings(Params, {"resamples": 50} | settings, "params.yaml: english.evaluate_ratings")
    stage = make_stage(root, "evaluate_ratings", params=params, inputs=inputs)
    run(stage)
    stage.finish()
    return stage


def rows(stage: Stage) -> dict[str, dict[str, Any]]:
    """Name → row of scores.json."""
    scores = json.loads(StageOutput(stage.out).file("scores.json").read_bytes())["ratings"]
    return {"/".join(filter(None, (r["table"], r["source"], r["crop"], r["direction"]))): r for r in scores["rows"]}
