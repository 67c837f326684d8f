"""A server that sends exactly the bytes it is told to, however wrong they are: for tests of hostile answers."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Callable, Iterable, Mapping

Script = Callable[[int], Iterable[bytes]]
"""From how often the path was asked for before (0: never) to the pieces to send; None among them resets the connection."""


class RawWeb:
    """Path → :data:`Script`, on loopback, as a context manager. A connection is closed after its answer."""

    def __init__(self, paths: Mapping[str, Script]) -> None:
        self.paths = dict(paths)
        self.asked: list[str] = []
        self.sent: dict[str, int] = {}
        """Bytes of each path that the system took."""
        self._stop = threading.Event()

    def __enter__(self) -> RawWeb:
        self._socket = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join(5)

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def _serve(self) -> None:
        while not self._stop.is_set():
            try:
                client, _ = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._answer, args=(client,), daemon=True).start()

    def _answer(self, client: socket.socket) -> None:
        with client:
            client.settimeout(10)
            # Small buffers, so that what the client leaves unread is soon not sent.
            client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 32_768)
            try:
                request = b""
                while b"\r\n\r\n" not in request:
                    piece = client.recv(65536)
                    if not piece:
                        return
                    request += piece
                path = request.split(b" ")[1].decode()
                before = self.asked.count(path)
                self.asked.append(path)
                script = self.paths.get(path, lambda _: [head(404, "text/plain", 0)])
                for part in script(before):
                    if self._stop.is_set():
                        return
                    if part is None:
                        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                        return
                    client.sendall(part)
                    self.sent[path] = self.sent.get(path, 0) + len(part)
            except OSError:
                return


def head(status: int, kind: str, length: int | None, *more: str) -> bytes:
    """A response's head; ``length`` None leaves Content-Length out, so that the body ends with the connection."""
    lines = [f"HTTP/1.1 {status} Told", f"Content-Type: {kind}", "Connection: close", *more]
    if length is not None:
        lines.append(f"Content-Length: {length}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode()


def plain(body: bytes, kind: str = "image/jpeg", status: int = 200) -> Script:
    """A sound answer."""
    return lambda _: [head(status, kind, len(body)), body]
