"""Paid voices as a stage has them: the catalogue, credentials, both ways of shaping, and the money told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from components.core.errors import HearsightError
from components.core.params import read_params_file
from components.core.stage_output import StageOutput
from components.speech.audio.files import to_flac
from components.speech.voices.catalogue import VOICES, installed, split_installed, voice_named
from components.speech.voices.google import WAVENET, google_name
from components.speech.voices.paid import plan_for, read_answer
from components.stages.synthesize import Params
from components.stages.synthesize.run import run as run_synthesize
from tests.support import PROJECT, make_output, make_stage, row
from tests.support.google.fake_google import DAY_USED_UP, FakeGoogle
from tests.support.settings_files import write_settings

SIX = [f"google-wavenet-{letter}" for letter in "abcdef"]
SPREAD: dict[str, Any] = {"voices": SIX, "rate_sd": 0.1, "pitch_sd": 1.0, "gain_sd": 2.0}
CAPTIONS = [f"a caption of number {number} and some words more" for number in range(12)]


def test_the_papers_six_are_three_of_each_sex_and_paid_and_no_extras() -> None:
    voices = [voice_named(name) for name in SIX]
    assert sorted(voice.sex for voice in voices) == ["F", "F", "F", "M", "M", "M"]
    assert all(voice.paid and not voice.extra and voice.language == "en" for voice in voices)
    assert [google_name(name) for name in SIX[:2]] == ["en-US-Wavenet-A", "en-US-Wavenet-B"]
    assert set(WAVENET) == {name for name, voice in VOICES.items() if voice.paid}
    assert len({voice.model for voice in voices}) == 6


def test_with_credentials_paid_voices_are_drawn_without_a_request(google: FakeGoogle) -> None:
    assert all(installed(voice_named(name)) for name in SIX)
    voices, missing = split_installed(["nanotts-en-us", *SIX])
    assert [voice.name for voice in voices] == ["nanotts-en-us", *SIX] and missing == [] and not google.requests


def test_without_credentials_the_voice_the_variable_and_the_command_are_named(
    google: FakeGoogle, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("GOOGLE_API_KEY")
    monkeypatch.setenv("NO_GCE_CHECK", "true")
    monkeypatch.setenv("CLOUDSDK_CONFIG", "/nonexistent")
    assert not installed(voice_named(SIX[0])) and installed(voice_named("nanotts-en-us"))
    with pytest.raises(HearsightError, match="'google-wavenet-b' is not available") as caught:
        split_installed(["nanotts-en-us", SIX[1]])
    assert "set GOOGLE_API_KEY, or run `gcloud auth application-default login`" in str(caught.value)
    monkeypatch.setenv("GOOGLE_API_KEY", "key-of-a-test")
    assert installed(voice_named(SIX[0])) and not google.requests


@pytest.fixture
def project(tmp_path: Path, google: FakeGoogle) -> Path:
    """A project whose split has twelve captions, one of them twice, and six paid voices."""
    for name in ("components", "dvc.yaml"):
        (tmp_path / name).symlink_to(PROJECT / name)
    content = read_params_file(PROJECT / "params.yaml")
    content["english"]["synthesize"] |= {"voices": SIX, "utterances": 3, "max_characters": 6000}
    content["google"] = {"asking": {"at_once": 2, "timeout": 5.0, "retries": 1, "backoff": 0.01}}
    write_settings(tmp_path, content)
    rows = [
        row("split", key=f"k{number:02d}", caption=caption, language="en", split="train", media=f"00000/{number}.png")
        for number, caption in enumerate([*CAPTIONS, CAPTIONS[0], "x" * 5001])
    ]
    make_output(tmp_path, "split", [rows[:7], rows[7:]])
    return tmp_path


def run(root: Path, shaped_there: bool = False, **spread: float) -> tuple[StageOutput, dict[str, float]]:
    settings = {"max_characters": 6000, "google_shapes": shaped_there}
    stage = make_stage(
        root,
        "synthesize",
        params=Params(seed=1, utterances=3, **SPREAD | spread | settings),
        inputs={"input": StageOutput(root / "data/english/split")},
    )
    run_synthesize(stage)
    stage.finish()
    return StageOutput(stage.out), {name: value for name, value, _ in stage.metrics}


def estimated(root: Path, **settings: Any) -> tuple[int, int, int, int, float]:
    from components.tools.cost import estimate_speech

    content = read_params_file(root / "params.yaml")
    content["english"]["synthesize"] |= settings
    write_settings(root, content)
    line, total = estimate_speech(root, "english")
    assert (total.provider, total.requests, total.units, total.usd) == ("all", line.requests, line.units, line.usd)
    assert (line.provider, line.feature) == ("Google Text-to-Speech", "speech_wavenet")
    return line.items, line.cached, line.requests, line.units, line.usd


def test_a_plan_is_empty_without_a_paid_voice(project: Path) -> None:
    assert plan_for(project, ["hibari-heart", "nanotts-en-us"]) == {}
    assert plan_for(project, ["hibari-heart", SIX[0]])["asking"]["at_once"] == 2


@pytest.mark.long
def test_a_dry_run_sends_no_request_and_the_run_sends_the_announced_ones(project: Path, google: FakeGoogle) -> None:
    items, cached, requests, units, usd = estimated(project)
    assert not google.requests and not list(project.glob(".hearsight/annotations/google*"))
    result, metrics = run(project)
    assert (items, cached) == (requests, 0) and len(google.requests) == requests == metrics["google_requests"]
    # Thirteen captions three times, less what is said again in the same voice.
    assert 18 < requests < 39
    assert metrics["google_units_speech_wavenet"] == units == sum(map(len, google.spoken()))
    assert metrics["google_usd"] == pytest.approx(usd) == pytest.approx(units * 16 / 1e6)
    assert estimated(project) == (items, items, 0, 0, 0.0)
    ledger = {entry["key"]: entry for entry in result.ledger().to_pylist()}
    assert {key for key, entry in ledger.items() if entry["verdict"] == "dropped"} == {"k13"}
    assert (ledger["k13"]["rule"], ledger["k13"]["value"]) == ("engine", "refused")
    assert "x" * 5001 not in google.spoken() and result.table().num_rows == 39


@pytest.mark.long
def test_locally_applied_prosody_draws_need_no_new_request(project: Path, google: FakeGoogle) -> None:
    first = run(project)[0].digest
    plain = len(google.requests)
    again, metrics = run(project, rate_sd=0.2, pitch_sd=2.0)
    assert len(google.requests) == plain and again.digest != first and metrics["google_requests"] == 0


@pytest.mark.long
def test_with_shaped_there_each_utterance_is_requested_with_its_own_prosody(project: Path, google: FakeGoogle) -> None:
    _, _, requests, units, _ = estimated(project)
    result, metrics = run(project, shaped_there=True)
    assert len(google.requests) == 39 > requests and metrics["google_units_speech_wavenet"] > units
    asked = {
        (body["input"]["text"], body["audioConfig"]["speakingRate"], body["voice"]["name"]) for _, _, body in google.requests
    }
    rows = result.table().to_pylist()
    assert asked == {(each["spoken"], round(each["rate"], 4), google_name(each["voice"])) for each in rows}
    for each in rows:
        assert each["seconds"] == pytest.approx(0.06 * len(each["spoken"]) / each["rate"], abs=1e-4)
    before, digest = len(google.requests), result.digest
    assert run(project, shaped_there=True)[0].digest == digest and len(google.requests) == before


@pytest.mark.long
def test_a_quota_exhausted_during_a_run_reports_the_cost_and_the_next_run_equals_a_fresh_one(
    project: Path, google: FakeGoogle
) -> None:
    google.script = lambda number, path, body: DAY_USED_UP if number >= 7 else None
    with pytest.raises(HearsightError, match=r"quota is used up.*this run made \d+ requests, for \$0\.00"):
        run(project)
    paid = google.spoken()[:7]
    google.script, google.requests = (lambda number, path, body: None), []
    finished = run(project)[0].digest
    both = [*paid, *google.spoken()]
    (project / ".hearsight").rename(project / "old")
    google.requests = []
    assert run(project)[0].digest == finished
    assert sorted(google.spoken()) == sorted(both)


def test_the_cost_of_other_voices_can_be_asked_and_free_ones_cost_nothing(project: Path, google: FakeGoogle) -> None:
    from components.tools.cost import estimate_speech

    (free,) = estimate_speech(project, "english", ["nanotts-en-us"])
    assert (free.requests, free.usd) == (0, 0.0)
    half = estimate_speech(project, "english", ["nanotts-en-us", SIX[0]])[0]
    assert 0 < half.units < estimated(project)[3] and not google.requests
    with pytest.raises(HearsightError, match="'alto' is not a voice"):
        estimate_speech(project, "english", ["alto"])


@pytest.mark.long
def test_the_cost_command_needs_no_credentials_and_prints_one_line_errors(project: Path) -> None:
    def command(*words: str) -> subprocess.CompletedProcess[str]:
        surroundings = {**os.environ, "HEARSIGHT_ROOT": str(project), "GOOGLE_API_KEY": "", "NO_GCE_CHECK": "true"}
        program = [str(Path(sys.executable).parent / "hearsight"), "cost", *words]
        return subprocess.run(program, cwd=project, env=surroundings, capture_output=True, text=True, timeout=900)

    done = command("--stage", "synthesize", "--voices", "google-wavenet-a, nanotts-en-us")
    line, total = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and line["provider"] == "Google Text-to-Speech" and total["usd"] == line["usd"] > 0
    assert line["items"] == line["to_ask"] == line["requests"] > 0
    for words, result in (
        (("--stage", "crawl"), "'crawl' uses no paid provider"),
        (("--stage", "synthesize", "-d", "paper"), "paper"),
    ):
        lacking = command(*words)
        assert lacking.returncode == 2 and result in lacking.stderr and len(lacking.stderr.splitlines()) == 1


def test_a_silent_and_a_refused_answer_give_no_audio_and_the_reason() -> None:
    assert read_answer(b"").refusal == "nothing to hear in Google's answer"
    assert read_answer(to_flac(np.zeros(4000, np.float32))).refusal == "nothing to hear in Google's answer"
    assert read_answer(b'{"error": {"code": 3, "message": "400 no"}}').refusal == "3 400 no"
