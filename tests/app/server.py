"""A running application on loopback, for tests, and requests to it without a browser."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from unittest.mock import patch

import httpx
from fastapi import FastAPI
from playwright.sync_api import Page

from components.app import serve
from components.app.serve import new_server, open_socket
from components.app.settings import AppSettings
from tests.support import until

SECRET = "a key of tests with more than 32 characters"  # pragma: allowlist secret
TOKEN = "a token of tests"  # pragma: allowlist secret
OWNER = {"authorization": f"Bearer {TOKEN}"}
"""The header by which programs are the owner."""


def settings_of(root: Path, **changes: object) -> AppSettings:
    """The settings of a local application whose project is ``root``."""
    values: dict[str, object] = {"database": f"sqlite:///{root / 'ratings.sqlite'}", "secret": SECRET, "token": TOKEN}
    return AppSettings(root, **(values | changes))  # type: ignore[arg-type]


def csrf_of(page: httpx.Response) -> str:
    """Return the token that the forms of a page send."""
    found = re.search(r'name="csrf" value="([^"]+)"', page.text)
    assert found
    return found[1]


@dataclass(frozen=True)
class Running:
    """A running application."""

    url: str
    app: FastAPI

    @property
    def start_link(self) -> str:
        """The link that logs the owner in."""
        return f"{self.url}/login?token={TOKEN}"

    def show(self, page: Page, path: str = "/") -> None:
        """Open a page as its owner."""
        page.goto(self.start_link)
        page.goto(self.url + path, wait_until="networkidle" if path.startswith("/files/") else "load")


@contextmanager
def running(settings: AppSettings, *, limited: bool = False) -> Iterator[Running]:
    """Serve an application on a free port of loopback until the block ends.

    Args:
        limited: limit the requests a minute; on a fast machine a module's tests ask more than a person may.
    """
    with patch.object(serve, "LIMITS", serve.LIMITS if limited else {}):
        app, listening = serve.create_app(settings), open_socket("127.0.0.1", 0)
    app.state.server = server = new_server(app, settings)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    until(lambda: server.started)
    try:
        yield Running(f"http://127.0.0.1:{listening.getsockname()[1]}", app)
    finally:
        server.should_exit = True
        thread.join()
        listening.close()
