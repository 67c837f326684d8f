"""Which voices can speak on this machine, and of the others why not and what installs them, for lists that people read.

A fault of one engine hides no other voice. Not in scope: which voices a run takes (``catalogue.at_hand``).
"""

from __future__ import annotations

from typing import NamedTuple

from components.speech.voices import catalogue, google
from components.speech.voices.voice import Voice


class Lack(NamedTuple):
    """Why a voice cannot speak here."""

    why: str
    cure: str
    """What to do about it."""


def lack_of(voice: Voice) -> Lack | None:
    """Return why the voice cannot speak here, or None where it can; of a paid one: why there are no credentials.

    Never raises, loads no engine and asks no service.
    """
    install = f"run `{voice.install}`"
    try:
        if voice.paid:
            refusal = google.lack(voice.name)
            return Lack(refusal.what, refusal.hint) if refusal else None
        return None if catalogue.installed(voice) else Lack("not installed", install)
    except Exception as error:  # a half-removed package fails in its own way, e.g. find_spec by ValueError
        return Lack(f"{type(error).__name__}: {' '.join(str(error).split())}", install)
