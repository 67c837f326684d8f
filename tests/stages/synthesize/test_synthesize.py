"""The stage's promises: a ledger row a record, and nothing spoken twice."""

from __future__ import annotations

import io
import json
from pathlib import Path

import numpy as np
import pytest
import soundfile

from components.core.errors import HearsightError
from components.core.records import UTTERANCE
from components.core.result_cache import ResultCache
from components.speech.voices import catalogue
from components.stages.synthesize import speaking
from components.stages.synthesize.run import run as run_synthesize
from components.stages.synthesize.speaking import cut_pieces
from components.stages.synthesize.speech import Speech
from tests.stages.synthesize.support import (
    CAPTIONS,
    VOICES,
    Asked,
    asked,
    params,
    record,
    records,
    run_over,
    split_of,
    stage_over,
)

__all__ = ["asked"]


def test_every_caption_is_spoken_and_its_record_has_voice_and_prosody(tmp_path: Path, asked: Asked) -> None:
    split = split_of(tmp_path, records(CAPTIONS[:2]))
    result = run_over(tmp_path / "one", split)
    rows, ledger = result.table().to_pylist(), result.ledger().to_pylist()
    assert result.table().schema.names == UTTERANCE.names
    assert [(r["key"], r["verdict"], r["detail"]) for r in ledger] == [
        (f"k-{caption}", "kept", "2 utterances") for caption in CAPTIONS[:2]
    ]
    assert [r["key"] for r in rows] == [f"k-{caption}.{n}" for caption in CAPTIONS[:2] for n in (0, 1)]
    for utterance in rows:
        samples, rate = soundfile.read(io.BytesIO(result.read_media(utterance["media"])))
        assert rate == 16_000 and samples.ndim == 1
        assert utterance["seconds"] == pytest.approx(len(samples) / rate, abs=1e-4)
        assert utterance["seconds_per_character"] == pytest.approx(utterance["seconds"] / len(utterance["spoken"]), rel=1e-5)
        assert utterance["peak"] == pytest.approx(20 * np.log10(np.abs(samples).max()), abs=1e-3)
        if utterance["voice"] == "flite-kal16":
            assert utterance["level"] - utterance["gain"] == pytest.approx(-25, abs=3)
        assert utterance["clipped"] == 0 and utterance["lead"] < 0.2 and utterance["tail"] < 0.2
        assert (utterance["origin"], utterance["language"], utterance["voice"] in VOICES) == ("synthetic", "en", True)
        assert utterance["image_media"] == f"00000/{utterance['record']}.png"
    assert len(asked.lines()) == 4
    assert run_over(tmp_path / "two", split).digest == result.digest


def test_an_unspeakable_text_has_a_ledger_row_with_the_reason(tmp_path: Path, asked: Asked) -> None:
    odd = [
        record("empty", ""),
        record("marks", "..."),
        record("letter", "a"),
        record("long", "a very long caption " * 250),
        record("greek", "ένας σκύλος"),
        record("french", "un chien court", language="fr"),
        record("good", "a dog runs"),
    ]
    result = run_over(tmp_path / "out", split_of(tmp_path, odd))
    ledger = {row["key"]: row for row in result.ledger().to_pylist()}
    assert sorted(ledger) == sorted(row["key"] for row in odd)
    rules = {"empty": "empty", "marks": "no_words", "letter": "too_short", "long": "too_long", "greek": "wrong_script"}
    assert {key: row["rule"] for key, row in ledger.items()} == {**rules, "french": "no_voice", "good": ""}
    assert (ledger["french"]["value"], ledger["french"]["threshold"]) == ("fr", "en")
    assert ledger["long"]["threshold"] == "<= 600 characters"
    spoken = {row["record"] for row in result.table().to_pylist()}
    assert spoken == {"good"}
    assert not [line for line in asked.lines() if "very long" in line or "chien" in line]


def test_each_record_is_spoken_by_a_voice_of_its_language(
    tmp_path: Path, asked: Asked, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from dataclasses import replace

    heart, nano = (catalogue.VOICES[name] for name in VOICES)
    monkeypatch.setitem(catalogue.VOICES, "nanotts-en-us", replace(nano, language="fr"))
    result = run_over(tmp_path / "out", split_of(tmp_path, [record("e", "a dog"), record("f", "un chien", language="fr")]))
    assert {(r["record"], r["voice"]) for r in result.table().to_pylist()} == {("e", heart.name), ("f", nano.name)}


def test_an_extra_that_is_not_installed_is_left_out_and_named_with_its_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from dataclasses import replace

    nano = catalogue.VOICES["nanotts-en-us"]
    monkeypatch.setitem(catalogue.VOICES, "joe", replace(nano, name="joe", extra=True, install="get joe"))
    monkeypatch.setattr(catalogue, "installed", lambda voice: voice.name != "joe")
    split = split_of(tmp_path, records(CAPTIONS[:2]))
    stage = stage_over(tmp_path / "out", split, voices=["joe", *VOICES])
    run_synthesize(stage)
    output = capfd.readouterr().err.splitlines()[0]
    assert output == "synthesize english: 2 voices: flite-kal16, nanotts-en-us; left out: joe (run `get joe`)"
    assert {name: value for name, value, _ in stage.metrics} == {"voices": 2, "voices_left_out": 1, "engine_failures": 0}
    assert [parent["name"] for parent in stage.parents] == ["voices"]
    manifest = stage.finish()
    drawn = json.loads((stage.out / "draws.json").read_bytes())
    assert drawn["voices"] == {"en": VOICES} and drawn["parameters"]["pitch"]["sd"] == 1.0
    assert [entry.path for entry in manifest.files] == ["draws.json"]
    with pytest.raises(HearsightError, match=r"none of the voices is installed.*get joe"):
        run_over(tmp_path / "none", split, voices=["joe"])
    # A voice that is no extra has to be there.
    monkeypatch.setattr(catalogue, "installed", lambda voice: voice.name == "joe")
    with pytest.raises(HearsightError, match=r"'flite-kal16' is not installed.*hearsight data --voices"):
        run_over(tmp_path / "must", split)


@pytest.mark.parametrize("changed", [{"voices": []}, {"voices": ["nanotts-en-us"] * 2}])
def test_inconsistent_settings_are_refused_with_one_line(tmp_path: Path, changed: dict[str, object]) -> None:
    with pytest.raises(HearsightError, match=r"params\.yaml: english\.synthesize"):
        run_over(tmp_path / "out", split_of(tmp_path, records(CAPTIONS[:1])), **changed)


def test_only_new_captions_are_synthesised_for_any_sharding(tmp_path: Path, asked: Asked) -> None:
    out = tmp_path / "out"
    first = run_over(out, split_of(tmp_path / "a", records(CAPTIONS[:4])))
    assert len(asked.lines()) == 8
    before = {row["key"]: row["audio_sha256"] for row in first.table().to_pylist()}

    # Another side, another group and other shards: nothing of it is heard.
    moved = [{**row, "split": "test", "group": "other"} for row in records(CAPTIONS[:4])]
    again = run_over(out, split_of(tmp_path / "b", moved[2:], [], moved[:2]))
    assert asked.lines() == []
    assert {row["key"]: row["audio_sha256"] for row in again.table().to_pylist()} == before
    assert {row["split"] for row in again.table().to_pylist()} == {"test"}

    # One record more, one caption changed, one record gone.
    edited = [*records(CAPTIONS[:2]), record("k-new", "five new ships"), {**records([CAPTIONS[3]])[0], "caption": "a cat"}]
    last = {row["key"]: row["audio_sha256"] for row in run_over(out, split_of(tmp_path / "c", edited)).table().to_pylist()}
    assert sorted(line.split(": ")[1] for line in asked.lines()) == ["a cat", "a cat", "five new ships", "five new ships"]
    assert {key: sha for key, sha in last.items() if before.get(key) == sha} == {
        f"k-{caption}.{n}": before[f"k-{caption}.{n}"] for caption in CAPTIONS[:2] for n in (0, 1)
    }

    # One utterance more of each: the first two stay.
    run_over(out, split_of(tmp_path / "d", records(CAPTIONS[:4])), utterances=3)
    assert len(asked.lines()) == 4
    # A wider spread of pitch is heard in all of them.
    run_over(out, split_of(tmp_path / "d", records(CAPTIONS[:4])), pitch_sd=1.5)
    assert len(asked.lines()) == 8


def test_another_voice_has_only_its_own_utterances_spoken(tmp_path: Path, asked: Asked) -> None:
    split = split_of(tmp_path, records(CAPTIONS))
    run_over(tmp_path / "out", split, voices=VOICES[:1])
    assert len(asked.lines()) == 12
    result = run_over(tmp_path / "out", split)
    theirs = [row for row in result.table().to_pylist() if row["voice"] == VOICES[1]]
    assert 0 < len(theirs) < 12 and len(asked.lines()) == len(theirs)


def test_the_output_does_not_depend_on_chunks_workers_or_finished_shards(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    split = split_of(tmp_path, records(CAPTIONS[:1]), records(CAPTIONS[1:]))
    one = run_over(tmp_path / "one", split)
    monkeypatch.setattr(speaking, "workers_of", lambda stage: 64)
    monkeypatch.setattr(speaking, "LARGEST", 2)
    assert run_over(tmp_path / "two", split).digest == one.digest
    assert run_over(tmp_path / "one", split).digest == one.digest


@pytest.mark.parametrize("total, workers", [(0, 2), (1, 2), (7, 1), (496, 2), (1000, 64), (10_000, 2)])
def test_pieces_cover_everything_once_and_the_last_are_small(total: int, workers: int) -> None:
    result = list(cut_pieces(total, workers))
    assert [number for start, end in result for number in range(start, end)] == list(range(total))
    sizes = [end - start for start, end in result]
    assert sizes == sorted(sizes, reverse=True) and all(size <= 64 for size in sizes)
    assert sizes[-workers:] == [1] * min(total, workers)


def test_a_slow_voice_is_left_out_of_a_language_with_too_many_utterances(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    from dataclasses import replace

    nano = catalogue.VOICES["nanotts-en-us"]
    monkeypatch.setitem(catalogue.VOICES, "nanotts-en-us", replace(nano, slow=True))
    monkeypatch.setitem(catalogue.VOICES, "nanotts-es-es", replace(catalogue.VOICES["nanotts-es-es"], slow=True))
    split = split_of(tmp_path, records(CAPTIONS))
    voices = [*VOICES, "nanotts-es-es"]
    for limit, drawn in ((12, set(VOICES)), (11, {"flite-kal16"})):  # two utterances of each of six captions
        result = run_over(tmp_path / f"{limit}", split, voices=voices, slow_utterances=limit)
        assert {row["voice"] for row in result.table().to_pylist()} == drawn
        line = capfd.readouterr().err.splitlines()[0]
        assert ("left out: nanotts-en-us (too slow for over 11 utterances; raise" in line) == (limit == 11)
        assert "nanotts-es-es" not in line
    with pytest.raises(HearsightError, match=r"no voice is left to draw from.*slow_utterances"):
        run_over(tmp_path / "none", split, voices=["nanotts-en-us"], slow_utterances=11)


def test_an_empty_split_gives_an_empty_output(tmp_path: Path) -> None:
    assert run_over(tmp_path / "out", split_of(tmp_path, [])).table().num_rows == 0


def test_a_missing_recording_gives_a_one_line_error(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ResultCache, "read", lambda self, kept, keys: {})
    with pytest.raises(HearsightError, match="a spoken utterance is missing"):
        run_over(tmp_path / "out", split_of(tmp_path, records(CAPTIONS[:1])))


def test_the_settings_name_existing_voices() -> None:
    assert [Speech(voice).model for voice in params().voices]
