"""Run the application until Ctrl-C."""

from __future__ import annotations

import socket
import sys

import uvicorn
from fastapi import FastAPI

from components.app.connections import BoundedConnection
from components.app.factory import create_app
from components.app.settings import AppSettings
from components.core.errors import HearsightError

SWITCH_SECONDS = 0.0005
"""How long a thread may keep others from running; with Python's 5 ms, many requests at once delay each other."""


def open_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket, so that a taken port is found before anything is loaded; port 0 takes a free one.

    Raises:
        HearsightError: the address cannot be used.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        # With the protocol named, asyncio sends small parts of answers at once (TCP_NODELAY); else each waits 40 ms.
        listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
        listening.listen(128)  # so that nobody is refused once the address is printed
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise HearsightError(f"port {port}: {reason}", where=host, hint="choose another with --port") from None
    return listening


def serve(settings: AppSettings, listening: socket.socket) -> None:
    """Serve until Ctrl-C or SIGTERM; requests in flight are answered first."""
    sys.setswitchinterval(SWITCH_SECONDS)
    new_server(create_app(settings), settings).run(sockets=[listening])


def new_server(app: FastAPI, settings: AppSettings) -> uvicorn.Server:
    """Return the server of an application."""
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=BoundedConnection,
            log_level="warning",
            access_log=False,
            proxy_headers=settings.https,
            timeout_graceful_shutdown=10,
        )
    )
