"""``python -m flows.prefect_app [--temporary] PORT``: Prefect's server on loopback, for this machine's own clients and pages.

Prefect checks the login of a request (``PREFECT_SERVER_API_AUTH_STRING``), but not the Host and Origin headers: without these
checks, a page of another site that points its own name to 127.0.0.1 could talk to the server (DNS rebinding).

A server that is not temporary is the project's: it runs in the background and ends when no process uses it any more.
"""

from __future__ import annotations

import fcntl
import os
import socket
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from components.execution.background import detach
from flows.server import LOOPBACK, USERS
from flows.settings import ADDRESS

HOSTS = (LOOPBACK, "localhost", "[::1]")


class SameOrigin:
    """Refuses requests of pages of other origins: a browser names a page's origin, other clients name none."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request or websocket."""
        if scope["type"] in ("http", "websocket"):
            headers = Headers(scope=scope)
            origin = headers.get("origin")
            if origin is not None and urlsplit(origin).netloc != headers.get("host"):
                if scope["type"] == "http":
                    await PlainTextResponse("This server answers its own pages only.", 403)(scope, receive, send)
                else:
                    await send({"type": "websocket.close", "code": 1008})
                return
        await self.app(scope, receive, send)


def guarded(app: Any) -> ASGIApp:
    """Return the application behind checks of the Host and Origin headers."""
    return TrustedHostMiddleware(SameOrigin(app), allowed_hosts=HOSTS, www_redirect=False)


def end_unused(server: uvicorn.Server) -> None:
    """End the server when no process has the shared lock of its users; further users wait for the end of this process."""
    with USERS.open("a") as users:
        while not server.should_exit:
            time.sleep(1)
            with suppress(BlockingIOError):
                fcntl.flock(users, fcntl.LOCK_EX | fcntl.LOCK_NB)
                server.should_exit = True
        threading.Event().wait()


def main(arguments: Sequence[str]) -> int:
    """Serve, in the project's folder, until a signal; the project's server also until it is used no more."""
    temporary, port = "--temporary" in arguments, int(arguments[-1])
    with socket.create_server((LOOPBACK, port)) as listener, ADDRESS.open("a+", encoding="utf-8") as address:
        if not temporary:
            fcntl.flock(address, fcntl.LOCK_EX | fcntl.LOCK_NB)
            address.truncate(0)
            address.write(f"http://{LOOPBACK}:{port}/api")
            address.flush()
            detach()
        # Else the pages ask the default port; a path is right for each of the names of this machine.
        os.environ["PREFECT_SERVER_UI_API_URL"] = "/api"
        os.environ.setdefault("PREFECT_SERVER_UI_SHOW_PROMOTIONAL_CONTENT", "false")
        # Here: starts with the settings of the environment, and takes seconds.
        from prefect.server.api.server import create_app

        app = guarded(create_app(final=True, ephemeral=temporary))
        config = uvicorn.Config(app, timeout_keep_alive=5, timeout_graceful_shutdown=5, log_level="warning")
        server = uvicorn.Server(config)
        if not temporary:
            threading.Thread(target=end_unused, args=(server,), daemon=True).start()
        server.run(sockets=[listener])
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
