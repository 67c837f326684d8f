"""Clients that send a part of a request, or read nothing, keep nobody out: they are ended after a time, and earlier when many."""

from __future__ import annotations

import resource
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import httpx
import pytest

from components.app import serve
from tests.app.server import OWNER, Running, running, settings_of
from tests.support import until
from tests.support.app.project import new_project

HEAD = b"POST /language HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: text/plain\r\ncontent-length: 9000\r\n\r\n"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    with running(settings_of(new_project(tmp_path_factory.mktemp("slow")))) as app:
        yield app


@contextmanager
def connected(site: Running, sent: bytes = b"") -> Iterator[socket.socket]:
    with socket.create_connection(("127.0.0.1", int(site.url.rpartition(":")[2])), timeout=20) as client:
        client.sendall(sent)
        yield client


def ended(client: socket.socket) -> bool:
    """Whether the server has ended a connection, after at most 20 s."""
    try:
        while client.recv(65536):
            pass
    except ConnectionResetError:
        return True
    except TimeoutError:
        return False
    return True


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HEADER_SECONDS", "BODY_SECONDS", "READ_SECONDS"):
        monkeypatch.setattr(serve, name, {"HEADER_SECONDS": 0.5, "BODY_SECONDS": 0.6, "READ_SECONDS": 0.7}[name])


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("sent", [b"", b"GET / HTTP/1.1\r\nhost: 127.0.", HEAD, HEAD + b"x" * 8999, b"nonsense\r\n\r\n"])
def test_an_unfinished_request_is_ended(site, sent):
    with connected(site, sent) as client:
        assert ended(client)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("sent", [b"GET / HTTP/1.1\r\n", HEAD])
def test_a_byte_now_and_then_prolongs_nothing(site, sent):
    with connected(site, sent) as client:
        begin = time.monotonic()
        try:
            while time.monotonic() < begin + 10:
                client.sendall(b"x")
                time.sleep(0.05)
        except OSError:
            pass
        assert time.monotonic() - begin < 8


@pytest.mark.usefixtures("short")
def test_a_client_that_reads_no_answer_is_ended(site):
    large = Path(site.app.state.settings.root) / "reports" / "large"
    large.mkdir(parents=True)
    (large / "index.html").write_bytes(b"x" * (16 << 20))
    header = f"authorization: {OWNER['authorization']}\r\n"
    with socket.socket() as client:
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        client.connect(("127.0.0.1", int(site.url.rpartition(":")[2])))
        client.sendall(f"GET /files/reports/large/index.html HTTP/1.1\r\nhost: 127.0.0.1\r\n{header}\r\n".encode())
        client.settimeout(20)
        assert client.recv(12) == b"HTTP/1.1 200"
        until(lambda: not _open(site))


def _open(site: Running) -> int:
    """The connections that the server still has."""
    return len(site.app.state.server.server_state.connections)


@pytest.mark.usefixtures("short")
def test_what_the_application_does_itself_is_not_limited_and_a_connection_serves_several_requests(site, monkeypatch):
    def slow(function: Callable[..., object]) -> Callable[..., object]:
        def wait(*words: object) -> object:
            time.sleep(1.2)
            return function(*words)

        return wait

    from components.app.routes import feedback

    monkeypatch.setattr(feedback, "language_of", slow(feedback.language_of))
    with httpx.Client(base_url=site.url, headers=OWNER) as client:
        assert client.get("/feedback").status_code == client.get("/feedback").status_code == 200


def test_hundreds_of_unfinished_requests_keep_no_rater_out(site, monkeypatch):
    monkeypatch.setattr(serve, "MOST", 100)
    parts = (b"", b"GET / HT", HEAD, HEAD + b"x")
    with ExitStack() as stack, httpx.Client(base_url=site.url, headers=OWNER, timeout=20) as rater:
        for number in range(300):
            stack.enter_context(connected(site, parts[number % len(parts)]))
        for _ in range(3):
            assert rater.get("/feedback").status_code == 200
        assert httpx.get(f"{site.url}/feedback", headers=OWNER, timeout=20).status_code == 200
        assert _open(site) <= 101


def test_there_are_fewer_connections_than_the_process_may_open_files(monkeypatch):
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (256, 256))
    assert serve.most_connections() == 128
