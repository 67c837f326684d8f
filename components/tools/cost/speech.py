"""Estimate the requests of synthesize to paid voices, and their price (``hearsight cost --stage synthesize``); send none.

Voices are drawn as the stage draws them, so the sum is exact, except for refused requests, which are free. Credentials are not
needed for the estimate. Optional voices that are not installed are left out, as in a run on this machine.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.stage_output import StageOutput
from components.execution.runner import stage_settings
from components.google.cost import CostLine, sum_lines
from components.speech.text_normalization import NormalisedText
from components.speech.voices.bill import estimate_cost
from components.speech.voices.catalogue import Voice, installed, voice_named
from components.speech.voices.google_speech import SpeechRequest
from components.speech.voices.paid import speech_request
from components.stages.synthesize import Params
from components.stages.synthesize.planning import plan_utterances


def estimate(root: Path, dataset: str, voices: Sequence[str] = ()) -> list[CostLine]:
    """Return what a run of ``dataset``'s synthesize requests, and the total.

    Args:
        voices: replace ``synthesize.voices``; empty keeps them.

    Raises:
        HearsightError: the parameters are not valid, a name is no voice, or the stage's input is not finished.
    """
    graph = load_graph(root)
    params: Params = stage_settings(graph, "synthesize", dataset)
    source = StageOutput(graph.inputs("synthesize", dataset)["input"])
    if not source.path.is_dir():
        raise HearsightError("is not there yet", where=source.path, hint=f"run the split of '{dataset}' first")
    named = [voice_named(name) for name in voices or params.voices]
    drawn = [voice for voice in named if voice.paid or not voice.extra or installed(voice)]
    if not any(voice.paid for voice in drawn):
        return [CostLine("voices of this machine", "all", 0, 0, 0, 0, 0.0)]
    records = (record for shard in source.shards for record in shard.read().to_pylist())
    lines = [estimate_cost(root, _wishes(records, params, drawn))]
    return [*lines, sum_lines(lines)]


def _wishes(records: Iterator[Mapping[str, Any]], params: Params, voices: Sequence[Voice]) -> Iterator[SpeechRequest]:
    by_language: dict[str, list[str]] = {}
    for voice in voices:
        by_language.setdefault(voice.language, []).append(voice.name)
    paid = {voice.name for voice in voices if voice.paid}
    for _, said, manners in plan_utterances(records, by_language, params.plain()):
        for manner in manners:
            if isinstance(said, NormalisedText) and manner.voice in paid:
                how = {"rate": manner.rate, "pitch": manner.pitch, "gain": manner.gain}
                yield speech_request(said.text, manner.voice, **how, shaped_there=params.google_shapes)
