"""Servers on loopback in processes of their own, so that they can be killed, and a TCP proxy that cuts their connections."""

from __future__ import annotations

import os
import signal
import socket
import struct
import threading
import time
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from components.execution.process import die_with_parent
from tests.faults.moments import Counters

RESET = struct.pack("ii", 1, 0)
"""Linger of 0 s: closing sends a reset."""


@dataclass
class Served:
    """A server: start it, kill it, start it again on the same port."""

    start: Callable[[int], int]
    """Starts serving on a port, 0 for a free one, in threads; returns the port."""
    port: int = 0
    pid: int = 0

    def run(self) -> None:
        """Fork a process that serves."""
        reader, writer = os.pipe()
        parent = os.getpid()
        self.pid = os.fork()
        if not self.pid:
            try:
                die_with_parent(parent)
                signal.signal(signal.SIGTERM, signal.SIG_DFL)
                os.close(reader)
                os.write(writer, str(self.start(self.port)).encode())
                os.close(writer)
                while True:
                    signal.pause()
            except BaseException:
                traceback.print_exc()
            os._exit(1)
        os.close(writer)
        with os.fdopen(reader) as pipe:
            self.port = int(pipe.read())

    def kill(self) -> None:
        """Kill the process, if it runs; also in a fork of the process that started it, which reaps it later."""
        if self.pid:
            try:
                os.kill(self.pid, signal.SIGKILL)
                os.waitpid(self.pid, 0)
            except (ProcessLookupError, ChildProcessError):
                pass
            self.pid = 0

    @property
    def alive(self) -> bool:
        """Whether it runs."""
        try:
            return bool(self.pid) and os.waitpid(self.pid, os.WNOHANG)[0] == 0
        except ChildProcessError:
            return False

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


def serve_folder(folder: Path) -> Served:
    """Return a web of virtual hosts, one a folder, that answers as a proxy."""

    def start(port: int) -> int:
        from components.sample.serving import SampleWeb, folder_sites

        web = SampleWeb(hosts=folder_sites(folder), port=port)
        web.__enter__()
        return int(web.proxy.rpartition(":")[2])

    return Served(start)


def serve_s3(fill: Callable[[str], None]) -> Served:
    """Return an S3 server in memory; ``fill`` gets its URL and writes what it holds, at each start."""

    def start(port: int) -> int:
        from moto.server import ThreadedMotoServer

        server = ThreadedMotoServer(ip_address="127.0.0.1", port=port, verbose=False)
        server.start()
        host, bound = server.get_host_and_port()
        fill(f"http://{host}:{bound}")
        return int(bound)

    return Served(start)


@dataclass
class Cut:
    """Connections through a proxy that are cut once so many bytes have passed in all."""

    mode: str
    """``reset``, ``close``, ``stall`` (nothing more passes, and nothing ends), or ``kill``: the server itself."""
    after: int
    """Bytes in both directions."""
    times: int = 1
    """Connections that are cut from then on."""
    kill_with: signal.Signals = signal.SIGKILL
    """What the server gets, with ``kill``."""
    counters: Counters = field(default_factory=Counters)
    _pid: int = 0

    @property
    def struck(self) -> bool:
        return self.counters.get(1) > 0

    def proxy(self, target: Served) -> Served:
        """Return a server that passes connections on to ``target``."""

        def start(port: int) -> int:
            listener, self._pid = socket.create_server(("127.0.0.1", port)), target.pid
            threading.Thread(target=self._accept, args=(listener, target.port), daemon=True).start()
            return int(listener.getsockname()[1])

        return Served(start)

    def _accept(self, listener: socket.socket, port: int) -> None:
        while True:
            client, _ = listener.accept()
            try:
                server = socket.create_connection(("127.0.0.1", port))
            except OSError:
                client.close()
                continue
            for pair in ((client, server), (server, client)):
                threading.Thread(target=self._pump, args=pair, daemon=True).start()

    def _pump(self, source: socket.socket, target: socket.socket) -> None:
        try:
            while data := source.recv(4096):
                passed = self.counters.get(0) + len(data)
                self.counters.set(0, passed)
                if passed >= self.after and self.counters.get(1) < self.times:
                    self.counters.add(1)
                    return self._cut(source, target)
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def _cut(self, *ends: socket.socket) -> None:
        if self.mode == "stall":
            time.sleep(3600)
        if self.mode == "kill":
            os.kill(self._pid, self.kill_with)
        for end in ends:
            if self.mode == "reset":
                end.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, RESET)
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
            end.close()
