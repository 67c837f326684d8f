"""The services of Google Cloud that are used: their addresses, and their client libraries of the extra ``google``."""

from __future__ import annotations

import os
from pkgutil import resolve_name
from typing import Any

from components.core.errors import HearsightError
from components.google.credentials import WHERE, find_credentials

ADDRESSES = {
    "language": ("GOOGLE_LANGUAGE_ENDPOINT", "https://language.googleapis.com"),
    "vision": ("GOOGLE_VISION_ENDPOINT", "https://vision.googleapis.com"),
    "texttospeech": ("GOOGLE_TEXTTOSPEECH_ENDPOINT", "https://texttospeech.googleapis.com"),
}
"""Service → the environment variable that overrides its address, and the default address."""
LIBRARIES = {
    "language": "google.cloud.language_v1:LanguageServiceClient",
    "vision": "google.cloud.vision_v1:ImageAnnotatorClient",
    "texttospeech": "google.cloud.texttospeech_v1:TextToSpeechClient",
}
"""Service → its client class in the extra ``google``."""


def service_address(service: str) -> str:
    """Return the address of a service.

    Raises:
        HearsightError: the environment names an address that would send the key unencrypted.
    """
    variable, default = ADDRESSES[service]
    url = (os.environ.get(variable) or default).rstrip("/")
    scheme, _, rest = url.partition("://")
    host = rest.partition("/")[0].rpartition(":")[0] or rest.partition("/")[0]
    if scheme != "https" and not (scheme == "http" and host in ("127.0.0.1", "localhost", "[::1]")):
        raise HearsightError(f"{variable} is '{url}'", where=WHERE, hint="use an https address, or http on loopback")
    return url


def open_library(service: str, connections: int) -> Any:
    """Return the client of a service's library, safe in threads, with the credentials of the environment.

    Raises:
        HearsightError: no credentials, the library is not installed, or as :func:`service_address`.
    """
    url = service_address(service)
    credentials = find_credentials()
    # Imported on use: takes 0.5 s, and is an optional extra.
    library = resolve_name(LIBRARIES[service])
    opened = library(credentials=credentials, transport="rest", client_options={"api_endpoint": url})
    session = opened.transport._session  # no public accessor; tests cover its effects
    session.max_redirects = 0  # a redirect would send the key to another address
    session.trust_env = url.startswith("https:")  # no proxy for loopback
    for adapter in session.adapters.values():
        adapter.init_poolmanager(1, connections)  # one connection per thread
    return opened
