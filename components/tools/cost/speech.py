"""``hearsight cost --stage synthesize``: what paid voices would be asked of the captions, and for how much; asks nothing.

The draws are the stage's own, so the sum is exact but for what the service refuses, which is free. A paid voice is counted as
if there were credentials; an extra that is not installed is left out, as a run on this machine would.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from components.core.errors import HearsightError
from components.core.graph import load_graph
from components.core.params import stage_params
from components.core.stage_output import StageOutput
from components.google.bill import Line, total
from components.speech.text_normalization import Spoken
from components.speech.voices.bill import bill
from components.speech.voices.catalogue import Voice, installed, voice_named
from components.speech.voices.google_speech import Wish
from components.speech.voices.paid import wish
from components.stages.synthesize import Params
from components.stages.synthesize.planning import plan_utterances


def estimate(root: Path, dataset: str, voices: Sequence[str] = ()) -> list[Line]:
    """What a run of ``dataset``'s synthesize would ask, and the sum.

    Args:
        voices: in the place of ``synthesize.voices``; none for the parameter's own.

    Raises:
        HearsightError: the parameters do not fit, a name is no voice, or the stage's input is not finished.
    """
    graph = load_graph(root)
    graph.require("synthesize", dataset)
    params = stage_params(root / "params.yaml", graph.params, dataset, "synthesize", Params)
    assert isinstance(params, Params)
    source = StageOutput(graph.inputs("synthesize", dataset)["input"])
    if not source.path.is_dir():
        raise HearsightError("is not there yet", where=source.path, hint=f"run the split of '{dataset}' first")
    named = [voice_named(name) for name in voices or params.voices]
    drawn = [voice for voice in named if voice.paid or not voice.extra or installed(voice)]
    if not any(voice.paid for voice in drawn):
        return [Line("voices of this machine", "all", 0, 0, 0, 0, 0.0)]
    records = (record for shard in source.shards for record in shard.read().to_pylist())
    lines = [bill(root, _wishes(records, params, drawn))]
    return [*lines, total(lines)]


def _wishes(records: Iterator[Mapping[str, Any]], params: Params, voices: Sequence[Voice]) -> Iterator[Wish]:
    by_language: dict[str, list[str]] = {}
    for voice in voices:
        by_language.setdefault(voice.language, []).append(voice.name)
    paid = {voice.name for voice in voices if voice.paid}
    for _, said, prosodies in plan_utterances(records, by_language, params.plain()):
        for prosody in prosodies:
            if isinstance(said, Spoken) and prosody.voice in paid:
                how = {"rate": prosody.rate, "pitch": prosody.pitch, "gain": prosody.gain}
                yield wish(said.text, prosody.voice, **how, shaped_there=params.google_shapes)
