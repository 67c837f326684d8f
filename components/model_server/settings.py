"""Settings of the model server: ``params.yaml: server``."""

from __future__ import annotations

import ipaddress
from pathlib import Path
from urllib.parse import urlsplit

from components.core.errors import HearsightError
from components.core.params import NotNegative, Positive, Settings, project_settings

USAGE = "server"
"""Folder of a run's scratch for counts of requests."""


class ServerPrices(Settings):
    """US dollars for a million tokens; a server of one's own costs nothing."""

    input: float = 0.0
    """Tokens that are sent, those of images included. Ours."""
    output: float = 0.0
    """Tokens of answers. Ours."""


class ServerParams(Settings):
    """``params.yaml: server``."""

    address: str = "http://127.0.0.1:11434/v1"
    """Base address of the interface. Ours: Ollama's."""
    allow_remote: bool = False
    """Whether texts and images may be sent to another machine. Ours."""
    vision: str = ""
    """Name of the model that sees images, as the server has it; ``hypernymize.rewriter`` names one for texts. Ours."""
    prompts: str = ""
    """A folder below the project's root with prompts of your own, by the same names; empty for ours. Ours."""
    at_once: Positive = 2
    """Requests of one process at a time. Ours."""
    timeout: float = 120.0
    """Seconds of silence after which a request is made again. Ours."""
    retries: NotNegative = 4
    """How often a request is made again. Ours."""
    most_tokens: Positive = 400
    """Tokens of an answer, at most. Ours."""
    budget: float = 0.0
    """US dollars that one run may cost, by ``prices``; 0 sets no bound. Ours."""
    prices: ServerPrices = ServerPrices()
    """What tokens cost."""

    def check(self, where: str) -> None:
        """Require an address that may be used, and prices where there is a budget."""
        try:
            parts = urlsplit(self.address)
            valid = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
        except ValueError:
            valid = False
        if not valid:
            raise HearsightError(f"'{self.address}' is no address", where=f"{where}.address", hint="write http://HOST:PORT/v1")
        if not self.allow_remote and not self.is_local:
            what = f"{parts.hostname} is another machine: texts and images would leave this one"
            raise HearsightError(what, where=f"{where}.address", hint="set allow_remote: true if they may")
        if min(self.timeout, self.budget, self.prices.input, self.prices.output) < 0 or not self.timeout:
            raise HearsightError("has a number below 0, or no timeout", where=where, hint="write positive numbers")
        if self.budget and not (self.prices.input or self.prices.output):
            hint = "write what a million tokens cost, by the server's price list"
            raise HearsightError("a budget needs prices", where=f"{where}.prices", hint=hint)

    @property
    def is_local(self) -> bool:
        """Whether the address is of this machine."""
        host = urlsplit(self.address).hostname or ""
        try:
            return ipaddress.ip_address(host).is_loopback
        except ValueError:
            return host == "localhost"

    @property
    def place(self) -> str:
        """Where texts and images go, for people; empty if they stay on this machine."""
        return "" if self.is_local else str(urlsplit(self.address).hostname)

    def price(self, sent: int, answered: int) -> float:
        """Return the US dollars of tokens."""
        return (sent * self.prices.input + answered * self.prices.output) / 1e6


def server_params(root: Path) -> ServerParams:
    """Return ``params.yaml: server``, defaults included; raise HearsightError if it is invalid."""
    return project_settings(ServerParams, root, "server")
