"""``python -m flows.prefect_app [--temporary] PORT``: Prefect's server on loopback, for this machine's own clients and pages.

Prefect checks the login of a request (``PREFECT_SERVER_API_AUTH_STRING``), but not the Host and Origin headers: without these
checks, a page of another site that points its own name to 127.0.0.1 could talk to the server (DNS rebinding).
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlsplit

import uvicorn
from starlette.datastructures import Headers
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from flows.server import LOOPBACK

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


def main(arguments: Sequence[str]) -> int:
    """Serve until a signal."""
    # Else the pages ask the default port; a path is right for each of the names of this machine.
    os.environ["PREFECT_SERVER_UI_API_URL"] = "/api"
    # Here: starts with the settings of the environment, and takes seconds.
    from prefect.server.api.server import create_app

    app = create_app(final=True, ephemeral="--temporary" in arguments)
    uvicorn.run(guarded(app), host=LOOPBACK, port=int(arguments[-1]), timeout_keep_alive=5, log_level="warning")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
