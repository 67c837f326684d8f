"""The Flickr Audio Caption Corpus in its published forms, by the very settings that docs/captions-to-speech.md gives."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml

from components.core.addresses import lineage_path
from components.core.errors import HearsightError
from components.core.params import read_params_file
from components.core.stage_output import StageOutput
from components.execution.runner import run_stage
from components.speech.audio.files import from_flac
from components.speech.audio.measures import is_silent
from components.stages.check import check
from tests.support import PROJECT
from tests.support.contract import problems
from tests.support.import_recordings.corpora import DEFECTS, IMAGES, SIDES, caption_of, facc, name_of, wav_of
from tests.support.settings_files import write_settings

TEXT = (PROJECT / "docs" / "captions-to-speech.md").read_text(encoding="utf-8")
BLOCK = yaml.safe_load(re.findall(r"```yaml\n(.*?)```", TEXT, re.DOTALL)[0])


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A project of the documented block alone over the fixture corpus, run and checked to its end."""
    root = tmp_path_factory.mktemp("facc")
    facc(root)
    for name in ("components", "expectations", "dvc.yaml"):
        (root / name).symlink_to(PROJECT / name)
    write_settings(root, {"engine": {"kind": "local", "workers": 2}, **BLOCK})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HEARSIGHT_TRACKING", "off")
        for stage in ("crawl", "split", "import_recordings"):
            run_stage(root, stage, "facc")
            check(root, "facc", stage)
    return root


@pytest.fixture(scope="module")
def records(project: Path) -> dict[tuple[int, int], dict]:
    """(image, caption) → its record of the split."""
    numbers = {name_of(number): number for number in range(IMAGES)}
    rows = StageOutput(project / "data/facc/split").table().to_pylist()
    split = (row["post"].rpartition("#") for row in rows)
    return {(numbers[image], int(which)): row for (image, _, which), row in zip(split, rows, strict=True)}


@pytest.fixture(scope="module")
def spoken(project: Path) -> dict[str, dict]:
    """Record → its utterance."""
    return {row["record"]: row for row in StageOutput(project / "data/facc/import_recordings").table().to_pylist()}


def ledger(project: Path, stage: str) -> dict[str, dict]:
    return {row["key"]: row for row in StageOutput(project / f"data/facc/{stage}").ledger().to_pylist()}


@pytest.mark.long
def test_the_documented_block_keeps_the_projects_contract(tmp_path):
    for name in ("components", "expectations"):
        (tmp_path / name).symlink_to(PROJECT / name)
    shutil.copy(PROJECT / "dvc.yaml", tmp_path)
    params = read_params_file(PROJECT / "params.yaml")
    for stage, takers in BLOCK["chain"].items():
        params["chain"][stage] |= takers
    write_settings(tmp_path, {**params, "facc": BLOCK["facc"]})
    assert problems(tmp_path) == []


@pytest.mark.long
def test_every_image_is_in_the_split_of_its_list(project, records):
    sides = {"train": "train", "dev": "validation", "test": "test"}
    wanted = {number: sides[side] for side, numbers in SIDES.items() for number in numbers}
    assert {key: row["split"] for key, row in records.items()} == {
        (number, which): wanted[number] for number in wanted for which in range(4 if number == 7 else 5)
    }
    rows = StageOutput(project / "data/facc/split").ledger().to_pylist()
    assert sum(row["rule"] == "unlisted" for row in rows) == 5
    assert [row["key"] for row in rows if row["rule"] == "no_record"] == ["9999999999_nobodyhas.jpg"]


@pytest.mark.long
def test_each_caption_has_its_own_recording_and_speaker(records, spoken, project):
    output = StageOutput(project / "data/facc/import_recordings")
    assert len(spoken) == len(records) - len(DEFECTS)
    for (number, which), record in records.items():
        if (number, which) in DEFECTS:
            assert record["key"] not in spoken
            continue
        row = spoken[record["key"]]
        assert row["caption"] == row["spoken"] == caption_of(number, which)
        assert (row["origin"], row["rate"], row["pitch"], row["gain"]) == ("human", 1, 0, 0)
        assert row["voice"] == ("human-en" if (number, which) in ((0, 0), (4, 0)) else str(number % 9 + 1))
        assert not is_silent(from_flac(output.read_media(row["media"])))
    ledger_rows = ledger(project, "import_recordings")
    assert all(wav_of(n, w) in ledger_rows[r["key"]]["detail"] for (n, w), r in records.items() if r["key"] in spoken)


def test_each_defect_is_a_ledger_row_of_its_own_rule(records, project):
    ledger_rows = ledger(project, "import_recordings")
    ledger_result = {
        key: ledger_rows[record["key"]]["rule"] for key, record in records.items() if ledger_rows[record["key"]]["rule"]
    }
    assert ledger_result == DEFECTS
    assert "is of another caption by line" in ledger_rows[records[3, 1]["key"]]["value"]
    assert ledger_rows[records[2, 0]["key"]]["value"] == f"same audio as {records[25, 0]['key']} in test"


def test_wrong_headers_stereo_and_clipping_are_read_with_a_warning(records, spoken, project):
    ledger_rows = ledger(project, "import_recordings")
    assert "says 4294967295 bytes of samples and holds" in ledger_rows[records[0, 1]["key"]]["detail"]
    assert spoken[records[0, 1]["key"]]["seconds"] == pytest.approx(1.2, abs=0.01)
    assert spoken[records[0, 4]["key"]]["seconds"] == pytest.approx(1.2, abs=0.01)
    clipped = spoken[records[1, 3]["key"]]
    assert clipped["clipped"] > 100
    assert f"{clipped['clipped']} samples at full scale" in ledger_rows[clipped["record"]]["detail"]


@pytest.mark.long
def test_a_second_run_reads_no_recording_and_a_changed_one_recomputes_its_shard(project, records, monkeypatch):
    monkeypatch.setenv("HEARSIGHT_TRACKING", "off")
    first = StageOutput(project / "data/facc/import_recordings")
    before = json.loads(lineage_path(first.path).read_text())["parents"]
    result = run_stage(project, "import_recordings", "facc")
    assert result.manifest.digest == first.digest
    assert result.cached == {step: f"{of} of {of}" for step, of in (("hear", 1), ("identify", 1), ("keep", 1))}
    path = project / "facc/flickr_audio/wavs" / wav_of(5, 0)
    whole = path.read_bytes()
    try:
        path.write_bytes((project / "facc/flickr_audio/wavs" / wav_of(5, 1)).read_bytes())
        changed = run_stage(project, "import_recordings", "facc")
        assert changed.manifest.digest != first.digest and changed.lineage["parents"] != before
    finally:
        path.write_bytes(whole)
    assert run_stage(project, "import_recordings", "facc").manifest.digest == first.digest


@pytest.mark.parametrize(
    "break_it, message",
    [
        (lambda home: shutil.rmtree(home / "flickr_audio"), "flickr_audio: is not a folder"),
        (lambda home: (home / "flickr_audio/wav2capt.txt").unlink(), r"wav2capt\.txt: cannot be read"),
        (lambda home: (home / "flickr_audio/wav2spk.txt").write_text("a b c d\n" * 30), r"line 1: has no line of 2 fields"),
        (lambda home: (home / "flickr_audio/wav2capt.txt").write_text("a.wav b.jpg #0\n"), "has no recording of any caption"),
    ],
)
def test_a_missing_corpus_gives_a_one_line_error(project, tmp_path, monkeypatch, break_it, message):
    monkeypatch.setenv("HEARSIGHT_TRACKING", "off")
    for name in ("components", "expectations", "dvc.yaml", "params.yaml", "datasets"):
        (tmp_path / name).symlink_to((project / name).resolve())
    for name in ("data", "facc", "reports"):
        shutil.copytree(project / name, tmp_path / name)
    break_it(tmp_path / "facc")
    with pytest.raises(HearsightError, match=message):
        run_stage(tmp_path, "import_recordings", "facc")
