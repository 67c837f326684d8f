"""Run the application until Ctrl-C."""

from __future__ import annotations

import socket

import uvicorn

from components.app.factory import create_app
from components.app.settings import AppSettings
from components.core.errors import HearsightError


def open_socket(host: str, port: int) -> socket.socket:
    """Return a listening socket, so that a taken port is found before anything is loaded; port 0 takes a free one.

    Raises:
        HearsightError: the address cannot be used.
    """
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        listening = socket.socket(family, socket.SOCK_STREAM)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind((host, port))
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise HearsightError(f"port {port}: {reason}", where=host, hint="choose another with --port") from None
    return listening


def serve(settings: AppSettings, listening: socket.socket) -> None:
    """Serve until Ctrl-C or SIGTERM; requests in flight are answered first."""
    config = uvicorn.Config(
        create_app(settings), log_level="warning", access_log=False, proxy_headers=settings.https, timeout_graceful_shutdown=10
    )
    uvicorn.Server(config).run(sockets=[listening])
