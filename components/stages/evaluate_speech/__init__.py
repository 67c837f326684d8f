"""Evaluate voices on a random sample of each, by speech recognition and by ear.

Input: UTTERANCE records, synthetic or human. A recogniser that does not know the captions transcribes the sample; a high word
error rate reveals an unintelligible voice, a wrong language, or wrong audio. CSC has no such check; it is ours. Output:
RECOGNITION records, a page with players (``listen.html``, with audio in files), ``voices.json``, ``summary.txt``.
The ledger has one row per record; a record without utterances in the sample is dropped by ``not_drawn``, since this stage is a
side branch.
Without a recogniser the page has no error rates and says so.
Not in scope: dropping utterances (``synthesize`` does), alignment in time.
"""

from __future__ import annotations

from components.core.params import NotNegative, Positive, Settings

PAGE, VOICES, SUMMARY = "listen.html", "voices.json", "summary.txt"


RULE_SETTINGS = {"not_drawn": ("per_voice",)}
"""Rule of the ledger → the settings of ``Params`` that set its threshold."""


class Params(Settings):
    """What is listened to."""

    seed: int = 1
    """Seed of the sample and of the bootstrap. Ours."""
    per_voice: Positive = 6
    """Utterances of each voice in the sample; fewer where there are fewer. Ours."""
    min_words: NotNegative = 5
    """Utterances with fewer words are drawn only where a voice has not enough others. Ours."""
    examples: NotNegative = 4
    """Utterances of each voice on the page, the first of its sample: drawn, not chosen. Ours."""
    languages: list[str] = []
    """ISO 639-1: languages to recognise; utterances in others are drawn and played all the same. Empty: every language there is a
    recogniser for. Ours."""
    resamples: Positive = 1000
    """Bootstrap samples behind an interval. Ours."""
