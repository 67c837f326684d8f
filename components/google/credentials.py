"""Who asks Google: an API key, or application default credentials. From the environment alone, never from a file of ours.

``GOOGLE_API_KEY`` is enough for every service. Without it, ``google-auth`` (the extra ``google``) finds what
``GOOGLE_APPLICATION_CREDENTIALS``, ``gcloud auth application-default login`` or the machine's own account give.
"""

from __future__ import annotations

import os
from typing import Any

from components.core.errors import HearsightError

KEY = "GOOGLE_API_KEY"
SCOPE = "https://www.googleapis.com/auth/cloud-platform"
WHERE = "providers: google"


class Credentials:
    """What goes into the header of each request. It is in no URL, so no log holds it."""

    def __init__(self, key: str, adc: Any = None) -> None:
        self._key, self._adc = key, adc

    def headers(self) -> dict[str, str]:
        """The header that says who asks; a token that ran out is renewed first.

        Raises:
            HearsightError: the token cannot be renewed.
        """
        if self._key:
            return {"x-goog-api-key": self._key}
        from google.auth.exceptions import GoogleAuthError
        from google.auth.transport.requests import Request

        headers: dict[str, str] = {}
        try:
            if not self._adc.valid:
                self._adc.refresh(Request())
            self._adc.apply(headers)
        except GoogleAuthError as error:
            raise HearsightError(
                f"Google gave no token ({_line(error)})", where=WHERE, hint="run `gcloud auth application-default login` again"
            ) from None
        return headers


def find_credentials() -> Credentials:
    """The credentials that the environment gives.

    Raises:
        HearsightError: there are none; names the variable or the command that fixes it.
    """
    key = os.environ.get(KEY, "").strip()
    if key:
        if not (key.isascii() and key.isprintable() and " " not in key):
            raise HearsightError(f"{KEY} is no key: it holds a blank or a strange character", where=WHERE, hint="copy it again")
        return Credentials(key)
    try:
        import google.auth
        from google.auth.exceptions import DefaultCredentialsError
    except ImportError:
        raise HearsightError(
            f"{KEY} is not set and google-auth is not installed",
            where=WHERE,
            hint=f"set {KEY}, or `pip install 'hearsight[google]'` and `gcloud auth application-default login`",
        ) from None
    try:
        adc, _ = google.auth.default(scopes=[SCOPE])
    except DefaultCredentialsError as error:
        raise HearsightError(
            f"there are no credentials ({_line(error)})",
            where=WHERE,
            hint=f"set {KEY}, or run `gcloud auth application-default login`, or let GOOGLE_APPLICATION_CREDENTIALS name a file",
        ) from None
    return Credentials("", adc)


def _line(error: Exception) -> str:
    return " ".join(str(error).split()).split(". ")[0][:160]
