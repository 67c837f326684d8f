"""Sample, verdicts, figures and page of the stage, also without a recogniser."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from components.core.digests import sha256_bytes
from components.core.errors import HearsightError
from components.core.params import parse_settings
from components.core.stage_output import StageOutput
from components.speech.audio.files import RATE_HZ, to_flac
from components.speech.recognition.recognizer import INSTALL, Whisper
from components.speech.voices.speaking import speak
from components.stages import evaluate_speech
from components.stages.check import check
from components.stages.evaluate_speech.facts import PAPER, _draws, clipped_deviation
from components.stages.evaluate_speech.images import spectrogram, waveform
from components.stages.evaluate_speech.run import run as run_evaluate_speech
from components.stages.evaluate_speech.sample import COLUMNS, draw_sample
from tests.support import PROJECT, make_output, make_stage, row
from tests.support.html import Page

PARAMS: dict[str, Any] = {"seed": 1, "per_voice": 4, "min_words": 0, "examples": 2, "languages": [], "resamples": 50}
CAPTIONS = ["a small brown dog is running on the green grass", "an old ship in the harbour"]


def utterance(number: int, spoken: str, sound: bytes, **values: Any) -> dict[str, Any]:
    record = hashlib.sha256(str(number).encode()).hexdigest()[:16]
    result = {"language": "en", "origin": "synthetic", "voice": "hibari-heart", "split": "train", "rate": 1.0, "seconds": 1.5}
    result |= {"level": -20.0, "peak": -3.0, "clipped": 0, "seconds_per_character": 0.08}
    key = f"{record}.0"
    return row(
        "synthesize", key=key, record=record, caption=spoken, spoken=spoken, audio_sha256=sha256_bytes(sound),
        media=f"00000/{key}.flac", **result | values,
    )  # fmt: skip


def finished(root: Path, spoken: list[tuple[dict[str, Any], bytes]]) -> StageOutput:
    rows = [result for result, _ in spoken]
    media = {result["media"].partition("/")[2]: sound for result, sound in spoken}
    return make_output(root, "synthesize", [rows], media=[media])


def run(root: Path, source: StageOutput, **params: Any) -> StageOutput:
    stage = make_stage(
        root,
        "evaluate_speech",
        params=parse_settings(evaluate_speech.Params, PARAMS | params, "english.evaluate_speech"),
        inputs={"input": source},
    )
    run_evaluate_speech(stage)
    stage.finish()
    return StageOutput(stage.out)


@pytest.fixture(scope="module")
def source(tmp_path_factory: pytest.TempPathFactory) -> StageOutput:
    """Two captions well said, one recording of silence, one that is no sound, and a person's tone in Portuguese."""
    spoken = []
    for number, caption in enumerate(CAPTIONS):
        sound = to_flac(speak(caption, "hibari-heart"))
        spoken.append((utterance(number, caption, sound), sound))
    quiet = to_flac(np.zeros(RATE_HZ, np.float32))
    spoken.append((utterance(2, "a kite", quiet, voice="nanotts-en-us"), quiet))
    spoken.append((utterance(3, "a <b>bold</b> & “odd” word", b"fLaC no sound", voice="nanotts-en-us"), b"fLaC no sound"))
    tone = to_flac((0.2 * np.sin(np.arange(2 * RATE_HZ) * 0.2)).astype(np.float32))
    spoken.append((utterance(4, "um menino", tone, language="xx", origin="human", voice="Ana <1>"), tone))
    return finished(tmp_path_factory.mktemp("spoken"), spoken)


@pytest.fixture(scope="module")
def heard(source: StageOutput, tmp_path_factory: pytest.TempPathFactory) -> StageOutput:
    return run(tmp_path_factory.mktemp("heard"), source)


@pytest.mark.long
def test_every_recording_gets_a_verdict_for_any_content(heard: StageOutput) -> None:
    rows = {row["spoken"]: row for row in heard.table().to_pylist()}
    assert [rows[caption]["verdict"] for caption in CAPTIONS] == ["heard", "heard"]
    assert rows[CAPTIONS[0]]["word_errors"] == rows[CAPTIONS[0]]["character_errors"] == 0
    assert rows[CAPTIONS[0]]["words"] == 10 and rows[CAPTIONS[0]]["recogniser"] == "whisper-tiny.en"
    silent, unreadable = rows["a kite"], rows["a <b>bold</b> & “odd” word"]
    assert (silent["verdict"], silent["heard"], silent["word_errors"], silent["words"]) == ("silent", "", 2, 2)
    assert unreadable["verdict"] == "unreadable" and unreadable["word_errors"] == unreadable["words"]
    assert rows["um menino"]["verdict"] == "unrecognised" and rows["um menino"]["word_errors"] is None


@pytest.mark.long
def test_equal_input_gives_equal_bytes_and_is_transcribed_once(
    heard: StageOutput, source: StageOutput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    again = run(tmp_path, source)
    assert again.digest == heard.digest
    monkeypatch.setattr(Whisper, "compute", lambda *_: pytest.fail("heard twice what was in the cache"))
    assert run(tmp_path, source, resamples=60).manifest.shards == again.manifest.shards


def test_the_page_plays_shows_and_names_its_items(heard: StageOutput) -> None:
    page = Page(heard.file(evaluate_speech.PAGE).read_text())
    sounds, images = page.of("audio"), page.of("img")
    # The recording that is no sound has neither player nor image.
    assert len(sounds) == len(images) == 4
    for element in sounds:
        assert heard.file(str(element["src"])).read_bytes()[:4] == b"fLaC" and element["aria-label"] and "controls" in element
    for element in images:
        with Image.open(heard.file(str(element["src"]))) as image:
            assert image.height == 128 and image.mode == "P"
        assert element["alt"]
    identifiers = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(identifiers) == len(set(identifiers))
    assert {str(a["href"])[1:] for a in page.of("a")} <= set(identifiers)
    # Nothing of the world outside, and what a caption holds is text.
    assert not re.search(r"https?://", heard.file(evaluate_speech.PAGE).read_text())
    assert "a <b>bold</b> & “odd” word" in page.text and "Ana <1>" in page.text
    assert "The recording is silent." in page.text and "The recording cannot be decoded." in page.text
    assert page.of("html") == [{"lang": "en"}] and page.of("meta")


def test_rates_of_each_voice_are_exported(heard: StageOutput) -> None:
    table = csv.DictReader(io.StringIO((heard.path.parents[2] / "reports" / "english" / "voices.csv").read_text()))
    rates = {line["voice"]: line["word_error_rate"] for line in table}
    assert float(rates["hibari-heart"]) < 0.2 and rates["nanotts-en-us"] == "1.0" and rates["Ana <1>"] == ""
    result = json.loads(heard.file(evaluate_speech.VOICES).read_text())
    assert [voice["voice"] for voice in result["voices"]] == ["hibari-heart", "nanotts-en-us", "Ana <1>"] and not result[
        "missing"
    ]
    assert "hibari-heart" in heard.file(evaluate_speech.SUMMARY).read_text()


@pytest.mark.long
def test_speech_of_other_captions_passes_with_a_warning(tmp_path: Path) -> None:
    sound = to_flac(speak(CAPTIONS[0], "hibari-heart"))
    for name, caption in (("right", CAPTIONS[0]), ("wrong", "three green kites over snow")):
        root = tmp_path / name
        (root / "expectations").mkdir(parents=True)
        (root / "expectations" / "evaluate_speech.json").write_bytes(
            (PROJECT / "expectations" / "evaluate_speech.json").read_bytes()
        )
        run(root, finished(root, [(utterance(0, caption, sound), sound)]))
    right, wrong = (check(tmp_path / name, "english", "evaluate_speech") for name in ("right", "wrong"))
    assert len(right.passed) > 10
    unusual = [{warning.column for warning in gate.warnings} for gate in (right, wrong)]
    assert "character_error_rate" not in unusual[0] and "character_error_rate" in unusual[1]


def test_without_a_recogniser_the_page_names_the_package_to_install(
    source: StageOutput, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("components.stages.evaluate_speech.run.installed", lambda recogniser: False)
    result = run(tmp_path, source)
    warnings = [line for line in capsys.readouterr().err.splitlines() if line.startswith("hearsight: warning")]
    assert len(warnings) == 1 and INSTALL in warnings[0] and "evaluate_speech@english" in warnings[0]
    page = Page(result.file(evaluate_speech.PAGE).read_text())
    assert INSTALL in page.text and "not measured" in page.text and len(page.of("audio")) == 4
    assert set(result.table()["verdict"].to_pylist()) == {"unrecognised"}
    (tmp_path / "expectations").mkdir()
    (tmp_path / "expectations" / "evaluate_speech.json").write_bytes(
        (PROJECT / "expectations" / "evaluate_speech.json").read_bytes()
    )
    assert check(tmp_path, "english", "evaluate_speech").passed


def test_other_languages_are_played_without_a_transcript(source: StageOutput, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr(Whisper, "compute", lambda *_: pytest.fail("heard what was not asked for"))
    assert set(run(tmp_path, source, languages=["pt"]).table()["verdict"].to_pylist()) == {"unrecognised"}


def test_the_ledger_has_one_row_for_each_record(source: StageOutput, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.setattr("components.stages.evaluate_speech.run.installed", lambda recogniser: False)
    ledger = run(tmp_path, source, per_voice=1).ledger().to_pylist()
    assert [r["key"] for r in ledger] == source.table()["record"].to_pylist()
    assert sorted(r["rule"] for r in ledger) == ["", "", "", "not_drawn", "not_drawn"]


@pytest.mark.parametrize(("name", "value"), [("per_voice", 0), ("min_words", -1), ("examples", -1), ("resamples", 0)])
def test_unusable_settings_are_named(source: StageOutput, tmp_path: Path, name: str, value: int) -> None:
    with pytest.raises(HearsightError, match=name):
        run(tmp_path, source, **{name: value})


def test_an_empty_output_gives_a_page_that_says_so(tmp_path: Path) -> None:
    result = run(tmp_path, make_output(tmp_path, "synthesize", [[]]))
    assert "There are no utterances." in result.file(evaluate_speech.PAGE).read_text()


def test_an_added_utterance_changes_at_most_one_of_the_sample(tmp_path: Path) -> None:
    rows = [utterance(n, "a dog", b"", voice=f"v{n % 3}") for n in range(60)]
    table = make_output(tmp_path, "synthesize", [rows]).table(list(COLUMNS))
    whole = {each.key for each in draw_sample(table, 1, 5, 0)}
    assert len(whole) == 15
    assert {each.key for each in draw_sample(table.take(list(range(59, -1, -1))), 1, 5, 0)} == whole
    for left_out in (0, 7, 31, 59):
        fewer = {each.key for each in draw_sample(table.take([n for n in range(60) if n != left_out]), 1, 5, 0)}
        assert len(whole - fewer) <= 1
    assert {each.key for each in draw_sample(table, 2, 5, 0)} != whole


def test_short_utterances_are_drawn_only_where_there_are_not_enough_others() -> None:
    spoken = ["a dog"] * 30 + ["two dogs run on grass"] * 3
    rows = [row("synthesize", key=f"k{n:02d}", spoken=text, voice="one") for n, text in enumerate(spoken)]
    table = pa.Table.from_pylist(rows).select(list(COLUMNS))
    drawn = [each.spoken for each in draw_sample(table, 1, 5, 4)]
    assert drawn == ["two dogs run on grass"] * 3 + ["a dog"] * 2
    assert sorted(each.spoken for each in draw_sample(table, 1, 2, 4)) == ["two dogs run on grass"] * 2


def test_a_tone_is_a_line_at_its_frequency_and_silence_is_dark() -> None:
    tone = (0.5 * np.sin(2 * np.pi * 2000 * np.arange(RATE_HZ) / RATE_HZ)).astype(np.float32)
    with Image.open(io.BytesIO(spectrogram(tone))) as image:
        rows = np.asarray(image).astype(int)[:, 20:-20]
    assert rows.shape[0] == 128 and abs(int(rows.mean(axis=1).argmax()) - (127 - 32)) <= 1
    with Image.open(io.BytesIO(spectrogram(np.zeros(RATE_HZ, np.float32)))) as image:
        assert not np.asarray(image).any()
    assert spectrogram(tone) == spectrogram(tone)


def test_a_waveform_ends_with_the_sound() -> None:
    heights = [float(y) for y in re.findall(r" (-?[\d.]+)", waveform(np.array([0.0, 0.5, -0.25, 1.0], np.float32)))]
    assert min(heights) == pytest.approx(-0.5) and max(heights) == pytest.approx(125.5)
    assert waveform(np.zeros(1, np.float32)).startswith("M0 99.5")


def test_expected_shares_follow_the_papers_distribution() -> None:
    source = np.random.default_rng(1)
    for name, (mean, deviation) in PAPER.items():
        result = _draws(name, mean + deviation * np.clip(source.normal(size=40_000), -2, 2))
        assert sum(result.expected) == pytest.approx(1.0) and sum(result.shares) == pytest.approx(1.0)
        np.testing.assert_allclose(result.shares, result.expected, atol=0.006)
        assert result.deviation == pytest.approx(result.expected_deviation, rel=0.02)
    assert clipped_deviation() == pytest.approx(0.959, abs=0.001)
    wide = _draws("pitch", np.array([0.0, 5.0]))
    assert wide.edges[0] == -5.0 and wide.edges[-1] == 5.0 and sum(wide.expected) == pytest.approx(1.0)
