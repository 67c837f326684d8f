"""Prefect's settings, put in place before Prefect is imported."""

from __future__ import annotations

import os
from pathlib import Path

PORTS = {"mlflow": 5000, "prefect": 4200, "pages": 8010}
"""Ports of loopback that ``python -m flows.ui`` listens on, by the option that changes each."""


def configure_prefect(root: Path) -> None:
    """No telemetry; and with no server at hand, one of the run's own whose data lie in the project.

    What the environment or the user's own Prefect profile says is left as it is.
    """
    os.environ.setdefault("DVC_NO_ANALYTICS", "1")
    os.environ.setdefault("DO_NOT_TRACK", "1")
    os.environ.setdefault("PREFECT_SERVER_ANALYTICS_ENABLED", "false")
    os.environ.setdefault("PREFECT_LOGGING_TO_API_WHEN_MISSING_FLOW", "ignore")
    if "PREFECT_API_URL" in os.environ or (Path.home() / ".prefect" / "profiles.toml").is_file():
        return
    home = root / ".hearsight" / "prefect"
    home.mkdir(parents=True, exist_ok=True)  # the server fails to start, again and again, where its folder is missing
    os.environ.setdefault("PREFECT_HOME", str(home))
    os.environ.setdefault("PREFECT_SERVER_ALLOW_EPHEMERAL_MODE", "true")
    os.environ.setdefault("PREFECT_SERVER_EPHEMERAL_STARTUP_TIMEOUT_SECONDS", "180")
