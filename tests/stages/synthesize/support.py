"""A split to speak, the stage over it, and what the engines were really asked."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

from components.core.stage_output import StageOutput
from components.execution.engine import Engine
from components.execution.runner import clear
from components.execution.stage import Stage
from components.speech.voices.speaking import speak
from components.stages import synthesize
from components.stages.synthesize import speech
from components.stages.synthesize.run import run as run_synthesize
from tests.support import make_output, make_stage, row

SPREAD: dict[str, Any] = {"rate_sd": 0.1, "pitch_sd": 1.0, "gain_sd": 2.0}
VOICES = ["flite-kal16", "nanotts-en-us"]
CAPTIONS = ("a red ball", "the moon over mountains", "statue of an elephant", "people on a beach", "a dog runs", "two boats")


def params(**changed: Any) -> synthesize.Params:
    """The stage's settings, ``changed`` aside."""
    return synthesize.Params(
        **{"seed": 3, "utterances": 2, "voices": VOICES, "max_characters": 600, "google_shapes": False, **SPREAD, **changed}
    )


def record(key: str, caption: str, **changed: Any) -> dict[str, Any]:
    """A record of the split."""
    common = {"language": "en", "split": "train", "media": f"00000/{key}.png"}
    return row("split", **{"key": key, "caption": caption, **common, **changed})


def records(captions: Iterable[str]) -> list[dict[str, Any]]:
    """Records of captions, their keys made of these."""
    return [record(f"k-{caption}", caption) for caption in captions]


def split_of(root: Path, *shards: list[dict[str, Any]]) -> StageOutput:
    """A finished split."""
    return make_output(root, "split", shards)


def stage_over(root: Path, split: StageOutput, engine: Engine | None = None, **changed: Any) -> Stage:
    """The stage as the runner hands it over; what ``root`` has in its caches counts."""
    return make_stage(root, "synthesize", params=params(**changed), inputs={"input": split}, engine=engine)


def run_over(root: Path, split: StageOutput, engine: Engine | None = None, **changed: Any) -> StageOutput:
    """The finished output."""
    stage = stage_over(root, split, engine, **changed)
    clear(stage.out)
    run_synthesize(stage)
    stage.finish()
    return StageOutput(stage.out)


@pytest.fixture
def asked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Asked:
    """What the engines are asked, also by workers: patched in before they are forked."""
    counted = Asked(tmp_path / "asked.txt")
    monkeypatch.setattr(speech, "speak", counted.speak)
    return counted


class Asked:
    """A log of what the engines were asked, one line each."""

    def __init__(self, path: Path) -> None:
        self.path = path
        path.touch()

    def speak(self, text: str, voice: str) -> Any:
        """As ``speak``, but on the record."""
        with self.path.open("a") as log:
            log.write(f"{voice}: {text}\n")
        return speak(text, voice)

    def lines(self) -> list[str]:
        """All that was asked since the last look."""
        result = self.path.read_text().splitlines()
        self.path.write_text("")
        return result
