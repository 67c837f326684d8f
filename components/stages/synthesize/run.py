"""Run synthesize: plan the utterances, speak those that are not cached, and pack the shards."""

from __future__ import annotations

import json
import sys
from collections import Counter

from components.core.digests import digest_value
from components.core.errors import HearsightError
from components.execution.stage import Stage
from components.google.cost import record_usage
from components.speech.voices.available import lack_here, split_available
from components.speech.voices.catalogue import voice_named
from components.speech.voices.paid import plan_for
from components.stages.synthesize import DRAWS, Params
from components.stages.synthesize.packing import pack_shard, with_failures
from components.stages.synthesize.planning import plan_shard
from components.stages.synthesize.prosody import distributions
from components.stages.synthesize.speaking import speak_missing


def run(stage: Stage) -> None:
    """Plan the utterances, speak those that are not cached, and pack the shards.

    Raises:
        HearsightError: no voice is installed, a voice fails on everything, or the disk is full. Finished
            speech is kept.
    """
    params: Params = stage.params
    voices = _voices(stage, params)
    settings = {name: value for name, value in params.plain().items() if name not in ("voices", "slow_utterances")}
    shards = stage.inputs["input"].shards
    # Not `conserve`: the rows are utterances, several a record; the ledgers still have one row a record.
    planned = stage.map(
        plan_shard, shards, step="plan", params=settings, shared={"voices": voices}, publish=False, conserve=False
    )
    names = [name for models in voices.values() for name in models]
    google = plan_for(stage.project, names)
    with record_usage(stage, google):
        failed = speak_missing(stage, planned, google)
    complete = with_failures(planned, failed, stage.work / "failed")
    stage.map(pack_shard, complete, step="pack", params={"google_shapes": params.google_shapes}, shared=voices, conserve=False)
    spread = {name: getattr(params, name) for name in ("rate_sd", "pitch_sd", "gain_sd")}
    drawn = distributions(voices={language: list(names) for language, names in voices.items()}, **spread)
    stage.write_file(DRAWS, (json.dumps(drawn, indent=1, sort_keys=True) + "\n").encode())
    stage.note_parent("voices", digest_value(voices))
    stage.metric("engine_failures", len(failed))


def _voices(stage: Stage, params: Params) -> dict[str, dict[str, str]]:
    """Return language → voice → model of the voices to draw from; print these, and why others are left out."""
    languages = stage.inputs["input"].table(["language"])["language"].to_pylist()
    utterances = {language: count * params.utterances for language, count in Counter(languages).items()}
    named = [voice_named(name) for name in params.voices]
    # A slow voice of a language that is not here is not named either.
    fitting = [v.name for v in named if not v.slow or 0 < utterances.get(v.language, 0) <= params.slow_utterances]
    slow = [v.name for v in named if v.slow and utterances.get(v.language, 0) > params.slow_utterances]
    too_slow = f"too slow for over {params.slow_utterances} utterances; raise {stage.place('slow_utterances')}"
    if not fitting:
        raise HearsightError("no voice is left to draw from", where=stage.place("voices"), hint=f"name others ({too_slow})")
    installed, missing = split_available(fitting)
    if not installed:
        raise HearsightError(
            "none of the voices is installed",
            where=stage.place("voices"),
            hint="; ".join(dict.fromkeys(lack.cure for voice in missing if (lack := lack_here(voice)))),
        )
    line = f"{len(installed)} voices: {', '.join(voice.name for voice in installed)}"
    left_out = [f"{voice.name} ({lack.cure})" for voice in missing if (lack := lack_here(voice))]
    left_out += [f"{name} ({too_slow})" for name in slow]
    if left_out:
        line += f"; left out: {', '.join(left_out)}"
    print(f"{stage.name} {stage.dataset}: {line}", file=sys.stderr, flush=True)
    stage.metric("voices", len(installed))
    stage.metric("voices_left_out", len(left_out))
    models: dict[str, dict[str, str]] = {}
    for voice in sorted(installed, key=lambda voice: (voice.language, voice.name)):
        models.setdefault(voice.language, {})[voice.name] = voice.model
    return models
