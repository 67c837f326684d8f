"""``hearsight voices`` and ``hearsight say``: list the voices, and synthesise one text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from components.cli.options import check_outputs
from components.core.files import publish_bytes
from components.core.printing import print_line, print_table

app = typer.Typer()


@app.command()
def voices() -> None:
    """List the voices: language, sex, engine, licence, CPU seconds an utterance, word error rate, and what installs each."""
    from components.speech.voices.available import lack_here
    from components.speech.voices.catalogue import VOICES
    from components.tools.describe.voices import MEASURED

    print_table(
        [
            {
                "voice": voice.name,
                "language": voice.language,
                "sex": voice.sex,
                "engine": voice.model,
                "licence": voice.licence,
                "extra": "yes" if voice.extra else "no",
                "seconds": figures.seconds if (figures := MEASURED.get(voice.name)) else "",
                "word_errors": figures.word_errors if figures else "",
                "installed": f"not available: {lack.why}; {lack.cure}" if (lack := lack_here(voice)) else "yes",
            }
            for voice in VOICES.values()
        ]
    )


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

    from components.tools.describe.speech import say as say_text

    check_outputs(out)
    spoken = say_text(text, voice, rate=rate, pitch=pitch, gain=gain)
    publish_bytes(out, spoken.clip.flac)
    measures = {name: round(value, 3) for name, value in asdict(spoken.clip.measures).items()}
    about = {"said": spoken.said, "voice": voice, "file": str(out)}
    print_line({**about, **measures, "turned_down": round(abs(spoken.clip.turned), 3)})
