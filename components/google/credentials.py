"""Google credentials: an API key, or application default credentials. Read from the environment, never from a project file.

``GOOGLE_API_KEY`` works for every service. Without it, ``google-auth`` uses ``GOOGLE_APPLICATION_CREDENTIALS``,
``gcloud auth application-default login`` or the machine's account. The key or token is sent in a header, so that logs of
addresses do not contain it.
"""

from __future__ import annotations

import os
from importlib.util import find_spec
from typing import Any

from components.core.errors import HearsightError

KEY = "GOOGLE_API_KEY"
SCOPE = "https://www.googleapis.com/auth/cloud-platform"
WHERE = "providers: google"


def find_credentials() -> Any:
    """Return the credentials of the environment (``google.auth.credentials.Credentials``).

    Raises:
        HearsightError: no credentials, or the client libraries are not installed.
    """
    key = os.environ.get(KEY, "").strip()
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise HearsightError(f"{KEY} contains a blank or a non-ASCII character", where=WHERE, hint="copy the key again")
    if not _installed():
        what = "Google's client libraries are not installed"
        raise HearsightError(what, where=WHERE, hint="run `pip install --editable '.[google]'`")
    # Imported on use: an optional extra.
    import google.auth
    import google.auth.api_key
    from google.auth.exceptions import GoogleAuthError

    if key:
        return google.auth.api_key.Credentials(key)
    try:
        return google.auth.default(scopes=[SCOPE])[0]
    except GoogleAuthError as error:
        why = " ".join(str(error).split()).split(". ")[0][:160]
        hint = f"set {KEY}, or run `gcloud auth application-default login`, or let GOOGLE_APPLICATION_CREDENTIALS name a file"
        raise HearsightError(f"no Google credentials ({why})", where=WHERE, hint=hint) from None
    except Exception as error:  # of a file that is a folder, or no object, google-auth raises errors of other kinds
        why = " ".join(str(error).split())[:160]
        hint = "correct GOOGLE_APPLICATION_CREDENTIALS"
        raise HearsightError(f"the credentials cannot be read ({why})", where=WHERE, hint=hint) from None


def _installed() -> bool:
    try:
        return all(find_spec(f"google.cloud.{library}") for library in ("language_v1", "vision_v1", "texttospeech_v1"))
    except ImportError:
        return False
