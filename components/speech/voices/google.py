"""Google's American English WaveNet voices: their names, and whether credentials for them are available.

Source of names and sexes: Google's list of supported voices. In 2019, when the paper drew from six voices (CSC §2.2), there
were A to F, three of each sex. ``paid.py`` speaks with them.
"""

from __future__ import annotations

import os
from functools import lru_cache
from importlib import import_module

from components.core.errors import HearsightError

SEXES = {"A": "M", "B": "M", "C": "F", "D": "M", "E": "F", "F": "F", "G": "F", "H": "F", "I": "M", "J": "M"}
WAVENET = {f"google-wavenet-{letter.lower()}": (f"en-US-Wavenet-{letter}", sex) for letter, sex in SEXES.items()}
"""Name in the catalogue → Google's name, and F or M."""
ENGINE = "google"
LICENCE = "LicenseRef-Google-Cloud-Terms-of-Service"
INSTALL = "gcloud auth application-default login"
"""The command that creates credentials; :func:`lack` names the environment variable that replaces it."""
VARIABLES = ("GOOGLE_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS", "CLOUDSDK_CONFIG", "HOME", "NO_GCE_CHECK")


def google_name(voice: str) -> str:
    """Return Google's name of a voice of the catalogue."""
    return WAVENET[voice][0]


def lack(voice: str) -> HearsightError | None:
    """Return the error for missing credentials, or None where there are some. Sends no request to the service."""
    why = _lack(tuple(os.environ.get(name, "") for name in VARIABLES))
    return why and HearsightError(f"the voice '{voice}' is not available: {why.what}", where="voices", hint=why.hint)


@lru_cache(maxsize=1)
def _lack(environment: tuple[str, ...]) -> HearsightError | None:
    # Outside Google's cloud the search for a machine's account takes seconds, so the result is cached.
    try:
        import_module("components.google.credentials").find_credentials()
    except HearsightError as error:
        return error
    return None
