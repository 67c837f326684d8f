"""The alias ``best`` moves only to a model that is better on the same data by more than seeds differ, and moves back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from components.tracking.best_alias import Score, compare, offer
from components.tracking.record import connect
from components.tracking.recorder import record_run
from tests.support.command import hearsight
from tests.support.tracking.project import finish, train_rows, weights

NAME, STAGE = "english-captioner", "pretrain_retrieval"


def aliases(root: Path) -> dict[str, str]:
    return {name: str(version) for name, version in connect(root).get_registered_model(NAME).aliases.items()}


def register(client: Any, root: Path, score: Score) -> str:
    return str(client.create_model_version(NAME, root.as_uri(), tags=score.tags()).version)


@pytest.mark.parametrize(
    ("new", "old", "moves", "reason"),
    [
        (Score(0.50, 0.01, "a"), Score(0.40, 0.02, "a"), True, "more than the spread over seeds, 0.02"),
        (Score(0.41, 0.001, "a"), Score(0.40, 0.02, "a"), False, "not more than the spread over seeds, 0.02"),
        (Score(0.41, 0.02, "a"), Score(0.40, 0.001, "a"), False, "not more than the spread over seeds, 0.02"),
        (Score(0.42, None, "a"), Score(0.40, 0.03, "a"), False, "not more than the spread over seeds, 0.03"),
        (Score(0.30, 0.01, "a"), Score(0.40, 0.01, "a"), False, "0.4 → 0.3"),
        (Score(0.41, None, "a"), Score(0.40, None, "a"), True, "spread over seeds is unknown"),
        (Score(0.40, None, "a"), Score(0.40, None, "a"), False, "spread over seeds is unknown"),
        (Score(0.90, 0.01, "a"), Score(0.40, 0.01, "b"), False, "validation data differ"),
        (Score(0.90, 0.01, ""), Score(0.40, 0.01, ""), False, "are unknown"),
        (Score(0.90, 0.01, "a"), None, False, "are unknown"),
    ],
)
def test_the_rule_of_a_move(new: Score, old: Score | None, moves: bool, reason: str) -> None:
    decided, why = compare(new, old)
    assert decided == moves and reason in why


def test_the_spread_is_that_of_the_seeds_of_one_row() -> None:
    models = [{"key": key, "validation": value} for key, value in (("mms-4-0", 0.2), ("mms-4-1", 0.4), ("mms-8-0", 0.9))]
    assert Score.of(models[0], models, "a").spread == pytest.approx(0.1414, abs=1e-4)
    assert Score.of(models[2], models, "a").spread is None
    score = Score(1 / 3, None, "")
    assert Score.read(score.tags()) == score and Score.read({}) is None


@pytest.mark.long
def test_the_previous_version_is_kept_and_one_command_restores_it(root: Path, capfd: pytest.CaptureFixture[str]) -> None:
    client = connect(root)
    client.create_registered_model(NAME)
    for score, wanted in (
        (Score(0.4, 0.01, "a"), {"best": "1"}),
        (Score(0.5, 0.01, "a"), {"best": "2", "previous-best": "1"}),
        (Score(0.505, 0.01, "a"), {"best": "2", "previous-best": "1"}),
    ):
        version = register(client, root, score)
        note = offer(client, NAME, version, score)
        assert aliases(root) == wanted
        assert client.get_model_version(NAME, version).tags["hearsight.best"] == note
        assert note in capfd.readouterr().err
    environment = {"HEARSIGHT_ROOT": str(root)}
    done = hearsight("models", "restore", NAME, **environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {"model": NAME, "best": "1", "previous-best": "2"}
    assert aliases(root) == {"best": "1", "previous-best": "2"}
    hearsight("models", "restore", NAME, **environment)
    assert aliases(root) == {"best": "2", "previous-best": "1"}
    hearsight("models", "restore", NAME, "--version", "3", **environment)
    assert aliases(root) == {"best": "3", "previous-best": "2"}
    rows = [json.loads(line) for line in hearsight("models", "list", **environment).stdout.splitlines()]
    assert [(row["version"], row["aliases"]) for row in rows] == [("1", ""), ("2", "previous-best"), ("3", "best")]
    assert [row["validation"] for row in rows] == ["0.4", "0.5", "0.505"]
    for words, message in (((NAME, "--version", "9"), "has no version 9"), (("nothing",), "is no registered model")):
        refused = hearsight("models", "restore", *words, **environment)
        assert refused.returncode == 2 and message in refused.stderr.decode() and refused.stderr.count(b"\n") == 1


@pytest.mark.long
def test_a_training_on_other_validation_data_is_registered_but_not_the_best(root: Path) -> None:
    """Each output has two seeds, whose scores are .1 and .2 (.8 and .9 in the second)."""
    runs = []
    for number, (data, shift) in enumerate((("a", 0.0), ("b", 0.7), ("a", 0.7))):
        files = {}
        for seed in (0, 1):
            files |= weights(root / f"made/{number}-{seed}", 2 * number + seed)
            config = root / f"made/{number}-{seed}" / "config.json"
            config.write_text(json.dumps(json.loads(config.read_text()) | {"validation_data": data}))
        files = {name.replace(f"captioner-{2 * number + seed}", f"captioner-{seed}"): path for seed in (0, 1)
                 for name, path in files.items() if f"captioner-{2 * number + seed}/" in name}  # fmt: skip
        rows = [row | {"validation": row["validation"] + shift} for row in train_rows(files)]
        runs.append(record_run(finish(root, STAGE, {}, rows, files=files)))
        assert aliases(root)["best"] == ("6" if number == 2 else "2")
    client = connect(root)
    notes = [client.get_run(run).data.tags["hearsight.best"] for run in runs]
    assert "the first version" in notes[0] and "not moved" in notes[1] and "validation data differ" in notes[1]
    assert "0.2 → 0.9, more than the spread over seeds, 0.07071" in notes[2]
    assert aliases(root)["previous-best"] == "2"
