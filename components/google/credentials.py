"""Who asks Google: an API key, or application default credentials. From the environment alone, never from a file of ours.

``GOOGLE_API_KEY`` is enough for every service. Without it, ``google-auth`` finds what ``GOOGLE_APPLICATION_CREDENTIALS``,
``gcloud auth application-default login`` or the machine's own account give. Either way the key or token travels in a
header, so no log of addresses holds it.
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
    """The credentials that the environment gives (``google.auth.credentials.Credentials``).

    Raises:
        HearsightError: there are none, or nothing to use them with; names what fixes it.
    """
    key = os.environ.get(KEY, "").strip()
    if not (key.isascii() and key.isprintable() and " " not in key):
        raise HearsightError(f"{KEY} is no key: it holds a blank or a strange character", where=WHERE, hint="copy it again")
    if not _installed():
        what = "Google's client libraries are not installed"
        raise HearsightError(what, where=WHERE, hint="run `pip install 'hearsight[google]'`")
    # Imported here: an extra that only users of Google install.
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
        raise HearsightError(f"there are no credentials ({why})", where=WHERE, hint=hint) from None
    except Exception as error:  # of a file that is a folder, or no object, google-auth raises errors of other kinds
        why = " ".join(str(error).split())[:160]
        hint = "correct GOOGLE_APPLICATION_CREDENTIALS"
        raise HearsightError(f"the credentials cannot be read ({why})", where=WHERE, hint=hint) from None


def _installed() -> bool:
    try:
        found = (
            find_spec("google.cloud.language_v1"),
            find_spec("google.cloud.vision_v1"),
            find_spec("google.cloud.texttospeech_v1"),
        )
    except ImportError:
        return False
    return None not in found
