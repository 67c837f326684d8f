"""Settings of Prefect, which it reads on import, and the address of the project's server. Does not import Prefect."""

from __future__ import annotations

import fcntl
import os
import secrets
from pathlib import Path

from components.core.files import read_private

PORTS = {"app": 8010, "mlflow": 5000, "prefect": 4200}
"""Option → default port of ``python -m flows.ui`` on loopback."""

ADDRESS = Path(".hearsight/prefect-server")
"""Below the project's root: the API's URL of the project's server, which locks the file while it runs."""
NO_ORIGIN = "https://nobody.invalid"
"""The only other origin whose pages may read Prefect's answers. Prefect's default is ``*``; an empty value means its default."""


def configure_prefect(root: Path) -> bool:
    """Set Prefect's environment: no telemetry, and without a configured server the database of the project's own.

    Existing variables and the user's Prefect profile take precedence. Every server that this process or its children start asks
    for the project's login.

    Returns:
        Whether the project's own server is used.
    """
    os.environ.setdefault("DVC_NO_ANALYTICS", "1")
    os.environ.setdefault("DO_NOT_TRACK", "1")
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    os.environ.setdefault("PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW", "ignore")
    os.environ.setdefault("PREFECT_SERVER_DATABASE_TIMEOUT", "60")  # seconds that SQLite waits for another writer; 10 by default
    if "PREFECT_API_URL" in os.environ or (Path.home() / ".prefect" / "profiles.toml").is_file():
        return False
    home = root / ".hearsight" / "prefect"
    home.mkdir(parents=True, exist_ok=True)  # without its folder the server does not start
    os.environ.setdefault("PREFECT_HOME", str(home))
    set_login(root)
    return True


def set_login(root: Path) -> None:
    """Set the login that servers ask for and clients send, and let no other origin read answers; for our own servers only."""
    login = read_login(root)
    os.environ["PREFECT_SERVER_API_AUTH_STRING"] = os.environ["PREFECT_API_AUTH_STRING"] = login
    os.environ["PREFECT_SERVER_CORS_ALLOWED_ORIGINS"] = NO_ORIGIN


def login_path(root: Path) -> Path:
    """Return the file with the login of the project's Prefect server: ``hearsight:`` and random characters."""
    return root / ".hearsight" / "prefect-login"


def read_login(root: Path) -> str:
    """Return the login of the project's Prefect server; the first call writes it to a file that only its owner can read."""
    return read_private(login_path(root), lambda: f"hearsight:{secrets.token_urlsafe(32)}")


def running_server(root: Path) -> str:
    """Return the API's URL of the project's server with pages; empty when none runs.

    Nothing is asked: the server locks the file with its address. So the login is sent to no other program that has its port.
    """
    try:
        with (root / ADDRESS).open(encoding="utf-8") as address:
            fcntl.flock(address, fcntl.LOCK_SH | fcntl.LOCK_NB)
            return ""
    except FileNotFoundError:
        return ""
    except BlockingIOError:
        return (root / ADDRESS).read_text(encoding="utf-8")
