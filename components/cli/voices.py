"""``hearsight voices`` and ``hearsight say``: list the voices, and synthesise one text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from components.cli.options import require_folder
from components.core.errors import HearsightError
from components.core.files import publish_bytes
from components.core.graph import find_root
from components.core.printing import print_line, print_result, print_table

app = typer.Typer()
LONGEST = 10_000
"""Characters of one text."""


@app.command()
def voices(
    name: Annotated[str, typer.Argument(help="Check this voice: it speaks some sentences. Exit code 2 if a check fails.")] = "",
) -> None:
    """List the voices: language, sex, engine, licence, and whether each is installed, or why not and what installs it."""
    from components.speech.voices.catalogue import VOICES, lack_of

    if name:
        _check(name)
        return
    print_table(
        [
            {
                "voice": voice.name,
                "language": voice.language,
                "sex": voice.sex,
                "engine": voice.model,
                "licence": voice.licence,
                "extra": "yes" if voice.extra else "no",
                "installed": f"not available: {lack.why}; {lack.cure}" if (lack := lack_of(voice)) else "yes",
            }
            for voice in VOICES.values()
        ]
    )


def _check(name: str) -> None:
    """Print one line for each check of a voice; raise HearsightError when one fails."""
    from components.speech.voices.catalogue import voice_named
    from components.tools.voice_check.checks import FAILED, check_voice, source_file

    failed = []
    for finding in check_voice(find_root(), name):
        print_result(finding.plain(), finding.text())
        if finding.state == FAILED:
            failed.append(finding)
    if failed:
        what = f"{name} fails: {', '.join(finding.name for finding in failed)}"
        raise HearsightError(what, where=source_file(voice_named(name)), hint=failed[0].fix)


@app.command()
def say(
    text: Annotated[str, typer.Argument(help="What to say.")],
    voice: Annotated[str, typer.Option(help="One of `hearsight voices`.")],
    out: Annotated[Path, typer.Option(help="The file to write: 16 kHz FLAC.")],
    rate: Annotated[float, typer.Option(min=0.25, max=4.0, help="2 is twice as fast.")] = 1.0,
    pitch: Annotated[float, typer.Option(min=-24.0, max=24.0, help="Semitones up.")] = 0.0,
    gain: Annotated[float, typer.Option(min=-60.0, max=60.0, help="dB.")] = 0.0,
) -> None:
    """Synthesise one text as a FLAC file like the stage synthesize: text normalisation, prosody, trimming, no clipping."""
    from dataclasses import asdict

    from components.speech.text_normalization import RejectedText, normalise_for_speech
    from components.speech.voices.catalogue import split_installed, voice_named
    from components.speech.voices.failures import SILENT
    from components.stages.synthesize.prosody import Prosody
    from components.stages.synthesize.speech import Speech, Unspoken, unpack

    _, absent = split_installed([voice])
    if absent:
        raise HearsightError(f"the voice '{voice}' is not installed", where="--voice", hint=f"run `{absent[0].install}`")
    if voice_named(voice).paid:
        raise HearsightError(f"'{voice}' is a paid voice, which only the stage uses", where="--voice", hint="take another voice")
    require_folder(out)
    said = normalise_for_speech(text, voice_named(voice).language, max_characters=LONGEST)
    if isinstance(said, RejectedText):
        raise HearsightError(f"cannot be said ({said.rule}: {said.value})", where="say", hint="change the text")
    try:
        clip = unpack(Speech(voice).compute((said.text, Prosody(voice, rate, pitch, gain))))
    except Unspoken as failure:
        raise HearsightError(f"{voice} cannot say it: {failure.reason}", where="say", hint="take another voice") from None
    if clip is None:
        raise HearsightError(f"cannot be heard ({SILENT})", where="say", hint="raise --gain, or change the text")
    publish_bytes(out, clip.flac)
    measures = {name: round(value, 3) for name, value in asdict(clip.measures).items()}
    print_line({"said": said.text, "voice": voice, "file": str(out), **measures, "turned_down": round(abs(clip.turned), 3)})
