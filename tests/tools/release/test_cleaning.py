"""A release says how raters cleaned its test split."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pytest

from components.core.digests import digest_value
from components.core.errors import HearsightError
from components.core.ledger import dropped, kept, ledger_table
from components.core.records import OUTPUT_SCHEMAS
from components.core.stage_output import StageOutput
from components.execution.runner import write_lineage
from components.tools.release.inputs import cleaning_text
from components.tools.release.kinds import release
from tests.support import make_stage, row
from tests.tools.release.spoken_project import CAPTIONS, SETTINGS, candidate, spoken_project


def rated(root: Path, keys: list[str]) -> StageOutput:
    """An output of evaluate_ratings whose items are the captions of these records."""
    job = make_stage(root, "evaluate_ratings", "mine")
    rows = [row("evaluate_ratings", key=key, records=[key], raters=3, ratings=3, good=2) for key in keys]
    table = pa.Table.from_pylist(rows, schema=OUTPUT_SCHEMAS["evaluate_ratings"][1])
    job.write_shard("00000", table, ledger_table(kept(key) for key in keys))
    job.write_file("scores.json", b'{"ratings": {"raters": 4, "alpha": {"dataset": {"mean": 0.5, "low": 0.1, "high": 0.9}}}}')
    job.finish()
    return StageOutput(job.out)


def cleaned_project(root: Path) -> Path:
    """The project with a split of eight captions, of which the last, in the test split, was refused."""
    spoken_project(root)
    settings = SETTINGS["split"] | {"min_good": 2, "unrated": "keep"}
    inputs = {"input": StageOutput(root / "data/mine/crawl"), "ratings": rated(root, [CAPTIONS[6].key, CAPTIONS[7].key])}
    job = make_stage(root, "split", "mine", inputs=inputs)
    rows = [
        row("split", **{**candidate(each), "caption": each.caption, "split": each.split, "group": each.key, "text": "t"})
        for each in CAPTIONS[:7]
    ]
    ledger = [*(kept(each["key"]) for each in rows), dropped(CAPTIONS[7].key, "rated_bad", "1 of 3 GOOD", 2)]
    job.write_shard("00000", pa.Table.from_pylist(rows, schema=OUTPUT_SCHEMAS["split"][1]), ledger_table(ledger))
    job.write_shard("00001", OUTPUT_SCHEMAS["split"][1].empty_table(), ledger_table([]))
    job.finish()
    write_lineage(job, settings, digest_value(settings))
    return root


def test_the_card_says_how_many_were_rated_kept_and_dropped_and_how_raters_agree(tmp_path: Path) -> None:
    release(cleaned_project(tmp_path / "p"), "mine", tmp_path / "out", "CC BY 4.0", speech=False)
    text = (tmp_path / "out/README.md").read_text()
    assert "2 test records were rated GOOD or BAD by 3 raters each (4 people in all)" in text
    assert "1 with 2 or more GOOD stay, 1 are dropped." in text and "alpha of the raters is 0.500" in text
    assert "| split | record | 8 | 7 | 12.5% | rated_bad 1 |" in text
    assert '"min_good": 2' in (tmp_path / "out/settings.json").read_text()


def test_a_split_that_was_not_cleaned_says_nothing_of_raters(tmp_path: Path) -> None:
    release(spoken_project(tmp_path / "p"), "mine", tmp_path / "out", "CC BY 4.0", speech=False)
    assert "rater" not in (tmp_path / "out/README.md").read_text()


def test_ratings_other_than_those_the_split_read_are_refused(tmp_path: Path) -> None:
    root = cleaned_project(tmp_path / "p")
    rated(root, [CAPTIONS[0].key])
    with pytest.raises(HearsightError, match=r"is not the output that mine/split was cleaned with — run `dvc repro split@mine`"):
        release(root, "mine", tmp_path / "out", "CC BY 4.0", speech=False)


def test_unrated_records_and_one_rater_are_said_in_words() -> None:
    text = cleaning_text(min_good=1, asked=[1], raters=1, kept=5, refused=0, unrated=1200, left_out=2, alpha=None)
    assert "by 1 rater each (one person)" in text and "1,200 test records were not rated and stay" in text
    assert "2 test records were not rated and are left out" in text and "is not defined" in text
