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


def said(root: Path, out: Path) -> dict[str, float]:
    """Call the documented ``hearsight say`` and return what it prints."""
    done = hearsight(root, "say", "a dog", "--voice", "toneword-en", "--out", str(out))
    assert done.returncode == 0 and soundfile.info(out).samplerate == 16_000, done.stderr
    return json.loads(done.stdout)


def test_the_documented_example_passes_through_every_documented_command(project: Path) -> None:
    first = said(project, project / "first.flac")
    assert f"here {first['level']:.1f} is printed, so `{LEVEL}`" in PAGE

    source = (project / MODULE).read_text(encoding="utf-8")
    assert source.count("level=0.0") == 1
    (project / MODULE).write_text(source.replace("level=0.0", LEVEL), encoding="utf-8")
    second = said(project, project / "second.flac")
    assert abs(second["level"] + 26) < 0.1

    settings = read_params_file(project / "params.yaml")
    settings["english"]["synthesize"] = {"voices": ["toneword-en"]}
    write_settings(project, settings)
    listed = hearsight(project, "params", "synthesize", "-d", "english", "--changed")
    assert listed.returncode == 0 and "toneword-en" in listed.stdout, listed.stderr
