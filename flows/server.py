"""Prefect's server: errors of it that a user can fix, the project's own server on loopback, and servers that end with a block."""

from __future__ import annotations

import atexit
import fcntl
import os
import re
import socket
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from contextvars import copy_context
from pathlib import Path
from urllib.parse import urlsplit

import httpx
from pydantic import ValidationError

from components.core.errors import HearsightError
from components.core.files import PRIVATE, explain_error, keep_private
from components.execution import background
from flows.settings import configure_prefect, running_server, set_login

ANSWER = 30.0
"""Seconds within which a configured server must answer."""
OF_PREFECT = re.compile(
    r"Found incompatible versions|Service exceeded error threshold|Timed out while attempting to connect to ephemeral"
    r"|No Prefect API URL provided"
)
"""Errors of Prefect that have no class of their own."""


def require_server() -> None:
    """Return when the configured Prefect server answers with a version that fits this client, or when none is configured.

    Raises:
        HearsightError: nothing answers within :data:`ANSWER`, something that is no Prefect server does, or a login is missing.
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
    asking.join(ANSWER)
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


PATIENCE = 180.0
"""Seconds within which a server must answer; Prefect's first creates its database."""
LOOPBACK = "127.0.0.1"
USERS = Path(".hearsight/locks/prefect-users.lock")
"""Below the project's root: the file that every process locks that uses the project's server."""


def reach_server(root: Path) -> None:
    """Have flows of this process report to the configured server, else to one with the project's database until the process ends.

    Raises:
        HearsightError: as :func:`prefect_server`.
    """
    if configure_prefect(root):
        stack = ExitStack()
        atexit.register(stack.close)  # before Prefect's own, which runs first then and sends what the server has not got yet
        use_server(stack.enter_context(prefect_server(root)))
    else:
        require_server()


@contextmanager
def prefect_server(root: Path, port: int = 0) -> Iterator[str]:
    """Yield the URL of Prefect's API: ``PREFECT_API_URL``, or a server on loopback that asks for the project's login.

    A project has one server with pages and schedules. If it runs it is used, whoever started it. It ends soon after the last
    process that uses it.

    Args:
        port: port of the server with pages if it has to be started; 0: a server for this block alone is enough, on a free port.

    Raises:
        HearsightError: the server did not start, or the configured one does not answer.
    """
    if configured := os.environ.get("PREFECT_API_URL"):
        require_server()
        yield configured
        return
    set_login(root)
    (root / USERS).parent.mkdir(parents=True, exist_ok=True)
    with ExitStack() as stack:
        users = stack.enter_context((root / USERS).open("a"))
        fcntl.flock(users, fcntl.LOCK_SH)  # waits while an unused server ends
        url = running_server(root)
        if url and port:
            print(f"Prefect's server of this project runs already and is used: {url.removesuffix('/api')}", flush=True)
        if not url:
            url = _start(root, port) if port else stack.enter_context(_temporary(root))
        yield url


def use_server(url: str) -> None:
    """Have this process and its children talk to a server of the project, with the API ``url``, and name its pages' addresses."""
    os.environ["PREFECT_API_URL"] = url
    os.environ["PREFECT_UI_URL"] = url.removesuffix("/api") + "/v2"  # the other pages show an error before the login
    if "prefect" in sys.modules:  # it has read its settings, maybe for its copy of croniter alone
        # Here: Prefect reads its settings on import.
        from prefect.context import refresh_global_settings_context

        refresh_global_settings_context()


def _start(root: Path, port: int) -> str:
    """Start the project's server, unless another process does so at this moment; return its URL when it answers."""
    _refuse_taken("prefect", f"{LOOPBACK}:{port}")
    log = _new_log("prefect", root)
    with suppress(OSError, subprocess.SubprocessError):  # the log says why
        background.start("flows.prefect_app", [str(port)], folder=root, log=log, environment={})
    url = running_server(root)
    _wait("prefect", f"{url}/health", log, lambda: bool(running_server(root)))
    return url


@contextmanager
def _temporary(root: Path) -> Iterator[str]:
    with socket.socket() as free:
        free.bind((LOOPBACK, 0))
        port = free.getsockname()[1]
    url = f"http://{LOOPBACK}:{port}/api"
    with run_server("prefect", [sys.executable, "-m", "flows.prefect_app", "--temporary", str(port)], f"{url}/health", root):
        yield url


@contextmanager
def run_server(name: str, command: Sequence[str], health: str, root: Path) -> Iterator[None]:
    """Run ``command`` in ``root`` until the block ends; the block starts when the URL ``health`` answers.

    Raises:
        HearsightError: the server did not start; its log is ``.hearsight/<name>-server.log``.
    """
    _refuse_taken(name, urlsplit(health).netloc)
    guarded = [sys.executable, "-m", "flows.guard", "1e9", str(os.getpid()), "--", *command]
    log = _new_log(name, root)
    with log.open("wb") as handle:
        process = subprocess.Popen(guarded, cwd=root, stdout=handle, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            _wait(name, health, log, lambda: process.poll() is None)
            yield
        finally:
            process.terminate()
            process.wait()


def _refuse_taken(name: str, address: str) -> None:
    host, _, port = address.rpartition(":")
    with suppress(OSError), socket.create_connection((host, int(port)), 5):
        raise HearsightError(f"something already listens at {address}", hint=f"end it, or choose another port for {name}")


def _new_log(name: str, root: Path) -> Path:
    log = root / ".hearsight" / f"{name}-server.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.touch(PRIVATE)
    keep_private(log)  # the application prints its token
    log.write_bytes(b"")
    return log


def _wait(name: str, health: str, log: Path, lives: Callable[[], bool]) -> None:
    deadline = time.monotonic() + PATIENCE
    while lives() and time.monotonic() < deadline:
        if _answers(health):
            return
        time.sleep(0.5)
    raise HearsightError(f"the {name} server did not start", where=log, hint="read that log; is the port in use?")


def _answers(url: str) -> bool:
    try:
        with urllib.request.urlopen(url, timeout=5):
            return True
    except urllib.error.HTTPError:
        return True
    except OSError:
        return False
