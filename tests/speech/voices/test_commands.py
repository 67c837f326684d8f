"""``hearsight voices`` and ``hearsight say`` as a person calls them."""

from __future__ import annotations

import json
import subprocess
import sys

import soundfile

from components.speech.voices.catalogue import VOICES
from tests.support import PROJECT


def hearsight(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "components.cli.main", *arguments], cwd=PROJECT, capture_output=True, text=True, check=False
    )


def test_voices_are_listed_as_json_lines_to_a_program():
    done = hearsight("voices")
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    assert [row["voice"] for row in rows] == list(VOICES)
    assert rows[0]["installed"] == "yes" and rows[0]["licence"] == "Apache-2.0"


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


def test_what_cannot_be_said_is_one_line_exit_code_2_and_no_file(tmp_path):
    out = tmp_path / "none.flac"
    for arguments, told in (
        (("one", "--voice", "alto", "--out", str(out)), "'alto' is not a voice"),
        (("...", "--voice", "flite-slt", "--out", str(out)), "cannot be said (no_words: ...)"),
        (("one", "--voice", "flite-slt", "--out", str(tmp_path / "no" / "x.flac")), "no such folder"),
    ):
        done = hearsight("say", *arguments)
        assert done.returncode == 2 and told in done.stderr and len(done.stderr.splitlines()) == 1, done.stderr
    assert not out.exists()
