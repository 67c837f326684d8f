"""Whatever is at Prefect's address and is no server that answers us, every command ends in time with one line and exit code 2."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest

from components.core.errors import HearsightError
from components.core.streams import report_errors
from flows import pipeline, serve, server, worker
from flows.server import prefect_server
from tests.support.flows.clones import another_clone, make_origin

pytestmark = pytest.mark.long

ANSWERS = {
    "page": (b"HTTP/1.1 200 OK\r\nContent-Length: 13\r\n\r\n<p>hello</p>\r\n", "is no Prefect server"),
    "text": (b'HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"welcome"', "is no Prefect server"),
    "list": (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n[]", "is no Prefect server"),
    "missing": (b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n", "is no Prefect server (status 404)"),
    "login": (b"HTTP/1.1 401 Unauthorized\r\nContent-Length: 0\r\n\r\n", "asks for a login — set PREFECT_API_AUTH_STRING"),
    "busy": (b"HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n", "is no Prefect server (status 503)"),
    "old": (b'HTTP/1.1 200 OK\r\nContent-Length: 8\r\n\r\n"2.20.3"', "Found incompatible versions"),
    "mail": (b"220 mail.example ESMTP\r\n", "does not answer (RemoteProtocolError)"),
    "silent": (b"", "does not answer (ReadTimeout)"),
    "slow": (b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n", "does not answer (ReadTimeout)"),
}


@pytest.fixture
def at() -> Iterator[Callable[[str], str]]:
    """Serve one of :data:`ANSWERS`, and return its address; ``slow`` goes on with a byte at a time."""
    listener, stopped = socket.create_server(("127.0.0.1", 0)), threading.Event()

    def answer(connection: socket.socket, kind: str) -> None:
        with connection:
            connection.recv(65536)
            connection.sendall(ANSWERS[kind][0])
            while kind in ("silent", "slow") and not stopped.wait(0.1):
                connection.sendall(b" " if kind == "slow" else b"")

    def accept(kind: str) -> None:
        while not stopped.is_set():
            try:
                connection, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=answer, args=(connection, kind), daemon=True).start()

    def serve_kind(kind: str) -> str:
        threading.Thread(target=accept, args=(kind,), daemon=True).start()
        return f"http://someone:sesame@127.0.0.1:{listener.getsockname()[1]}/api"  # pragma: allowlist secret

    yield serve_kind
    stopped.set()
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def refusal(url: str) -> str:
    from prefect.settings import PREFECT_API_URL, temporary_settings

    with temporary_settings({PREFECT_API_URL: url}), pytest.raises(HearsightError) as caught:
        server.require_server()
    return str(caught.value)


@pytest.mark.parametrize("kind", ANSWERS)
def test_what_is_at_prefects_address_is_named_in_one_line_and_in_time(
    kind: str, at: Callable[[str], str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server, "ANSWER", 3.0)
    url, started = at(kind), time.monotonic()
    line = refusal(url)
    assert time.monotonic() - started < 30
    assert ANSWERS[kind][1] in line and "\n" not in line
    assert line.startswith(url.replace("someone:sesame@", "")) and "sesame" not in line, "the login is not printed"


@pytest.mark.parametrize(
    "url, part", [("http://127.0.0.1:1/api", "does not answer (ConnectError)"), ("127.0.0.1:4200/api", "is no Prefect server")]
)
def test_an_address_that_nobody_serves_is_named(url: str, part: str) -> None:
    assert part in refusal(url)


@pytest.mark.usefixtures("prefect_server")
@pytest.mark.parametrize("kind", ["page", "mail", "silent", "slow"])
def test_a_port_that_something_holds_is_named_at_once_whatever_it_answers(
    at: Callable[[str], str], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("PREFECT_API_URL", raising=False)
    port, begin = int(at(kind).removesuffix("/api").rpartition(":")[2]), time.monotonic()
    with pytest.raises(HearsightError, match=f"something already listens at 127.0.0.1:{port} — "), prefect_server(tmp_path, port):
        pass
    assert time.monotonic() - begin < 5


def test_prefects_own_server_is_accepted() -> None:
    server.require_server()


def test_every_command_refuses_in_one_line(
    at: Callable[[str], str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from prefect.settings import PREFECT_API_URL, temporary_settings

    origin, _ = make_origin(tmp_path, {"a": {"cmd": "true", "outs": ["a.out"]}}, {})
    monkeypatch.setenv("HEARSIGHT_ROOT", str(another_clone(origin, "two")))
    monkeypatch.setenv("PREFECT_API_URL", url := at("missing"))
    with temporary_settings({PREFECT_API_URL: url}):
        for main, words in ((pipeline.main, []), (serve.main, []), (worker.main, ["--pool", "gpu"])):
            assert main(words) == 2
            (line,) = capsys.readouterr().err.splitlines()
            assert line.startswith("hearsight: http://127.0.0.1:") and "is no Prefect server (status 404)" in line
        with pytest.raises(HearsightError, match="is no Prefect server"), prefect_server(tmp_path, 0):
            pass


def lost() -> None:
    raise httpx.ConnectError("All connection attempts failed")


def of_a_service() -> None:
    raise ExceptionGroup("unhandled errors in a TaskGroup", [RuntimeError("Service exceeded error threshold.")])


def interrupted() -> None:
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "fault, code, part", [(lost, 2, "ConnectError"), (of_a_service, 2, "Service exceeded"), (interrupted, 130, "")]
)
def test_a_server_that_is_lost_meanwhile_is_one_line(
    fault: Callable[[], None], code: int, part: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert report_errors(fault, server.explain) == code
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("hearsight: ") and part in line


def test_settings_that_prefect_refuses_are_one_line_and_defects_keep_their_traceback(capsys: pytest.CaptureFixture[str]) -> None:
    from prefect.settings.models.root import Settings

    def settings() -> None:
        Settings.model_validate({"api": {"request_timeout": "soon"}})

    assert report_errors(settings, server.explain) == 2
    assert "Prefect cannot use its settings" in capsys.readouterr().err
    with pytest.raises(ZeroDivisionError):
        report_errors(lambda: 1 / 0, server.explain)


def test_a_flow_whose_server_is_gone_ends_with_one_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from flows import flow

    monkeypatch.setattr(flow, "pipeline", lambda **_: lost())
    monkeypatch.setattr(pipeline, "reach_server", lambda _root: None)
    for name in ("dvc.yaml", "params.yaml"):
        (tmp_path / name).touch()
    monkeypatch.setenv("HEARSIGHT_ROOT", str(tmp_path))
    assert pipeline.main([]) == 2
    [line] = [line for line in capsys.readouterr().err.splitlines() if line.startswith("hearsight: ")]
    assert "Prefect's server does not answer (ConnectError)" in line and "start it" in line
