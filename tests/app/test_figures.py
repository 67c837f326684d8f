"""Scores of the start page: which direction is better, what is not better than chance, and how many were rated."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from components.app.figures import Figures, Remark, figures
from components.core.addresses import metrics_path
from components.core.graph import load_graph
from components.tracking.states import output_states
from tests.support import make_stage, publish
from tests.support.app.project import new_project

RECALL = {"value": 0.25, "low": 0.2, "high": 0.5}
RETRIEVAL = {
    "crop": "centre",
    "rows": {"mms-48": {"centre": {"speech_to_image": {"r_at_10": RECALL}, "image_to_speech": {"r_at_10": RECALL}}}},
    "chance": {"speech_to_image": {"r_at_10": 0.2}, "image_to_speech": {"r_at_10": 0.1}},
}
RATINGS = [
    {"table": "truth", "source": "english", "crop": "whole", "direction": "", "counted": 6},
    {"table": "retrieval", "source": "mms-48-0", "crop": "", "direction": "speech_to_image", "counted": 4},
]


def evaluated(root: Path, stage: str, metrics: dict[str, Any], scores: dict[str, Any]) -> None:
    """Leave an output with its scores and the figures that DVC compares."""
    job = make_stage(root, stage)
    job.write_file("scores.json", json.dumps(scores).encode())
    publish(job)
    path = metrics_path(root, "english", stage)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps({"english": metrics}))


@pytest.fixture
def found(tmp_path: Path) -> Figures:
    """The figures of a dataset with speech, retrieval and ratings."""
    root = new_project(tmp_path)
    evaluated(root, "evaluate_speech", {"a": {"word_error_rate": 0.5}, "b": {"word_error_rate": 0.25}}, {})
    recalls = {"mms-48": {"speech_to_image": {"r_at_10": 0.25}, "image_to_speech": {"r_at_10": 0.25}}}
    evaluated(root, "evaluate_retrieval", recalls, {"retrieval": RETRIEVAL})
    good = {"truth": {"english": {"whole": {"good_by_majority": 1.0}}}}
    good["retrieval"] = {"mms-48-0": {"speech_to_image": {"good_by_majority": 0.5}}}
    evaluated(root, "evaluate_ratings", good, {"ratings": {"rows": RATINGS}})
    graph = load_graph(root)
    return figures(graph, output_states(graph))["english"]


def test_the_best_is_first_also_where_lower_is_better(found: Figures) -> None:
    errors, recalls = found.scores["word error rate"], found.scores["R@10"]
    assert errors.lower and [bar.label for bar in errors.bars] == ["b", "a"] and not recalls.lower


def test_a_recall_whose_interval_reaches_chance_says_so(found: Figures) -> None:
    remarks = {bar.label: bar.remark for bar in found.scores["R@10"].bars}
    assert remarks == {"mms-48 speech to image": Remark("not_better_than_chance"), "mms-48 image to speech": None}


def test_a_share_of_ratings_says_of_how_many(found: Figures) -> None:
    bars = found.scores["good by majority"].bars
    assert [bar.remark for bar in bars] == [Remark("of_pairs", 6), Remark("of_queries", 4)]
