"""Engines that fail, runs that are killed, disks that are full."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import psutil
import pytest

from components.core.errors import HearsightError
from components.speech.voices.failures import EngineFailure
from components.speech.voices.speaking import speak
from components.stages.synthesize import speech
from tests.stages.synthesize.support import CAPTIONS, VOICES, Asked, asked, records, run_over, split_of
from tests.support import HANG, PROJECT, until

__all__ = ["asked"]
KAL, NANO = VOICES


def failing(reasons: dict[str, str]) -> Any:
    """``speak``, but what is said of these voices or texts fails for that reason."""

    def say(text: str, voice: str) -> Any:
        if reason := reasons.get(text, reasons.get(voice, "")):
            raise EngineFailure(voice, reason, "it was a dark and stormy night")
        return speak(text, voice)

    return say


def test_a_record_that_no_engine_can_speak_is_dropped_with_the_reason(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = dict(zip(CAPTIONS[:4], ("hang", "crash", "error", "silent"), strict=True))
    monkeypatch.setattr(speech, "speak", failing(broken))
    result = run_over(tmp_path / "out", split_of(tmp_path, records(CAPTIONS[:5])))
    ledger = result.ledger().to_pylist()
    assert [(r["verdict"], r["rule"], r["value"]) for r in ledger] == [
        *(("dropped", "engine", reason) for reason in broken.values()),
        ("kept", "", ""),
    ]
    assert all(row["threshold"] == "something to hear" and row["value"] in row["detail"] for row in ledger[:4])
    assert {row["record"] for row in result.table().to_pylist()} == {f"k-{CAPTIONS[4]}"}
    assert result.manifest.counts["record"] == {"kept": 1, "dropped": {"engine": 4}}


def test_a_record_that_one_voice_can_speak_is_kept_and_its_ledger_row_names_the_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(speech, "speak", failing({NANO: "crash"}))
    results = run_over(tmp_path / "out", split_of(tmp_path, records(CAPTIONS[:3])), utterances=6)
    assert {row["voice"] for row in results.table().to_pylist()} == {KAL}
    for row in results.ledger().to_pylist():
        result, _, rest = row["detail"].partition(" of 6 utterances; ")
        assert row["verdict"] == "kept" and rest == ", ".join([f"{NANO} crash"] * (6 - int(result)))


def test_failures_are_retried_by_the_next_run_and_silence_is_not(
    tmp_path: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    split, out = split_of(tmp_path, records(CAPTIONS[:2]), records(CAPTIONS[2:4])), tmp_path / "out"
    whole = run_over(tmp_path / "whole", split)
    asked.lines()
    quiet = whole.table().num_rows

    monkeypatch.setattr(speech, "speak", failing({CAPTIONS[0]: "crash", CAPTIONS[1]: "hang"}))
    first = run_over(out, split)
    assert first.table().num_rows == quiet - 4 and first.digest != whole.digest
    assert "engines failed on 4 utterances (crash 2, hang 2)" in capfd.readouterr().err
    assert run_over(out, split).digest == first.digest
    monkeypatch.setattr(speech, "speak", asked.speak)
    assert run_over(out, split).digest == whole.digest
    assert sorted(line.split(": ")[1] for line in asked.lines()) == sorted([*CAPTIONS[:2]] * 2)

    monkeypatch.setattr(speech, "speak", failing({CAPTIONS[0]: "silent"}))
    silent = run_over(tmp_path / "silent", split)
    monkeypatch.setattr(speech, "speak", asked.speak)
    assert run_over(tmp_path / "silent", split).digest == silent.digest != whole.digest
    assert asked.lines() == []


def test_a_broken_engine_stops_the_run_with_one_line_and_synthesised_speech_is_kept(
    tmp_path: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch
) -> None:
    split = split_of(tmp_path, records(CAPTIONS))

    def broken(text: str, voice: str) -> Any:
        if text == CAPTIONS[0]:
            raise HearsightError("the engine does not work", where=f"voice {voice}", hint="fix it")
        return asked.speak(text, voice)

    monkeypatch.setattr(speech, "speak", broken)
    with pytest.raises(HearsightError, match=r"voice .*: the engine does not work"):
        run_over(tmp_path / "out", split)
    monkeypatch.setattr(speech, "speak", asked.speak)
    assert run_over(tmp_path / "out", split).table().num_rows == 12
    # The other worker may have held an utterance when the run ended.
    assert len(asked.lines()) in (12, 13)


SLOW = """
import sys, time
from pathlib import Path
from tests.support import WORKERS
from tests.stages.synthesize.support import CAPTIONS, Asked, records, run_over, split_of
from components.core.stage_output import StageOutput
from components.stages.synthesize import speech
asked = Asked(Path(sys.argv[1]) / "asked.txt")
def slowly(text, voice):
    time.sleep(0.2)
    return asked.speak(text, voice)
speech.speak = slowly
run_over(Path(sys.argv[1]) / "out", StageOutput(Path(sys.argv[1]) / "data" / "english" / "split"), WORKERS)
"""


@pytest.mark.slow
def test_a_killed_run_loses_at_most_one_utterance_for_each_worker(tmp_path: Path, asked: Asked) -> None:
    split = split_of(tmp_path, records(f"{number} boats on the sea" for number in range(30)))
    for _ in range(2):
        runner = subprocess.Popen([sys.executable, "-c", SLOW, str(tmp_path)], cwd=PROJECT)
        least = len(asked.path.read_text().splitlines()) + 9
        until(lambda: len(asked.path.read_text().splitlines()) >= least or runner.poll() is not None)  # noqa: B023
        workers = psutil.Process(runner.pid).children(recursive=True)
        os.kill(runner.pid, signal.SIGKILL)
        runner.wait()
        psutil.wait_procs(workers, timeout=HANG)  # They die with it.
    assert 18 <= len(asked.path.read_text().splitlines()) < 60
    result = run_over(tmp_path / "out", split)
    assert result.table().num_rows == 60
    spoken = asked.lines()
    # Two workers, killed twice: at most four utterances were spoken again.
    assert 60 <= len(spoken) <= 64
    asked.path.write_text("")
    assert run_over(tmp_path / "fresh", split).digest == result.digest
