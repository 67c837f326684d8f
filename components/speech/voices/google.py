"""Google's American English WaveNet voices: what they are called and whether they can be asked here.

Source of names and sexes: Google's list of supported voices. In 2019, when the paper drew from six, there were A to F, three
of each sex; the rest came later. The catalogue makes its voices from :data:`WAVENET`; how they speak is ``paid.py``.
"""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import import_module

from components.core.errors import HearsightError

SEXES = {"A": "M", "B": "M", "C": "F", "D": "M", "E": "F", "F": "F", "G": "F", "H": "F", "I": "M", "J": "M"}
WAVENET = {f"google-wavenet-{letter.lower()}": (f"en-US-Wavenet-{letter}", sex) for letter, sex in SEXES.items()}
"""Our name of a voice → Google's, and F or M."""
ENGINE = "google"
LICENCE = "LicenseRef-Google-Cloud-Terms-of-Service"
INSTALL = "gcloud auth application-default login"
"""The command that gives credentials; the variable that may stand for it is named by :func:`lack`."""
LOOKED_AT = ("GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG", "HOME", "NO_GCE_CHECK")


def google_name(voice: str) -> str:
    """Google's name of one of our voices."""
    return WAVENET[voice][0]


def lack(voice: str) -> HearsightError | None:
    """Return why Google cannot be asked for this voice, or None where there are credentials; nothing is asked of the service."""
    why = _lack(tuple(os.environ.get(name, "") for name in LOOKED_AT))
    return why and HearsightError(f"the voice '{voice}' cannot be asked: {why.what}", where="voices", hint=why.hint)


@lru_cache(maxsize=1)
def _lack(environment: tuple[str, ...]) -> HearsightError | None:
    # Off Google's own machines the search for a machine's account takes seconds, so its result is kept.
    try:
        import_module("components.google.credentials").find_credentials()
    except HearsightError as error:
        return error
    return None
