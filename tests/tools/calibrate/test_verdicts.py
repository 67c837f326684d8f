"""Precision and recall of each rule are those that counting the rules' own verdicts gives; equal files give equal tables."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from components.stages.filter.boilerplate import load_boilerplate
from components.stages.filter.cascade import RULES, TEXT_GROUPS, evaluate_all, make_subject
from components.tools.trial import annotate_group
from tests.support.command import hearsight
from tests.support.filter.subjects import PAPER
from tests.support.knowledge.dictionary import EXTRACT
from tests.support.settings_files import copy_settings

TEXTS = {
    "A dog runs on the beach.": True,
    "a man sits on a chair": True,
    "The Red Kite Over The Water Of The Bay": False,
    "Dog dog dog dog": False,
    "Click here to read more": False,
}


@pytest.fixture
def rows(tmp_path: Path) -> list[dict[str, str]]:
    labelled, out = tmp_path / "labelled.jsonl", tmp_path / "out"
    labelled.write_text(
        "\n".join(json.dumps({"text": text, "verdict": "keep" if keep else "drop"}) for text, keep in TEXTS.items())
    )
    root = tmp_path / "project"
    root.mkdir()
    copy_settings(root)
    environment = {"HEARSIGHT_WORDNET": str(EXTRACT), "HEARSIGHT_TRACKING": "off", "HEARSIGHT_ROOT": str(root)}
    done = hearsight("calibrate", "--dataset", "paper", "--labelled", str(labelled), "--out", str(out), **environment)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["labelled"] == len(TEXTS)
    with (out / "verdicts.tsv").open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file, delimiter="\t"))


def test_each_rules_precision_and_recall_are_counted_from_its_verdicts(
    rows: list[dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HEARSIGHT_WORDNET", str(EXTRACT))
    lists = load_boilerplate("en")
    subjects = {text: make_subject(text, lists, PAPER.max_characters) for text in TEXTS}
    found = evaluate_all(subjects, annotate_group, PAPER, TEXT_GROUPS)
    present = {row["rule"]: row for row in rows if row["present"] == "yes"}
    for name in found["Dog dog dog dog"]:
        kept = [text for text in TEXTS if found[text][name].passed]
        right = sum(TEXTS[text] for text in kept)
        row = present[name]
        assert (int(row["kept"]), float(row["recall"])) == (len(kept), right / 2)
        assert row["precision"] == (f"{right / len(kept):.4f}" if kept else "")
        together = [text for text in TEXTS if all(finding.passed for finding in found[text].values())]
        assert int(row["all_kept"]) == len(together) == int(present[""]["kept"])


def test_swept_rules_have_a_row_for_each_threshold_and_others_one(rows: list[dict[str, str]]) -> None:
    counts = {name: sum(row["rule"] == name for row in rows) for name in ("first_capital", "description", "capital_ratio")}
    assert counts["first_capital"] == 1 and RULES["description"].sweep is not None
    assert counts["description"] > 10 and counts["capital_ratio"] > 10
    kept = [int(row["kept"]) for row in rows if row["rule"] == "description"]
    assert kept == sorted(kept, reverse=True)
