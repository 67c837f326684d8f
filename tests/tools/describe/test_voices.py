"""The voice that reads aloud is the best understood of the installed ones, and a better one is named."""

from __future__ import annotations

import pytest

from components.core.errors import HearsightError
from components.speech.voices.catalogue import VOICES
from components.tools.describe import voices
from components.tools.describe.voices import MEASURED, Measured, better_voice, default_voice

RATES = {"espeak-pt-br": 0.9, "kokoro-pt-dora": 0.1, "kokoro-pt-alex": 0.2}
KOKORO = "pip install piper-tts==1.8.0 && hearsight data --kokoro"


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """The voices that are installed; to be changed."""
    names: set[str] = set()
    monkeypatch.setattr(voices, "installed", lambda voice: voice.name in names)
    monkeypatch.setattr(voices, "MEASURED", {name: Measured(1.0, rate, 100) for name, rate in RATES.items()})
    return names


def test_the_voice_with_the_fewest_wrong_words_reads_and_one_that_was_not_measured_is_last(here: set[str]) -> None:
    with pytest.raises(HearsightError, match=f"no local voice for 'pt' is installed.*{KOKORO}"):
        default_voice("pt")
    for name in ("espeak-pt-br-f", "espeak-pt-br", "kokoro-pt-alex", "kokoro-pt-dora"):
        here.add(name)
        assert default_voice("pt") == name


def test_a_better_voice_is_named_with_its_command_until_it_is_installed(here: set[str]) -> None:
    here.add("espeak-pt-br")
    assert better_voice("pt") == (
        f"kokoro-pt-dora is understood better than espeak-pt-br (wrong: 10% of words against 90% of words): run `{KOKORO}`"
    )
    here.add("kokoro-pt-dora")
    assert better_voice("pt") == ""


def test_measured_voices_exist_and_kokoro_is_best_in_portuguese() -> None:
    assert MEASURED.keys() <= {name for name, voice in VOICES.items() if not voice.paid}
    for figures in MEASURED.values():
        assert figures.seconds > 0 and figures.word_errors >= 0 and figures.words >= 100
    rates = {name: figures.word_errors for name, figures in MEASURED.items() if VOICES[name].language == "pt"}
    assert min(rates, key=rates.__getitem__).startswith("kokoro-pt")
