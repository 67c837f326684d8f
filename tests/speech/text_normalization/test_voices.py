"""The installed English voices say what is made speakable: something is heard, as long as words take."""

from __future__ import annotations

import pytest

from components.speech.audio.files import RATE_HZ
from components.speech.audio.measures import is_silent
from components.speech.text_normalization import NormalisedText, normalise_for_speech
from components.speech.voices.speaking import speak

WRITTEN = """
Mr. Smith & Dr. King, Jr. at 5 Main St.
3:30 pm on September 23, 2017
$19.99 and €3.50, 50% off!!!!
an Airbus A319 over the USA
Louis XIV and Queen Elizabeth II
oil on canvas, 73 x 92 cm
BIG SALE ON SHOES
1,234,567 stars
a café in Kraków
2 1/2 cups of sugar
the F.B.I. and NASA
20°C in the 1990s
#SunsetBeach with @john_doe
vitamin C
a 5'10" man
555-123-4567
they won 3-2
H2O
a dog (brown) runs…
sunset-beach.jpg
"""


def seconds_a_character(written: str, voice: str) -> float:
    result = normalise_for_speech(written, "en", max_characters=500)
    assert isinstance(result, NormalisedText)
    samples = speak(result.text, voice)
    assert not is_silent(samples)
    return len(samples) / RATE_HZ / len(result.text)


@pytest.mark.parametrize("written", WRITTEN.strip().splitlines())
def test_a_light_voice_speaks_at_a_normal_pace(written: str) -> None:
    assert 0.03 < seconds_a_character(written, "nanotts-en-us") < 0.15


@pytest.mark.parametrize("written", WRITTEN.strip().splitlines()[:3])
def test_a_neural_voice_speaks_at_a_normal_pace(written: str) -> None:
    assert 0.03 < seconds_a_character(written, "hibari-heart") < 0.15
