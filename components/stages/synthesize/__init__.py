"""Synthesize: every caption of the split is spoken, by drawn voices in drawn manners (mission S1; CSC, section 2.2).

In: SPLIT records. Out: UTTERANCE records with 16 kHz FLAC in the media shards, and ``draws.json``, what was drawn from.
The ledger has one row a record: one with nothing spoken is dropped by ``no_voice`` (no voice speaks its language), by the
rule that its text breaks (``text_normalization``), or by ``engine``. Three steps: planning (what to say, and how), speaking (in
pieces, into the annotations: nothing is spoken twice) and packing. Not in scope: human speech, recognition checks, noise.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from components.core.params import Settings

if TYPE_CHECKING:
    from components.execution.stage import Stage

DRAWS = "draws.json"
"""What the draws of this output were drawn from."""


class Params(Settings):
    """What is spoken, and what is drawn for each utterance."""

    seed: int = 1
    """Seed of every draw. Ours."""
    utterances: int = 1
    """How often each caption is spoken, at least 1. CSC §2.2: 1."""
    voices: list[str] = ["hibari-heart", "nanotts-en-us", "nanotts-en-gb", "flite-slt", "flite-rms", "flite-kal16"]
    """Names of the voices; each caption is spoken by those of its language, drawn uniformly. CSC §2.2: 6 WaveNet voices of
    American English; ours: 6 that need no account."""
    max_characters: int = 600
    """Captions with more, as they are spoken, are dropped by ``too_long``. Ours, some 40 s; CC table 3: captions have 10.3
    tokens (sd 4.5)."""
    rate_sd: float = 0.1
    """Standard deviation of the speaking rate round 1; draws are clipped at 2 sd, here and below. CSC §2.2: .1."""
    pitch_sd: float = 1.0
    """Standard deviation of the pitch shift round 0, in semitones. CSC §2.2: 1."""
    gain_sd: float = 2.0
    """Standard deviation of the gain round 0, in dB. CSC §2.2: 2."""
    google_shapes: bool = True
    """Whether Google's voices are asked for the drawn rate, pitch and gain, or shaped here like all others. CSC
    §2.2: true."""


def run(stage: Stage) -> None:
    """Plan, speak what was not spoken before, and pack, shard by shard.

    Raises:
        HearsightError: settings that do not fit, a voice that is not installed and no extra, one that fails on everything,
            a full disk. What was spoken until then is kept.
    """
    import json

    from components.core.digests import digest_value
    from components.google.cost import record_usage
    from components.speech.voices.paid import plan_for
    from components.stages.synthesize.packing import pack_shard, with_failures
    from components.stages.synthesize.planning import plan_shard
    from components.stages.synthesize.prosody import distributions
    from components.stages.synthesize.speaking import speak_missing

    params: Params = stage.params
    _refuse(stage, params)
    voices = _voices(stage, params)
    settings = {name: value for name, value in params.plain().items() if name != "voices"}
    shards = stage.inputs["input"].shards
    # Not `conserve`: the rows are utterances, several a record; the ledgers still have one row a record.
    planned = stage.map(
        plan_shard, shards, step="plan", params=settings, shared={"voices": voices}, publish=False, conserve=False
    )
    names = [name for of_language in voices.values() for name in of_language]
    google = plan_for(stage.root, names)
    with record_usage(stage, google):
        failed = speak_missing(stage, planned, google)
    whole = with_failures(planned, failed, stage.work / "failed")
    stage.map(pack_shard, whole, step="pack", params={"google_shapes": params.google_shapes}, shared=voices, conserve=False)
    drawn = distributions(
        voices={language: list(names) for language, names in voices.items()},
        rate_sd=params.rate_sd,
        pitch_sd=params.pitch_sd,
        gain_sd=params.gain_sd,
    )
    stage.write_file(DRAWS, (json.dumps(drawn, indent=1, sort_keys=True) + "\n").encode())
    stage.note_parent("voices", digest_value(voices))
    stage.metric("engine_failures", len(failed))


def _refuse(stage: Stage, params: Params) -> None:
    from components.core.errors import HearsightError

    where = f"params.yaml: {stage.dataset}.synthesize"
    if params.utterances < 1 or not params.voices:
        raise HearsightError("needs at least one utterance and one voice", where=where, hint="raise utterances")
    if params.max_characters < 1:
        raise HearsightError("must be at least 1", where=f"{where}.max_characters", hint="raise it")
    if repeated := sorted({name for name in params.voices if params.voices.count(name) > 1}):
        raise HearsightError(f"'{repeated[0]}' is named twice", where=f"{where}.voices", hint="name each voice once")
    for name in ("rate_sd", "pitch_sd", "gain_sd"):
        # At 2 sd of .5 and more a voice would stand still.
        if not 0 <= getattr(params, name) < (0.5 if name == "rate_sd" else float("inf")):
            raise HearsightError("is out of range", where=f"{where}.{name}", hint="give 0 or more, and less than .5 for the rate")


def _voices(stage: Stage, params: Params) -> dict[str, dict[str, str]]:
    """Language → voice → model of those to draw from; says which these are, and what installs the others."""
    import sys

    from components.core.errors import HearsightError
    from components.speech.voices.catalogue import at_hand

    here, absent = at_hand(params.voices)
    if not here:
        raise HearsightError(
            "none of the voices is installed",
            where=f"params.yaml: {stage.dataset}.synthesize.voices",
            hint="; ".join(dict.fromkeys(f"run `{voice.install}`" for voice in absent)),
        )
    line = f"{len(here)} voices: {', '.join(voice.name for voice in here)}"
    if absent:
        line += "; left out, not installed: " + ", ".join(f"{voice.name} (`{voice.install}`)" for voice in absent)
    print(f"{stage.name} {stage.dataset}: {line}", file=sys.stderr, flush=True)
    stage.metric("voices", len(here))
    stage.metric("voices_left_out", len(absent))
    found: dict[str, dict[str, str]] = {}
    for voice in sorted(here, key=lambda voice: (voice.language, voice.name)):
        found.setdefault(voice.language, {})[voice.name] = voice.model
    return found
