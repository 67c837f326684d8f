"""Settings of Prefect, which it reads on import."""

from __future__ import annotations

import os
from pathlib import Path

PORTS = {"app": 8010, "mlflow": 5000, "prefect": 4200}
"""Option → default port of ``python -m flows.ui`` on loopback."""


def configure_prefect(root: Path) -> None:
    """Set Prefect's environment: no telemetry, and without a configured server a temporary one with its data in the project.

    Existing variables and the user's Prefect profile take precedence.
    """
    os.environ.setdefault("DVC_NO_ANALYTICS", "1")
    os.environ.setdefault("DO_NOT_TRACK", "1")
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    os.environ.setdefault("PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW", "ignore")
    if "PREFECT_API_URL" in os.environ or (Path.home() / ".prefect" / "profiles.toml").is_file():
        return
    home = root / ".hearsight" / "prefect"
    home.mkdir(parents=True, exist_ok=True)  # without its folder the server does not start
    os.environ.setdefault("PREFECT_HOME", str(home))
    os.environ.setdefault("PREFECT_SERVER_ALLOW_EPHEMERAL_MODE", "true")
    os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "180")
