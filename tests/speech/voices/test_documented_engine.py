"""The engine that docs/voices.md shows as an example, taken through the documented steps in a copy of the project."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest
import soundfile

from components.core.params import read_params_file
from components.speech.recognition.recognizer import INSTALL
from components.speech.text_normalization import NormalisedText, languages, normalise_for_speech
from components.tools.voice_check import checks as checks_of_a_voice
from components.tools.voice_check.checks import SENTENCES
from tests.support import PROJECT
from tests.support.settings_files import copy_settings, write_settings

pytestmark = pytest.mark.long

PAGE = (PROJECT / "docs/voices.md").read_text(encoding="utf-8").partition("## Add a voice\n")[2]
MODULE = "components/speech/voices/engine_toneword.py"
LEVEL = "level=-12.5"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A copy of the project with the documented module and its line in the registry."""
    for folder in ("components", "flows"):
        shutil.copytree(PROJECT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("__pycache__"))
    copy_settings(tmp_path)
    source = dedent(re.findall(r"```python\n(.*?)```", PAGE, flags=re.DOTALL)[0])
    (line,) = re.findall(r'`("toneword": .*?)`', PAGE)
    (tmp_path / MODULE).write_text(source, encoding="utf-8")
    registry = tmp_path / "components/speech/voices/engines.py"
    added = f"from components.speech.voices import engine_toneword\n\nENGINES |= {{{line}}}\n"
    registry.write_text(registry.read_text(encoding="utf-8") + added, encoding="utf-8")
    return tmp_path


def hearsight(root: Path, *words: str) -> subprocess.CompletedProcess[str]:
    environment = {**os.environ, "PYTHONPATH": str(root), "HEARSIGHT_ROOT": str(root)}
    command = [sys.executable, "-m", "components.cli.main", *words]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False, env=environment)


def checks(done: subprocess.CompletedProcess[str]) -> dict[str, dict[str, str]]:
    """Return name → finding."""
    return {row["name"]: row for row in map(json.loads, done.stdout.splitlines())}


def change(root: Path, before: str, after: str) -> None:
    """Replace one text in the module."""
    source = (root / MODULE).read_text(encoding="utf-8")
    assert source.count(before) == 1
    (root / MODULE).write_text(source.replace(before, after), encoding="utf-8")


def test_the_documented_example_passes_through_every_documented_command(project: Path) -> None:
    first = hearsight(project, "voices", "toneword-en")
    assert first.returncode == 2, first.stderr
    (failed,) = [row for row in checks(first).values() if row["state"] == "failed"]
    line = f"{failed['state']:<9}{failed['name']:<17}{failed['found']}; fix: {failed['fix']}"
    assert line in PAGE and failed["fix"] == f"write {LEVEL} in {MODULE}"
    assert first.stderr == f"hearsight: {MODULE}: toneword-en fails: level — {failed['fix']}\n"

    change(project, "level=0.0", LEVEL)
    second = hearsight(project, "voices", "toneword-en")
    rows = checks(second)
    assert (second.returncode, second.stderr) == (0, ""), second.stderr
    assert "recognised" in rows and {row["state"] for row in rows.values()} <= {"ok", "warning"}
    settings = read_params_file(project / "params.yaml")
    settings["english"]["synthesize"] = {"voices": ["toneword-en"]}
    write_settings(project, settings)
    listed = hearsight(project, "params", "synthesize", "-d", "english", "--changed")
    assert listed.returncode == 0 and "toneword-en" in listed.stdout, listed.stderr

    out = project / "dog.flac"
    said = hearsight(project, "say", "a dog", "--voice", "toneword-en", "--out", str(out))
    assert said.returncode == 0 and soundfile.info(out).samplerate == 16_000, said.stderr


@pytest.mark.parametrize(
    ("before", "after", "name", "result"),
    [
        (
            ".astype(np.float32)",
            ".astype(np.int64)",
            "speaks",
            "int16 or float of one dimension, not int64 of 1 dimensions",
        ),
        (".astype(np.float32)", "[:, None].astype(np.float32)", "speaks", "not float32 of 2"),
        ("(0.3 *", "(np.random.default_rng().uniform(0.2, 0.4) *", "repetition", "also first in a new process"),
        ("* 220 *", "* self.__dict__.setdefault('words', len(text.split())) * 40 *", "repetition", "in another order"),
        ("(0.3 *", "(1.5 *", "format", "samples at full scale or beyond"),
        ("(0.3 *", "(0.0 *", "silence", "nothing is heard of"),
        ("3_200 *", "32_000 *", "duration", "s a character"),
        ('language="en"', 'language="xx"', "entry", "none of en"),
        ('"toneword-en", "toneword"', '"toneword-en", "flite"', "entry", "is not its engine"),
        ('licence="Apache-2.0"', 'licence="GPL-3.0-or-later"', "entry", "is not an extra"),
        ("lambda: True", "lambda: False", "installed", "not installed"),
    ],
)
def test_each_fault_of_an_engine_is_named_with_its_correction(
    project: Path, before: str, after: str, name: str, result: str
) -> None:
    change(project, before, after)
    done = hearsight(project, "voices", "toneword-en")
    found = checks(done)[name]
    assert done.returncode == 2 and len(done.stderr.splitlines()) == 1, done.stderr
    assert found["state"] == "failed" and result in found["found"] and found["fix"], found


def test_a_missing_recogniser_is_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checks_of_a_voice, "installed", lambda recogniser: False)
    *_, recognised = checks_of_a_voice.check_voice("flite-kal16")
    assert (recognised.state, recognised.name, recognised.fix) == ("warning", "recognised", INSTALL)


def test_the_sentences_are_spoken_as_they_are_written() -> None:
    assert set(SENTENCES) == set(languages())
    for language, sentences in SENTENCES.items():
        for sentence in sentences:
            assert normalise_for_speech(sentence, language, max_characters=100) == NormalisedText(sentence, ())
            assert len(sentence.split()) >= 5
