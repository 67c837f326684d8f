"""Draws that are not those asked for are caught, and those that are pass."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

from components.core.records import UTTERANCE
from components.core.stage_output import StageOutput
from components.execution.stage import Stage
from components.stages.check import check
from components.stages.check.draws import draws_table, probabilities, voices_table
from components.stages.synthesize.prosody import distributions, draw_prosody
from tests.support import PROJECT, make_stage, row
from tests.support.check.boundaries import make

VOICES = [f"voice-{number}" for number in range(6)]
SPREAD = {"rate_sd": 0.1, "pitch_sd": 1.0, "gain_sd": 2.0}
Change = Callable[[dict[str, Any]], dict[str, Any] | None]


def spoken(count: int, change: Change = lambda utterance: utterance, **spread: float) -> list[dict[str, Any]]:
    """Utterances as the stage draws them; ``change`` edits or drops one."""
    rows = []
    for number in range(count):
        prosody = draw_prosody(1, f"r{number}", 0, voices=VOICES, **{**SPREAD, **spread})
        heard = {"language": "en", "origin": "synthetic", "level": -26.0 + prosody.gain}
        given = row("synthesize", key=f"r{number}.0", **heard, **vars(prosody))
        if (changed := change(given)) is not None:
            rows.append(changed)
    return rows


@pytest.fixture
def output(tmp_path: Path) -> StageOutput:
    stage: Stage = make_stage(tmp_path, "synthesize")
    stage.write_file("draws.json", json.dumps(distributions(voices={"en": VOICES}, **SPREAD)).encode())
    stage.finish()
    return StageOutput(stage.out)


def held_to(output: StageOutput, rows: list[dict[str, Any]]) -> dict[str, float]:
    """Parameter or voice → p."""
    shards = [pa.Table.from_pylist(part, schema=UTTERANCE) for part in (rows[:7], rows[7:])]
    draws, voices = draws_table(output, shards), voices_table(output, shards)
    return dict(zip([*draws["parameter"], *voices["voice"]], [*draws["p"], *voices["p"]], strict=True))


def stretched(rows: list[dict[str, Any]], ledger: list[dict[str, str]]) -> None:
    for utterance in rows:
        utterance["pitch"] = round(min(2.0, max(-2.0, 2.5 * utterance["pitch"])), 4)


@pytest.mark.long
def test_pitches_of_another_deviation_are_a_warning(tmp_path: Path) -> None:
    shutil.copytree(PROJECT / "expectations", tmp_path / "expectations")
    make(tmp_path, "synthesize", records=60)
    assert check(tmp_path, "english", "synthesize").warnings == []
    make(tmp_path, "synthesize", stretched, records=60)
    assert [(w.table, w.column) for w in check(tmp_path, "english", "synthesize").warnings] == [("draws", "p")]


@pytest.mark.parametrize("count", [0, 1, 5, 40, 3000])
def test_draws_from_the_stated_distribution_pass_at_any_number(output: StageOutput, count: int) -> None:
    result = held_to(output, spoken(count))
    assert set(result) == {"rate", "pitch", "gain", "voice en", *VOICES}
    assert min(result.values()) >= 1e-3


def clamped_late(utterance: dict[str, Any]) -> dict[str, Any]:
    return utterance | {"pitch": min(1.5, max(-1.5, utterance["pitch"]))}


def drawn_again(utterance: dict[str, Any]) -> dict[str, Any] | None:
    """As if draws beyond the edges were thrown away instead of moved there."""
    return None if abs(utterance["gain"]) > 3.999 else utterance


def without_one(utterance: dict[str, Any]) -> dict[str, Any] | None:
    return None if utterance["voice"] == VOICES[3] else utterance


def favoured(utterance: dict[str, Any]) -> dict[str, Any]:
    second = utterance["voice"] == VOICES[1] and round(1e4 * utterance["pitch"]) % 2
    return utterance | {"voice": VOICES[0]} if second else utterance


@pytest.mark.parametrize(
    "rows, caught",
    [
        (spoken(800, pitch_sd=1.3), "pitch"),
        (spoken(800, rate_sd=0.07), "rate"),
        (spoken(800, lambda utterance: utterance | {"rate": utterance["rate"] + 0.03}), "rate"),
        (spoken(800, clamped_late), "pitch"),
        (spoken(3000, drawn_again), "gain"),
        (spoken(60, lambda utterance: utterance | {"gain": 0.0}), "gain"),
        (spoken(120, without_one), VOICES[3]),
        (spoken(120, without_one), "voice en"),
        (spoken(800, favoured), "voice en"),
        (spoken(800, favoured), VOICES[0]),
    ],
)
def test_draws_from_another_distribution_are_refused(output: StageOutput, rows: list[dict[str, Any]], caught: str) -> None:
    assert held_to(output, rows)[caught] < 1e-4


def test_a_voice_louder_than_the_others_gives_a_warning(output: StageOutput) -> None:
    rows = [r | {"level": r["level"] + 6.0 * (r["voice"] == VOICES[2])} for r in spoken(300)]
    table = voices_table(output, [pa.Table.from_pylist(rows, schema=UTTERANCE)])
    off = dict(zip(table["voice"], table["off"], strict=True))
    assert off[VOICES[2]] == pytest.approx(5.0, abs=1e-4) and off[VOICES[0]] == pytest.approx(-1.0, abs=1e-4)


@given(st.floats(-3, 3), st.floats(0.01, 5), st.integers(0, 1000), st.integers(1, 4))
@settings(max_examples=20, deadline=None)
def test_clipped_and_rounded_values_give_uniform_points(mean: float, sd: float, seed: int, decimals: int) -> None:
    import numpy as np

    source = np.random.default_rng(seed)
    drawn = [round(float(v), decimals) for v in mean + np.clip(source.normal(0, sd, 2000), -2 * sd, 2 * sd)]
    # As records hold them: what lies on an edge comes back beside it.
    values = [float(np.float32(value)) for value in drawn]
    points = probabilities(values, [str(n) for n in range(2000)], mean=mean, sd=sd, clip=2.0, decimals=decimals)
    assert all(0 <= point <= 1 for point in points)
    assert kstest(points, "uniform").pvalue > 1e-5
