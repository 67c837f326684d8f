"""Errors of Prefect and its server that a user can fix."""

from __future__ import annotations

import re
import threading
from contextvars import copy_context
from urllib.parse import urlsplit

import httpx
from pydantic import ValidationError

from components.core.errors import HearsightError
from components.core.files import explain_error

PATIENCE = 30.0
"""Seconds within which a configured server must answer."""
OF_PREFECT = re.compile(
    r"Found incompatible versions|Service exceeded error threshold|Timed out while attempting to connect to ephemeral"
    r"|No Prefect API URL provided"
)
"""Errors of Prefect that have no class of their own."""


def require_server() -> None:
    """Return when the configured Prefect server answers with a version that fits this client, or when none is configured.

    Raises:
        HearsightError: nothing answers within :data:`PATIENCE`, something that is no Prefect server does, or a login is missing.
    """
    # Here: Prefect reads its settings on import.
    from prefect.client.orchestration import get_client
    from prefect.settings import PREFECT_API_URL, PREFECT_CLIENT_MAX_RETRIES, temporary_settings

    if not PREFECT_API_URL.value():
        return
    errors: list[Exception] = [httpx.ReadTimeout("")]

    def ask() -> None:
        try:
            with temporary_settings({PREFECT_CLIENT_MAX_RETRIES: 0}), get_client(sync_client=True) as client:
                client.raise_for_api_version_mismatch()
            errors.clear()
        except Exception as error:
            errors[:] = [error]

    # In a thread, since a server that sends a byte now and then stays within the client's time limits.
    asking = threading.Thread(target=copy_context().run, args=(ask,), daemon=True)
    asking.start()
    asking.join(PATIENCE)
    if errors:
        raise explain(errors[0]) or explain(httpx.DecodingError("no version")) or errors[0]


def without_login(url: str) -> str:
    """Return a URL without user and password: links are printed, shown on a page, and visible in the list of processes."""
    parts = urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def explain(error: BaseException) -> HearsightError | None:
    """Return what the user can fix; None for a defect."""
    if isinstance(error, BaseExceptionGroup):
        return next(filter(None, map(explain, error.exceptions)), None)
    if isinstance(error, ValidationError) and error.title == "Settings":
        what = f"Prefect cannot use its settings ({error.errors()[0]['msg']})"
        return HearsightError(what, where="PREFECT_* in the environment or Prefect's profile", hint="correct them")
    reached = not str(error).startswith("Failed to reach API")
    cause = error if reached else error.__cause__
    status = cause.response.status_code if isinstance(cause, httpx.HTTPStatusError) else 0
    if status in (401, 403):
        what, hint = "asks for a login", "set PREFECT_API_AUTH_STRING to its user:password, or PREFECT_API_KEY"
    elif isinstance(cause, httpx.TransportError) and not isinstance(cause, httpx.UnsupportedProtocol):
        what = f"Prefect's server does not answer ({type(cause).__name__})"
        hint = "start it and repeat the command: finished stages are not run again; or unset PREFECT_API_URL"
    elif not reached or isinstance(cause, httpx.HTTPError | httpx.InvalidURL):
        what = f"is no Prefect server ({f'status {status}' if status else type(cause).__name__})"
        hint = "correct PREFECT_API_URL, which ends in /api, or unset it"
    elif OF_PREFECT.match(str(error)):
        what, hint = str(error), "see the log of Prefect's server"
    else:
        return explain_error(error)
    # Here: as above, and these errors come from Prefect alone.
    from prefect.settings import PREFECT_API_URL

    return HearsightError(what, where=without_login(PREFECT_API_URL.value() or "a temporary Prefect server"), hint=hint)
