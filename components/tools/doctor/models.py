"""Checks of models from elsewhere: what is cached of the hub, and whether the model server that the settings name answers."""

from __future__ import annotations

import socket
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import urlsplit

from components.core.errors import HearsightError
from components.core.params import read_yaml
from components.hub.model import INSTALL as INSTALL_HUB
from components.hub.model import cached_models
from components.model_server.client import INSTALL as INSTALL_SERVER
from components.model_server.settings import server_params
from components.tools.doctor.finding import OK, WARNING, Finding
from components.vision.text_reader import INSTALL as INSTALL_READER
from components.vision.text_reader import reader_version

SECONDS = 4.0
"""How long the server may take to accept a connection."""


def hub(root: Path) -> list[Finding]:
    """List the hub's models on this machine."""
    if find_spec("transformers") is None:
        return [Finding(OK, "hub", f"not installed, and not needed by default ({INSTALL_HUB})")]
    models = cached_models()
    if not models:
        return [Finding(OK, "hub", "no model is cached: the first use of one downloads it")]
    return [Finding(OK, "hub", f"{name}: {size / 1e6:,.0f} MB, cached") for name, size in models]


def model_server(root: Path) -> list[Finding]:
    """Check the model server, if the settings name one."""
    if "server" not in read_yaml(root / "params.yaml"):
        return [Finding(OK, "model server", "none is named (docs/providers.md)")]
    if find_spec("openai") is None:
        return [Finding(WARNING, "model server", "its client is not installed", INSTALL_SERVER)]
    try:
        params = server_params(root)
    except HearsightError as error:
        return [Finding(WARNING, "model server", f"{error.where}: {error.what}", error.hint)]
    address = urlsplit(params.address)
    try:
        socket.create_connection(
            (address.hostname or "", address.port or {"https": 443}.get(address.scheme, 80)), timeout=SECONDS
        ).close()
    except OSError as error:
        problem = f"{params.address} does not answer ({error.strerror or error})"
        return [Finding(WARNING, "model server", problem, "start it, or correct server.address")]
    sent = f"; texts and images are sent to {params.place}" if params.place else ""
    return [Finding(OK, "model server", f"{params.address} answers{sent}")]


def text_reader(root: Path) -> list[Finding]:
    """Check what reads text in images."""
    reader = reader_version()
    return [Finding(OK, "text in images", reader or f"not read, and not needed by default ({INSTALL_READER})")]
