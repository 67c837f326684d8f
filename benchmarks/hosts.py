"""A crawl of many hosts with and without realistic faults: ``python -m benchmarks.hosts``.

A table of ``hosts`` × ``urls`` pictures, each host an address of 127.0.0.0/8 with a server on it. With faults, 10 % of the hosts
are dead (half refuse connections, half let them time out), 5 % are slow (a second an answer) and 5 % are broken (an answer in two
is a 500, a lost connection, half a picture or a page). Both crawls run in turns, each a stage of its own process with a new
project; the figure is the ratio of the medians of their time by the clock.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
DEAD, SLOW, BROKEN = 10, 5, 5
"""Of a hundred hosts."""
SLOW_SECONDS = 1.0


def kind_of(number: int, faults: bool) -> str:
    """What a host is like: good, refuses, hangs, slow or broken."""
    place = number % 100 if faults else 100
    if place < DEAD:
        return "refuses" if place % 2 else "hangs"
    return "slow" if place < DEAD + SLOW else "broken" if place < DEAD + SLOW + BROKEN else "good"


def address(number: int) -> str:
    """The address of a host."""
    return f"127.1.{number // 250}.{number % 250 + 1}"


def picture() -> bytes:
    """A small sound JPEG."""
    import io

    from PIL import Image

    buffer = io.BytesIO()
    Image.linear_gradient("L").resize((64, 48)).save(buffer, "JPEG")
    return buffer.getvalue()


class Server(asyncio.Protocol):
    """Answers GET requests of one host kind, and keeps the connection."""

    def __init__(self, kind: str, body: bytes) -> None:
        self._kind, self._body, self._buffer = kind, body, b""

    def connection_made(self, transport: Any) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        self._buffer += data
        while b"\r\n\r\n" in self._buffer:
            request, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
            path = request.split(b" ", 2)[1]
            delay = SLOW_SECONDS if self._kind == "slow" else 0.0
            if delay:
                asyncio.get_running_loop().call_later(delay, self._answer, path)
            else:
                self._answer(path)

    def _answer(self, path: bytes) -> None:
        if self._transport.is_closing():
            return
        status, kind, body = b"200 OK", b"image/jpeg", self._body + path
        number = int(path.strip(b"/").partition(b".")[0] or b"0") if path[1:2].isdigit() else 0
        if path == b"/robots.txt":
            status, kind, body = b"404 Not Found", b"text/plain", b""
        elif self._kind == "broken" and number % 2:
            fault = number // 2 % 4
            if fault == 0:
                status, body = b"500 Internal Server Error", b""
            elif fault == 1:
                self._transport.abort()
                return
            elif fault == 2:
                body = body[: len(body) // 2]
            else:
                kind, body = b"text/html", b"<!doctype html><p>no picture"
        head = b"HTTP/1.1 %s\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n" % (status, kind, len(body))
        self._transport.write(head + body)


async def serve(hosts: int, faults: bool) -> None:
    """Serve until killed; prints the ports of servers that answer and of those that hang."""
    body = picture()
    loop = asyncio.get_running_loop()
    held: list[Any] = []
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    for number in range(hosts):
        kind = kind_of(number, faults)
        if kind == "hangs":
            listener = socket.socket()
            listener.bind((address(number), port))
            listener.listen(0)
            held.append(listener)
            for _ in range(2):  # the queue is full then, and the kernel drops what comes after
                filler = socket.socket()
                filler.setblocking(False)
                filler.connect_ex((address(number), port))
                held.append(filler)
        elif kind != "refuses":
            held.append(await loop.create_server(lambda kind=kind: Server(kind, body), address(number), port, backlog=64))
    print(port, flush=True)
    await asyncio.Event().wait()


def crawl(home: Path, table: Path) -> dict[str, Any]:
    """Run the crawl stage over a table; what it says of itself."""
    from components.core.stage_output import StageOutput
    from components.execution.engine import LocalEngine
    from components.execution.stage import Stage
    from components.stages.crawl.run import run
    from tests.support.crawl.crawls import fixture_params

    shutil.copy(table, home / "table.tsv")
    params = fixture_params(
        source="table",
        layout="cc3m",
        language="en",
        inputs=["table.tsv"],
        seeds=[],
        hosts=[],
        web="open",
        web_root="",
        contact="http://example.org/robot",
        allow_private=True,
        per_host=2,
        connections=64,
        timeout=20.0,
        retries=2,
        backoff=0.5,
        shard_size=10_000,
    )
    out = home / "data" / "english" / "crawl"
    out.mkdir(parents=True)
    stage = Stage("crawl", "english", params, ROOT, {}, out, LocalEngine(2), state=home / ".hearsight")
    start, used = time.monotonic(), time.process_time()
    run(stage)
    stage.finish()
    seconds = time.monotonic() - start
    rules: dict[str, int] = {}
    for row in StageOutput(out).ledger().to_pylist():
        rules[row["rule"] or "kept"] = rules.get(row["rule"] or "kept", 0) + 1
    return {"seconds": round(seconds, 2), "cpu": round(time.process_time() - used, 2), "rules": dict(sorted(rules.items()))}


def once(hosts: int, urls: int, faults: bool) -> dict[str, Any]:
    """One crawl in a process of its own, with a server in another."""
    words = [sys.executable, "-m", "benchmarks.hosts"]
    told = ["--faults"] if faults else []
    with tempfile.TemporaryDirectory() as scratch:
        server = subprocess.Popen([*words, "serve", str(hosts), *told], stdout=subprocess.PIPE, text=True, cwd=ROOT)
        try:
            assert server.stdout is not None
            port = int(server.stdout.readline())
            table = Path(scratch) / "table.tsv"
            lines = (f"picture {n} of host {h}\thttp://{address(h)}:{port}/{n}.jpg\n" for n in range(urls) for h in range(hosts))
            table.write_text("".join(lines))
            (home := Path(scratch) / "home").mkdir()
            done = subprocess.run(
                [*words, "crawl", str(home), str(table)], stdout=subprocess.PIPE, text=True, cwd=ROOT, check=True
            )
            return dict(json.loads(done.stdout.splitlines()[-1]))
        finally:
            server.kill()
            server.wait()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", nargs="*", help=argparse.SUPPRESS)
    parser.add_argument("--hosts", type=int, default=1000)
    parser.add_argument("--urls", type=int, default=100, help="of each host")
    parser.add_argument("--runs", type=int, default=3, help="of each kind, in turns")
    parser.add_argument("--faults", action="store_true", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.what[:1] == ["serve"]:
        asyncio.run(serve(int(given.what[1]), given.faults))
    elif given.what[:1] == ["crawl"]:
        print(json.dumps(crawl(Path(given.what[1]), Path(given.what[2]))), flush=True)
    else:
        seconds: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(given.runs):
            for faults in (False, True):
                told = once(given.hosts, given.urls, faults)
                print(json.dumps({"faults": faults, **told}), flush=True)
                seconds[faults].append(told["seconds"])
        sound, faulty = (statistics.median(seconds[faults]) for faults in (False, True))
        print(json.dumps({"without faults, s": sound, "with faults, s": faulty, "ratio": round(faulty / sound, 3)}), flush=True)


if __name__ == "__main__":
    main()
